/* tune_noise.h - who else uses the processors at this moment.
 *
 * Does: read /proc/stat and every /proc/PID/stat twice, a quarter of a second apart.  Does not:
 * judge, or stop anybody.  Owns nothing.  Threads: any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { TUNE_BUSY = 3, TASK_NAME_SIZE = 64 };

/* One line of /proc/PID/stat. */
struct task_line {
	char name[TASK_NAME_SIZE]; /* printable ASCII: a program chooses its own name */
	uint64_t ticks;		   /* of processor time, user and system */
};

/* False when it is none. */
bool task_line_parse(const char *text, struct task_line *ret_line);

struct tune_busy {
	uint32_t pid;
	char name[TASK_NAME_SIZE];
	double cpus; /* processors that it used, 1.0 is one */
};

struct tune_noise {
	struct tune_busy busy[TUNE_BUSY]; /* busiest first, ours left out */
	unsigned busy_count;
	uint32_t irqbalance; /* its process id, 0: it does not run */
	double seconds;	     /* looked at */
	double steal_share;  /* of the time of all processors; negative: not told */
	double used_share;   /* by anybody; negative: not told */
};

/* `root` as in struct tune_options. */
int tune_noise_look(const char *root, struct tune_noise *ret_noise, struct err *err);
