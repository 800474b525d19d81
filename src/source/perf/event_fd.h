/* event_fd.h - opening a perf event: private to source.  Both give the descriptor or -errno. */
#pragma once

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* `pid` 0: this thread, -1: everybody; `cpu` -1: any; `group` -1: alone.  Fills in attr->size. */
static inline int event_fd_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group)
{
	long fd;

	attr->size = sizeof(*attr);
	fd = syscall(SYS_perf_event_open, attr, pid, cpu, group, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

/* When all events of a task are inherited, the kernel may swap the contexts of parent and child at
 * a context switch instead of switching each event.  The events of a spawner would then be enabled
 * by its child's exec and end with it (seen on 6.18: counts of later children read 0); a parent
 * that waits for a child gets the child's fresh period for its own, again and again, and is never
 * sampled.  One event on the parent that is not inherited makes the contexts differ
 * (docs/decisions/003-counting.md), and nothing is swapped. */
static inline int event_fd_forbid_swap(pid_t pid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return event_fd_open(&attr, pid, -1, -1);
}
