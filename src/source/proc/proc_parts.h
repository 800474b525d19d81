/* proc_parts.h - what the files of the /proc watch share: private to them. */
#pragma once

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "source/proc_text.h"
#include "source/proc_watch.h"

/* A thread at its last reading.  `from` is what it had when we came. */
struct proc_thread {
	pid_t pid, tid;
	struct proc_schedstat at, from;
	uint64_t voluntary, involuntary, from_voluntary, from_involuntary;
	bool is_read; /* schedstat */
};

struct proc_process {
	pid_t pid;
	uint64_t started;
	bool alive;
};

/* Sums over the processes that live, and what they were at most. */
struct proc_sums {
	struct proc_io io;
	uint64_t minor_faults, major_faults, rss_bytes;
};

/* How often a thread was found waiting for one lock. */
struct proc_lock {
	uint64_t address;
	uint32_t waits;
};

struct proc_memory {
	double at_s, rss_bytes;
};

/* The machine at one moment; `has` says what could be read. */
struct proc_machine {
	struct proc_pressure cpu, io, memory;
	struct proc_cpu stat;
	struct proc_throttle throttle;
	vec_of(struct proc_disk) disks;
	int cpu_errno, io_errno, memory_errno, stat_errno, throttle_errno, disk_errno;
};

enum {
	PROC_PATH_CAPACITY = 4096,
	PROC_TEXT_MOST = 1 << 20,
	PROC_PROCESSES_MOST = 4096,
	PROC_LOCKS_MOST = 256
};

struct proc_watch {
	struct proc_watch_options options;
	char root[PROC_PATH_CAPACITY / 4], cgroup[PROC_PATH_CAPACITY / 4];
	uint64_t start_ns, due_ns, cost_ns; /* cost: CPU time of all readings */
	uint64_t rollup_due_ns;
	uint32_t readings, memory_readings;
	struct map index; /* tid -> threads */
	vec_of(struct proc_thread) threads;
	vec_of(struct proc_process) processes;
	vec_of(struct proc_memory) memory;
	vec_of(struct proc_lock) locks;
	uint64_t waits[PROC_WAITS]; /* threads found in each, summed over readings */
	struct proc_sums most, from;
	uint64_t pss_most, threads_now, threads_most, cpus;
	uint64_t running_sum, blocked_sum; /* threads in R and D, summed over readings */
	int schedstat_errno, status_errno, wait_errno, io_errno, stat_errno,
		rollup_errno; /* the first */
	struct proc_machine machine;
	struct str text, path;
};

/* A file below the root into watch->text: 0 or a negative errno. */
int proc_file_read(struct proc_watch *watch, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Which control group the program is in, and how long that was held back before it came. */
void proc_cgroup_follow(struct proc_watch *watch);

void proc_machine_read(struct proc_watch *watch, struct proc_machine *machine);
