/* helper.c - see helper.h.
 *
 * Output goes straight into a descriptor of the caller's: no pipe to drain, and a daemon that a
 * build leaves behind cannot keep us waiting for its end of one. */
#include "base/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"

enum { NS_PER_S = 1000000000 };
#define ASK_NS UINT64_C(2000000000) /* far beyond what --version needs */

static int stream_put(int fd, int to)
{
	if (fd < 0)
		fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	return dup2(fd, to);
}

/* The words are the caller's and stay: nothing of them is freed before exec. */
static void environment_change(const struct helper_options *o)
{
	for (const char *const *name = o->without; name && *name; name++)
		unsetenv(*name);
	for (const char *const *setting = o->settings; setting && *setting; setting++)
		if (putenv((char *)(uintptr_t)*setting))
			_exit(HELPER_NOT_STARTED);
}

static _Noreturn void helper_live(const struct helper_options *o, pid_t parent)
{
	int in = open(o->input_path ? o->input_path : "/dev/null", O_RDONLY | O_CLOEXEC);

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, o->death_signal ? o->death_signal : SIGTERM);
	if (getppid() != parent) /* killed before the line above could matter */
		_exit(HELPER_NOT_STARTED);
	environment_change(o);
	if (in < 0 || dup2(in, STDIN_FILENO) < 0 || stream_put(o->output_fd, STDOUT_FILENO) < 0 ||
		stream_put(o->error_fd, STDERR_FILENO) < 0 || (o->folder && chdir(o->folder) < 0))
		_exit(HELPER_NOT_STARTED);
	/* exec changes nothing of the words; its prototype is older than const. */
	if (o->path)
		execv(o->path, (char *const *)(uintptr_t)o->argv);
	else
		execvp(o->argv[0], (char *const *)(uintptr_t)o->argv);
	_exit(HELPER_NOT_STARTED);
}

int helper_start(const struct helper_options *options, struct helper *ret_helper, struct err *err)
{
	pid_t parent = getpid(), pid = fork();
	int watched = -1, code;

	if (pid == 0)
		helper_live(options, parent);
	if (pid > 0) {
		setpgid(pid, pid); /* here too: a signal may come before the child got so far */
		watched = (int)syscall(SYS_pidfd_open, pid, 0);
	}
	if (watched >= 0) {
		*ret_helper = (struct helper){pid, watched};
		return 0;
	}
	code = errno;
	if (pid > 0) {
		kill(-pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return err_set(err, ERR_UNAVAILABLE, code, "cannot start %s: %s", options->argv[0],
		err_words(code));
}

int helper_end(struct helper *helper)
{
	int status = 0;

	io_close_pointer(&helper->watched);
	while (waitpid(helper->pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? HELPER_KILLED + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Sleep until it has ended; 0, -EINTR or -ETIME when it was stopped before. */
static int wait_for_end(const struct helper_options *o, const struct helper *helper)
{
	struct pollfd ready = {.fd = helper->watched, .events = POLLIN};
	unsigned seen = o->interrupted ? o->interrupted().count : 0, told = 0;
	uint64_t end_ns = clock_monotonic_ns() + o->limit_ns;
	sigset_t all, before;
	int stopped = 0;

	/* Signals are only taken inside ppoll(), so that none slips in between check and sleep. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	for (;;) {
		uint64_t now = clock_monotonic_ns(), left = end_ns > now ? end_ns - now : 0;
		struct timespec timeout = {(time_t)(left / NS_PER_S), (long)(left % NS_PER_S)};
		int got = ppoll(&ready, 1, o->limit_ns ? &timeout : NULL, &before);
		unsigned count = o->interrupted ? o->interrupted().count - seen : 0;

		if (got > 0)
			break;
		if (count > told) {
			kill(-helper->pid, count > 1 ? SIGKILL : SIGTERM);
			told = count;
			stopped = -EINTR;
		}
		if (got == 0) {
			kill(-helper->pid, SIGKILL);
			stopped = -ETIME;
			end_ns = now + NS_PER_S;
		}
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return o->interrupted && o->interrupted().count > seen ? -EINTR : stopped;
}

int helper_run(const struct helper_options *options, struct err *err)
{
	struct helper helper = {.watched = -1};
	int r = helper_start(options, &helper, err), status;

	if (r < 0)
		return r;
	r = wait_for_end(options, &helper);
	status = helper_end(&helper);
	if (r == -EINTR)
		return err_set(err, ERR_TARGET, EINTR, "%s was interrupted", options->argv[0]);
	if (r == -ETIME)
		return err_set(
			err, ERR_TARGET, ETIME, "%s reached the time limit", options->argv[0]);
	return status;
}

int helper_ask(
	const char *const *argv, const char *const *settings, char *ret_output, size_t capacity)
{
	io_auto int output = memfd_create("output", MFD_CLOEXEC);
	const struct helper_options options = {
		.argv = argv,
		.settings = settings,
		.output_fd = output,
		.error_fd = -1,
		.limit_ns = ASK_NS,
	};
	struct err ignored;
	int r = helper_run(&options, &ignored);
	ssize_t got = output < 0 ? 0 : pread(output, ret_output, capacity - 1, 0);

	ret_output[got > 0 ? got : 0] = '\0';
	return r;
}
