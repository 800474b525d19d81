/* proc_watch.h - what /proc tells about a program while it runs: time on CPUs and in the queue for
 * one, switches, reads and writes, memory, pressure.  No privilege is needed for one's own.
 *
 * Does: read the program, its threads and its children about ten times a second; emit the sums as
 * facts.  What a thread had at its last reading is kept when it ends.  Does not: sleep; the caller
 * says when (proc_watch_due_ns), and the watch asks for more time between readings when they cost
 * more than 1 % of it.
 * Numbers that only the end of the program tells (proc_watch_end) close the sums: when less than
 * half of its CPU time was seen in /proc, what was seen is no measurement and says so.
 * Owns: its tables, until proc_watch_close().  Single-threaded. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_watch;
struct wire_sink;

struct proc_watch_options {
	const char *root; /* folder with proc/ and sys/ of a made-up machine; NULL: / */
	pid_t pid;	  /* 0: it starts just now, see proc_watch_follow() */
	bool attached;	  /* it ran before: what it had then does not count */
	uint64_t cpus;	  /* that it may use when it starts; 0: as its threads say */
};

struct proc_watch *proc_watch_open(const struct proc_watch_options *options, uint64_t now_ns);
void proc_watch_close(struct proc_watch *watch);
void proc_watch_close_pointer(struct proc_watch **watch);

/* The program has started. */
void proc_watch_follow(struct proc_watch *watch, pid_t pid);
bool proc_watch_follows(const struct proc_watch *watch);

/* When the next reading is wanted (CLOCK_MONOTONIC). */
uint64_t proc_watch_due_ns(const struct proc_watch *watch);

/* Read everything once. */
void proc_watch_read(struct proc_watch *watch, uint64_t now_ns);

/* What the end told: 0: not known (a process that is only watched). */
struct proc_watch_end {
	uint32_t execution;
	uint64_t now_ns, cpu_ns;
};

/* Emit one fact for each number, known or not, and the quality "observer_cpu_ns". */
int proc_watch_emit(
	struct proc_watch *watch, const struct proc_watch_end *end, const struct wire_sink *sink);
