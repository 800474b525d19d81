/* machine_watch.h - what happened to the whole machine during a run: private to the spawner.
 *
 * Steal (time the host took from our CPUs, /proc/stat, in ticks of 10 ms) and CPU pressure (time
 * during which some task waited for a CPU, /proc/pressure/cpu, in us), and whether the control
 * group used up its CPU quota.  What the kernel does not tell is left out of the result. */
#pragma once

struct machine_watch;
struct spawner_result;

/* Never NULL; lives as long as the process.  `throttle_path`: a cpu.stat, NULL: no quota. */
struct machine_watch *machine_watch_open(const char *throttle_path);

void machine_watch_begin(struct machine_watch *watch);
void machine_watch_end(struct machine_watch *watch, struct spawner_result *result);
