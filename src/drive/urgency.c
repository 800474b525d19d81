/* urgency.c - see urgency.h.
 *
 * Measured with 500 threads on 2 CPUs: see docs/decisions/004-recording.md. */
#include "drive/urgency.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NICE_URGENT = -20, SLICE_NS = 100000, UNINTERRUPTED_US = 200000, RESET_ON_FORK = 1 };

/* struct sched_attr of the kernel, first version; glibc has it from 2.41 on. */
struct schedule {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/* The thread that is urgent and what it was: a signal's handler has no other way to know. */
static volatile sig_atomic_t reader, reader_nice;

/* Who became real-time by RLIMIT_RTPRIO alone may not take RESET_ON_FORK away again. */
static int schedule_set(pid_t thread, int nice, uint64_t slice_ns)
{
	struct schedule schedule = {
		.size = sizeof(schedule), .policy = SCHED_OTHER, .nice = nice, .runtime = slice_ns};

	if (syscall(SYS_sched_setattr, thread, &schedule, 0) == 0)
		return 0;
	schedule.flags = RESET_ON_FORK;
	return (int)syscall(SYS_sched_setattr, thread, &schedule, 0);
}

static int realtime_set(void)
{
	struct schedule schedule = {.size = sizeof(schedule),
		.policy = SCHED_FIFO,
		.flags = RESET_ON_FORK,
		.priority = 1};

	return (int)syscall(SYS_sched_setattr, 0, &schedule, 0);
}

/* RLIMIT_RTTIME is used up.  Only once: the next SIGXCPU is that of RLIMIT_CPU. */
static void calm_down(int signal)
{
	int code = errno;

	(void)signal;
	(void)schedule_set(reader, reader_nice, SLICE_NS);
	errno = code;
}

/* The limit stands before the policy does. */
static bool realtime_begin(struct urgency *urgency)
{
	struct sigaction action = {.sa_handler = calm_down, .sa_flags = SA_RESTART | SA_RESETHAND};
	struct rlimit limit;

	if (getrlimit(RLIMIT_RTTIME, &urgency->limit) < 0)
		return false;
	limit = urgency->limit;
	if (limit.rlim_cur > UNINTERRUPTED_US)
		limit.rlim_cur = UNINTERRUPTED_US;
	reader = gettid();
	reader_nice = urgency->nice;
	if (sigaction(SIGXCPU, &action, &urgency->action) < 0)
		return false;
	if (setrlimit(RLIMIT_RTTIME, &limit) == 0 && realtime_set() == 0)
		return true;
	(void)setrlimit(RLIMIT_RTTIME, &urgency->limit);
	(void)sigaction(SIGXCPU, &urgency->action, NULL);
	return false;
}

void urgency_begin(struct urgency *ret_urgency)
{
	*ret_urgency = (struct urgency){.nice = getpriority(PRIO_PROCESS, 0)};

	/* Whoever started us under another policy had a reason. */
	if (sched_getscheduler(0) != SCHED_OTHER)
		return;
	ret_urgency->realtime = realtime_begin(ret_urgency);
	ret_urgency->changed = ret_urgency->realtime ||
			       schedule_set(0, NICE_URGENT, SLICE_NS) == 0 ||
			       schedule_set(0, ret_urgency->nice, SLICE_NS) == 0;
}

void urgency_block_signals(sigset_t *ret_before)
{
	sigset_t all;

	sigfillset(&all);
	sigdelset(&all, SIGXCPU);
	sigprocmask(SIG_BLOCK, &all, ret_before);
}

void urgency_end(const struct urgency *urgency)
{
	if (urgency->changed)
		(void)schedule_set(0, urgency->nice, 0);
	if (!urgency->realtime)
		return;
	(void)setrlimit(RLIMIT_RTTIME, &urgency->limit);
	(void)sigaction(SIGXCPU, &urgency->action, NULL);
}
