/* urgency.h - a reader that must not come late: on the CPU soon after it was woken.
 *
 * A ring holds 50 ms of samples at least.  Where hundreds of threads want each CPU, a process like
 * any other waits longer than that for its turn.  Changes only the calling thread; the target's
 * spawner must have been forked before. */
#pragma once

#include <stdbool.h>

struct urgency {
	int nice;
	bool changed;
};

/* Ask for short slices (Linux 6.12, everyone may) and for a high weight (root, CAP_SYS_NICE).  What
 * is not permitted is left as it was. */
struct urgency urgency_begin(void);

/* Be like everybody else again. */
void urgency_end(const struct urgency *urgency);
