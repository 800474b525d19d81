/* phase.c - see phase.h.
 *
 * Waiting costs nothing while the target is measured: without a progress line to show, one ppoll()
 * sleeps until the child ends, a signal comes or the limit is reached. */
#include "drive/phase.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/helper.h"
#include "base/io.h"

#define NS_PER_S 1000000000ULL
#define TICK_NS 250000000ULL
#define WATCH_NS 50000000ULL
#define AGAIN_NS (2 * NS_PER_S) /* between SIGTERM and the second one, which kills the target */
#define KILL_NS (20 * NS_PER_S) /* it names and stores what it has meanwhile: seconds, if much */
#define NAP_NS 100000000L

struct waiting {
	const struct phase_options *options;
	struct phase_result *result;
	struct helper child;
	uint64_t start_ns, next_ns; /* next_ns: of the next step of stopping; UINT64_MAX: none */
	unsigned step, seen;	    /* of stopping; signals of the user so far */
};

/* The next step towards its end. */
static void stop_further(struct waiting *w, uint64_t now)
{
	w->step++;
	if (w->step <= 2) {
		kill(w->child.pid, SIGTERM);
		w->next_ns = now + (w->step == 1 ? AGAIN_NS : KILL_NS);
		return;
	}
	kill(-w->child.pid, SIGKILL);
	w->result->killed = true;
	w->next_ns = UINT64_MAX;
}

/* The user's first signal goes on as it is, so that the target may end in its own way. */
static void pass_on(struct waiting *w, uint64_t now)
{
	struct interrupt told = interrupt_now(w->options->interrupted);

	if (told.count == w->seen)
		return;
	w->seen = told.count;
	w->result->interrupted = true;
	if (w->step) {
		stop_further(w, now);
		return;
	}
	w->step = 1;
	kill(w->child.pid, told.signal);
	w->next_ns = UINT64_MAX; /* its own time, or the next Ctrl-C */
}

static void wait_for_end(struct waiting *w)
{
	const struct phase_options *o = w->options;
	struct pollfd ready = {.fd = w->child.watched, .events = POLLIN};
	sigset_t all, before;

	/* Signals are only taken inside ppoll(), so that none slips in between check and sleep. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	for (;;) {
		uint64_t now = clock_monotonic_ns();
		uint64_t left = w->next_ns == UINT64_MAX ? UINT64_MAX
				: w->next_ns > now	 ? w->next_ns - now
							 : 0;
		uint64_t tick = o->watch ? WATCH_NS : o->progress ? TICK_NS : UINT64_MAX;
		uint64_t sleep = left > tick ? tick : left;
		struct timespec timeout = {(time_t)(sleep / NS_PER_S), (long)(sleep % NS_PER_S)};

		if (ppoll(&ready, 1, sleep == UINT64_MAX ? NULL : &timeout, &before) > 0)
			break;
		now = clock_monotonic_ns();
		pass_on(w, now);
		if (now >= w->next_ns) {
			w->result->limited |= !w->result->interrupted;
			stop_further(w, now);
		}
		if (o->watch)
			o->watch(o->context, w->child.pid);
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

static int file_new(const char *path, struct err *err)
{
	io_place_auto struct io_place place = {.folder = -1};
	int fd;

	if (!path || io_place_open(&place, path, err) < 0)
		return -1;
	fd = io_place_open_file(&place, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, IO_PRIVATE, err);
	if (fd < 0)
		return -1;
	(void)fcntl(fd, F_SETFL, O_APPEND); /* the child must not find it without waiting */
	return fd;
}

/* What the child has written there, if anything. */
static void failure_read(int fd, struct err *ret_failure)
{
	char text[sizeof(ret_failure->text) + sizeof(ret_failure->hint) + 1];
	ssize_t got = fd < 0 ? 0 : pread(fd, text, sizeof(text) - 1, 0);
	char *hint;

	if (got <= 0)
		return;
	text[got] = '\0';
	hint = text + strcspn(text, "\n");
	if (*hint)
		*hint++ = '\0';
	err_set(ret_failure, ERR_TARGET, ECANCELED, "%s", text);
	err_hint(ret_failure, "%.*s", (int)strcspn(hint, "\n"), hint);
}

int phase_run(const struct phase_options *options, struct phase_result *ret_result, struct err *err)
{
	struct waiting w = {.options = options, .result = ret_result};
	struct err why = {0};
	io_auto int output = file_new(options->output_path, &why);
	io_auto int error = file_new(options->error_path, &why);
	io_auto int failure = memfd_create("assay-failure", 0); /* inherited */
	char setting[sizeof(PHASE_FAILURE) + 16];
	int r;

	*ret_result = (struct phase_result){0};
	if (why.code) {
		*err = why;
		return -why.code;
	}
	w.seen = interrupt_now(options->interrupted).count;
	w.start_ns = clock_monotonic_ns();
	w.next_ns = options->limit_ns ? w.start_ns + options->limit_ns : UINT64_MAX;
	snprintf(setting, sizeof(setting), PHASE_FAILURE "=%d", failure);
	r = helper_start(
		&(struct helper_options){
			.argv = options->argv,
			.path = options->path,
			.settings = (const char *const[]){setting, options->setting, NULL},
			.input_path = options->input_path,
			.output_fd = output,
			.error_fd = error,
			.death_signal = SIGKILL,
		},
		&w.child, err);
	if (r < 0)
		return r;
	wait_for_end(&w);
	ret_result->wall_ns = clock_monotonic_ns() - w.start_ns;
	if (w.step)
		leftovers_end(w.child.pid);
	ret_result->status = helper_end(&w.child);
	failure_read(failure, &ret_result->failure);
	return 0;
}
