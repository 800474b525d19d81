/* proc_text.h - the small files of /proc that tell how a program runs, as numbers.
 *
 * Does: read one text each.  Does not: open files (proc_watch.h does).  A line or word that is not
 * there leaves its number unknown; a text that is none of its kind is refused.  The texts are the
 * kernel's, but a container can put anything in their place, so nothing here trusts them.
 * Owns nothing. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* /proc/PID/task/TID/schedstat: "ON_CPU_NS RUN_QUEUE_NS SLICES". */
struct proc_schedstat {
	uint64_t on_cpu_ns, runq_ns, slices;
};
bool proc_schedstat_parse(const char *text, struct proc_schedstat *ret_stat);

/* /proc/PID/task/TID/status; UINT64_MAX: not told. */
struct proc_status {
	char state; /* 'R', 'S', 'D'..., 0: not told */
	uint64_t voluntary, involuntary, rss_bytes, threads, cpus_allowed;
};
bool proc_status_parse(const char *text, struct proc_status *ret_status);

/* /proc/PID/task/TID/syscall: what a thread that does not run waits in. */
enum proc_wait {
	PROC_WAIT_NONE,	 /* it runs, or waits in no system call */
	PROC_WAIT_LOCK,	 /* a futex as glibc's mutexes use it: FUTEX_WAIT for the value 2 */
	PROC_WAIT_FUTEX, /* another futex: condition variables, semaphores, joins */
	PROC_WAIT_SYNC,
	PROC_WAIT_NETWORK,  /* sockets, poll and epoll */
	PROC_WAIT_TRANSFER, /* read and write, of whatever */
	PROC_WAIT_SLEEP,
	PROC_WAIT_OTHER,
	PROC_WAITS,
};
bool proc_wait_parse(const char *text, enum proc_wait *ret_wait, uint64_t *ret_address);

/* /proc/PID/stat: of the whole process, and of its children that have ended. */
struct proc_stat {
	uint64_t minor_faults, major_faults, started; /* started: in ticks, tells pids apart */
};
bool proc_stat_parse(const char *text, struct proc_stat *ret_stat);

/* /proc/PID/io: of the whole process, and of its children that have ended. */
struct proc_io {
	uint64_t read_chars, write_chars, read_calls, write_calls, read_bytes, write_bytes;
};
bool proc_io_parse(const char *text, struct proc_io *ret_io);

/* /proc/PID/smaps_rollup. */
struct proc_rollup {
	uint64_t rss_bytes, pss_bytes;
};
bool proc_rollup_parse(const char *text, struct proc_rollup *ret_rollup);

/* /proc/pressure/{cpu,io,memory}; full_us UINT64_MAX: not told. */
struct proc_pressure {
	uint64_t some_us, full_us;
};
bool proc_pressure_parse(const char *text, struct proc_pressure *ret_pressure);

/* The first line of /proc/stat, in ticks. */
struct proc_cpu {
	uint64_t iowait, steal;
	uint64_t busy; /* with work of any program or the kernel */
};
bool proc_cpu_parse(const char *text, struct proc_cpu *ret_cpu);

/* cpu.stat of a control group (both versions). */
struct proc_throttle {
	uint64_t periods, throttled_ns;
};
bool proc_throttle_parse(const char *text, struct proc_throttle *ret_throttle);

/* One line of /proc/diskstats; *text goes on behind it.  False: no more lines. */
struct proc_disk {
	char name[32];
	uint64_t busy_ms, waited_ms; /* waited: of all requests together */
};
bool proc_disk_next(const char **text, struct proc_disk *ret_disk);

/* "0-3,8" as in Cpus_allowed_list: how many.  0: it is no list. */
uint64_t proc_list_count(const char *text);
