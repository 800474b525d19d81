/* urgency.h - a reader that must not come late: on the CPU as soon as it was woken.
 *
 * A ring holds 50 ms of samples at least.  Where hundreds of threads want each CPU, a process like
 * any other waits longer than that for its turn.  Changes the calling thread, and RLIMIT_RTTIME and
 * SIGXCPU of the process; the target's spawner must have been forked before. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>

struct urgency {
	int nice;
	bool changed;
	bool realtime;
	struct rlimit limit; /* valid if realtime, as is the next */
	struct sigaction action;
};

/* Ask for a real-time policy, else a high weight (root, CAP_SYS_NICE, ulimit -r
 * and -e), else short slices (Linux 6.12, everyone may).  What is not permitted is left as it was.
 * Whoever then works for 0.2 s without a pause loses the policy, so that a mistake of ours cannot
 * take a CPU from the machine.
 */
void urgency_begin(struct urgency *ret_urgency);

/* Everything but what takes the policy away: for a loop that must not be interrupted. */
void urgency_block_signals(sigset_t *ret_before);

/* Be like everybody else again. */
void urgency_end(const struct urgency *urgency);
