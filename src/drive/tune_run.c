/* tune_run.c - a program on a tuned machine, and a guardian who outlives us.
 *
 * The guardian is a process in a session of its own that reads from a pipe whose other end only we
 * have.  When we end, however that happens, it reads the end of file, and reverts what our session
 * changed.  It has inherited the lock, so nobody else comes in between.  If it is killed too, the
 * journal is still there for `assay tune revert`. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "tune_parts.h"

static _Noreturn void guardian_live(struct tune *tune, int pipe_end)
{
	struct err err = {0};
	sigset_t all;
	char byte;
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, "assay-guardian");
	/* Whoever waits for the end of our output waits for the tool, not for us. */
	for (int fd = 0; nowhere >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(nowhere, fd);
	while (read(pipe_end, &byte, 1) > 0 || errno == EINTR)
		errno = 0;
	_exit(tune_revert(tune, true, &err) < 0);
}

/* Returns our end of the pipe; closing it lets the guardian work and end. */
static int guardian_start(struct tune *tune, pid_t *ret_pid, struct err *err)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_set(
			err, ERR_UNAVAILABLE, errno, "cannot create a pipe: %s", err_words(errno));
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		guardian_live(tune, ends[0]);
	}
	close(ends[0]);
	if (pid < 0) {
		err_set(err, ERR_UNAVAILABLE, errno, "cannot start the guardian process: %s",
			err_words(errno));
		close(ends[1]);
		return -err->code;
	}
	*ret_pid = pid;
	return ends[1];
}

static void execution_wait(struct execution *execution)
{
	struct pollfd ready = {.fd = execution_descriptor(execution), .events = POLLIN};
	sigset_t all, before;

	/* Signals are only taken inside ppoll(), so that none slips in between check and sleep. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	while (ppoll(&ready, 1, NULL, &before) <= 0)
		execution_pass_on_signals(execution);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static int program_run(struct execution *execution, struct err *err)
{
	int r;

	if (interrupt_now(execution->options.interrupted)
			.count) { /* Ctrl-C while the knobs were written */
		execution->stopped = true;
		return 0;
	}
	r = execution_start(execution, err);
	if (r < 0)
		return r;
	execution_wait(execution);
	return execution_finish(execution, err);
}

int tune_run(struct tune *tune, struct execution *execution, void (*applied)(void *context),
	void *context, struct err *err)
{
	struct err second = {0};
	pid_t guardian = 0;
	int guard = guardian_start(tune, &guardian, err), r, reverted;

	if (guard < 0)
		return guard;
	r = tune_apply(tune, err);
	if (r >= 0) {
		applied(context);
		r = program_run(execution, err);
	}
	reverted = tune_revert(tune, true, r < 0 ? &second : err);
	close(guard);
	while (waitpid(guardian, NULL, 0) < 0 && errno == EINTR)
		;
	return r < 0 ? r : reverted;
}
