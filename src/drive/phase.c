/* phase.c - see phase.h.
 *
 * Waiting costs nothing while the target is measured: without a progress line to show, one ppoll()
 * sleeps until the child ends, a signal comes or the limit is reached. */
#include "drive/phase.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"

#define NS_PER_S 1000000000ULL
#define TICK_NS 250000000ULL
#define AGAIN_NS (2 * NS_PER_S) /* between SIGTERM and the second one, which kills the target */
#define KILL_NS (20 * NS_PER_S) /* it names and stores what it has meanwhile: seconds, if much */
#define NAP_NS 100000000L

struct waiting {
	const struct phase_options *options;
	struct phase_result *result;
	pid_t pid;
	uint64_t start_ns, next_ns; /* next_ns: of the next step of stopping; UINT64_MAX: none */
	unsigned step, seen;	    /* of stopping; signals of the user so far */
};

static int stream_put(const char *path, int flags, int to)
{
	int fd = open(path ? path : "/dev/null", flags | O_CLOEXEC, 0666);

	return fd < 0 ? -1 : dup2(fd, to);
}

static _Noreturn void phase_live(const struct phase_options *o, pid_t parent)
{
	enum { NEW = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, NOT_STARTED = 127 };

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* killed before the line above could matter */
		_exit(NOT_STARTED);
	/* The words are the caller's and stay: nothing of them is freed before exec. */
	if (o->setting && putenv((char *)(uintptr_t)o->setting))
		_exit(NOT_STARTED);
	if (stream_put(o->input_path, O_RDONLY, STDIN_FILENO) >= 0 &&
		stream_put(o->output_path, NEW, STDOUT_FILENO) >= 0 &&
		stream_put(o->error_path, NEW, STDERR_FILENO) >= 0)
		execv(o->path, (char *const *)(uintptr_t)o->argv);
	_exit(NOT_STARTED);
}

/* The next step towards its end. */
static void stop_further(struct waiting *w, uint64_t now)
{
	w->step++;
	if (w->step <= 2) {
		kill(w->pid, SIGTERM);
		w->next_ns = now + (w->step == 1 ? AGAIN_NS : KILL_NS);
		return;
	}
	kill(-w->pid, SIGKILL);
	w->result->killed = true;
	w->next_ns = UINT64_MAX;
}

/* The user's first signal goes on as it is, so that the target may end in its own way. */
static void pass_on(struct waiting *w, uint64_t now)
{
	struct interrupt told = w->options->interrupted();

	if (told.count == w->seen)
		return;
	w->seen = told.count;
	w->result->interrupted = true;
	if (w->step) {
		stop_further(w, now);
		return;
	}
	w->step = 1;
	kill(w->pid, told.signal);
	w->next_ns = UINT64_MAX; /* its own time, or the next Ctrl-C */
}

static void wait_for_end(struct waiting *w, int watched)
{
	const struct phase_options *o = w->options;
	struct pollfd ready = {.fd = watched, .events = POLLIN};
	sigset_t all, before;

	/* Signals are only taken inside ppoll(), so that none slips in between check and sleep. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	for (;;) {
		uint64_t now = clock_monotonic_ns();
		uint64_t left = w->next_ns == UINT64_MAX ? UINT64_MAX
				: w->next_ns > now	 ? w->next_ns - now
							 : 0;
		uint64_t sleep = o->progress && left > TICK_NS ? TICK_NS : left;
		struct timespec timeout = {(time_t)(sleep / NS_PER_S), (long)(sleep % NS_PER_S)};

		if (ppoll(&ready, 1, sleep == UINT64_MAX ? NULL : &timeout, &before) > 0)
			break;
		now = clock_monotonic_ns();
		pass_on(w, now);
		if (now >= w->next_ns) {
			w->result->limited |= !w->result->interrupted;
			stop_further(w, now);
		}
		if (o->progress)
			o->progress(o->context, now - w->start_ns);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	pass_on(w, clock_monotonic_ns()); /* a signal that came together with its end */
}

/* What the target of a stopped phase has left in the group.  The child is not reaped yet, so that
 * the number of the group is still its own. */
static void leftovers_end(pid_t pid)
{
	kill(-pid, SIGTERM);
	nanosleep(&(struct timespec){0, NAP_NS}, NULL);
	kill(-pid, SIGKILL);
}

int phase_run(const struct phase_options *options, struct phase_result *ret_result, struct err *err)
{
	struct waiting w = {.options = options, .result = ret_result};
	io_auto int watched = -1;
	pid_t parent = getpid();
	int status = 0;

	*ret_result = (struct phase_result){0};
	w.seen = options->interrupted().count;
	w.start_ns = clock_monotonic_ns();
	w.next_ns = options->limit_ns ? w.start_ns + options->limit_ns : UINT64_MAX;
	w.pid = fork();
	if (w.pid == 0)
		phase_live(options, parent);
	if (w.pid > 0) {
		setpgid(w.pid, w.pid); /* here too: a signal may come before the child got so far */
		watched = (int)syscall(SYS_pidfd_open, w.pid, 0);
	}
	if (w.pid < 0 || watched < 0) {
		int r = err_set(err, ERR_UNAVAILABLE, errno, "cannot start %s: %s", options->path,
			err_words(errno));

		if (w.pid > 0) {
			kill(-w.pid, SIGKILL);
			waitpid(w.pid, NULL, 0);
		}
		return r;
	}
	wait_for_end(&w, watched);
	ret_result->wall_ns = clock_monotonic_ns() - w.start_ns;
	if (w.step)
		leftovers_end(w.pid);
	while (waitpid(w.pid, &status, 0) < 0 && errno == EINTR)
		;
	ret_result->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return 0;
}
