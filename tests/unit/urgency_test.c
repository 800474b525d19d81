/* urgency_test.c - a reader that works without a pause is not urgent for long. */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "drive/urgency.h"

static int policy_of_child(void)
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(sched_getscheduler(0));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void the_policy_and_the_limits_are_put_back(void **state)
{
	struct rlimit before, after;
	struct sigaction action;
	struct urgency urgency;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_RTTIME, &before), 0);
	urgency_begin(&urgency);
	assert_int_equal(sched_getscheduler(0) & ~SCHED_RESET_ON_FORK,
		urgency.realtime ? SCHED_FIFO : SCHED_OTHER);
	assert_int_equal(policy_of_child(), SCHED_OTHER);
	urgency_end(&urgency);
	assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), urgency.nice);
	assert_int_equal(getrlimit(RLIMIT_RTTIME, &after), 0);
	assert_true(before.rlim_cur == after.rlim_cur && before.rlim_max == after.rlim_max);
	assert_int_equal(sigaction(SIGXCPU, NULL, &action), 0);
	assert_ptr_equal(action.sa_handler, SIG_DFL);
}

/* The kernel counts in ticks; a whole second of CPU time is far more than the limit. */
static void work_without_a_pause_loses_the_policy(void **state)
{
	struct urgency urgency;
	sigset_t before;
	uint64_t began;

	(void)state;
	urgency_begin(&urgency);
	if (!urgency.realtime) {
		urgency_end(&urgency);
		print_message("# skip: SCHED_FIFO is not permitted here\n");
		skip();
	}
	urgency_block_signals(&before);
	began = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	while (clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - began < UINT64_C(1000000000) &&
		sched_getscheduler(0) != SCHED_OTHER)
		;
	sigprocmask(SIG_SETMASK, &before, NULL);
	assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
	urgency_end(&urgency);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), urgency.nice);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_policy_and_the_limits_are_put_back),
		cmocka_unit_test(work_without_a_pause_loses_the_policy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
