/* urgency.c - see urgency.h.
 *
 * Measured with 500 threads that spin on 2 CPUs, 4999 Hz, 60 KiB of stack per sample: see
 * docs/decisions/004-recording.md.  Not SCHED_FIFO: a mistake of ours would then stop the machine.
 */
#include "drive/urgency.h"

#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NICE_URGENT = -20, SLICE_NS = 100000 };

/* struct sched_attr of the kernel, first version; glibc has it from 2.41 on. */
struct schedule {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

static int schedule_set(int nice, uint64_t slice_ns)
{
	struct schedule schedule = {
		.size = sizeof(schedule), .policy = SCHED_OTHER, .nice = nice, .runtime = slice_ns};

	return (int)syscall(SYS_sched_setattr, 0, &schedule, 0);
}

struct urgency urgency_begin(void)
{
	struct urgency urgency = {.nice = getpriority(PRIO_PROCESS, 0)};

	/* Whoever started us under another policy had a reason. */
	if (sched_getscheduler(0) != SCHED_OTHER)
		return urgency;
	urgency.changed = schedule_set(NICE_URGENT, SLICE_NS) == 0 ||
			  schedule_set(urgency.nice, SLICE_NS) == 0;
	return urgency;
}

void urgency_end(const struct urgency *urgency)
{
	if (urgency->changed)
		(void)schedule_set(urgency->nice, 0);
}
