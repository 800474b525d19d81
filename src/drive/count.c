/* count.c - see count.h.
 *
 * The order matters: spawner first (small), counters on it (disabled until exec), then one request
 * per execution.  While the target runs the tool sleeps in ppoll(), so that it costs the target
 * nothing; it wakes for an interval, a signal or the end. */
#include "drive/count.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "drive/spawner.h"
#include "source/emit.h"

struct counting {
	const struct count_options *options;
	struct event_list *events;
	const struct wire_sink *sink;
	struct counters *counters;
	struct spawner *spawner; /* NULL: only watching */
	int watched;		 /* pidfd of a watched process, -1: none */
	uint32_t execution;
	uint64_t start_ns;
	unsigned signals_seen;
	bool stopped; /* by the user */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* First signal: the target gets it too, unless the terminal has sent it there already; we wait for
 * it to end in its own way.  Second: it is killed.  A watched process is left alone. */
static void pass_on_signals(struct counting *c)
{
	struct interrupt now = c->options->interrupted();

	if (now.count == c->signals_seen)
		return;
	c->stopped = true;
	if (c->spawner && now.count > 1)
		spawner_signal(c->spawner, SIGKILL);
	else if (c->spawner && !now.from_terminal)
		spawner_signal(c->spawner, now.signal);
	c->signals_seen = now.count;
}

static int emit_interval(struct counting *c, uint64_t at_ns, struct err *err)
{
	int r = counters_read(c->counters, err);

	if (r >= 0)
		r = counters_emit(c->counters, c->execution, at_ns, c->sink);
	if (r >= 0 && c->options->each)
		r = c->options->each(c->options->context, c->execution, at_ns, err);
	return r;
}

/* Sleep until the target or the watched process ends, the user stops a watch, or it failed. */
static int wait_for_end(struct counting *c, struct err *err)
{
	int fd = c->spawner ? spawner_descriptor(c->spawner) : c->watched;
	uint64_t step_ns = c->options->interval_ns, next_ns = c->start_ns + step_ns;
	sigset_t all, before;
	int r = 0;

	/* Signals are only taken inside ppoll(), so that none slips in between check and sleep. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	while (r == 0) {
		struct pollfd ready = {.fd = fd, .events = POLLIN};
		uint64_t now = now_ns(), left = next_ns > now ? next_ns - now : 0;
		struct timespec timeout = {(time_t)(left / 1000000000), (long)(left % 1000000000)};
		int got = ppoll(&ready, fd >= 0, step_ns ? &timeout : NULL, &before);

		if (got > 0)
			break;
		if (got < 0)
			pass_on_signals(c);
		if (c->stopped && !c->spawner)
			break;
		if (got == 0) {
			r = emit_interval(c, next_ns - c->start_ns, err);
			next_ns += step_ns;
		}
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return r;
}

/* While somebody else is watched, a program of ours is only the clock: its usage says nothing. */
static int emit_execution(struct counting *c, const struct spawner_result *result)
{
	struct wire_execution e = {
		.head = {WIRE_EXECUTION, sizeof(e)},
		.execution = c->execution,
		.start_ns = c->start_ns,
		.wall_ns = now_ns() - c->start_ns,
		.flags = WIRE_EXECUTION_NO_USAGE,
	};

	if (result && c->options->mode == COUNTERS_CHILDREN) {
		e.flags = result->leftovers ? WIRE_EXECUTION_LEFTOVERS : 0;
		e.start_ns = result->start_ns;
		e.wall_ns = result->wall_ns;
		e.user_ns = result->user_ns;
		e.system_ns = result->system_ns;
		e.max_rss_bytes = result->max_rss_bytes;
		e.rss_floor_bytes = result->rss_floor_bytes;
		e.minor_faults = result->minor_faults;
		e.major_faults = result->major_faults;
		e.voluntary_switches = result->voluntary_switches;
		e.involuntary_switches = result->involuntary_switches;
	}
	/* Stopping a watch is how it ends; only a program can be cut short. */
	if (result) {
		e.exit_status = result->exit_status;
		e.signal = result->signal;
	}
	if (c->stopped && result)
		e.flags |= WIRE_EXECUTION_INTERRUPTED;
	return c->sink->take(c->sink->context, &e.head);
}

static int spawn_failed(const struct counting *c, int code, struct err *err)
{
	const char *path = c->options->path;

	err_set(err, ERR_TARGET, code, "cannot run %s: %s", path,
		code == ENOEXEC ? "it is neither a program for this machine nor a script with a "
				  "#! line"
				: err_words(code));
	if (code == ENOEXEC)
		err_hint(err, "for a script write `-- sh %s`", path);
	else if (code == E2BIG)
		err_hint(err, "its arguments and environment are too long");
	else if (code == ENOENT)
		err_hint(err, "its interpreter or loader is missing: `file %s` names it", path);
	else
		err_hint(err, "check the file with `ls -l %s`", path);
	return -code;
}

static int execute_once(struct counting *c, struct err *err)
{
	struct spawner_result result = {0};
	int r = 0;

	c->start_ns = now_ns();
	if (c->spawner)
		r = spawner_start(c->spawner, err);
	if (r >= 0)
		r = wait_for_end(c, err);
	if (r >= 0 && c->spawner)
		r = spawner_result(c->spawner, &result, err);
	if (r < 0)
		return r;
	if (c->spawner && result.spawn_errno)
		return spawn_failed(c, result.spawn_errno, err);
	r = counters_read(c->counters, err);
	if (r >= 0 && c->options->interval_ns)
		r = counters_emit(c->counters, c->execution, now_ns() - c->start_ns, c->sink);
	if (r >= 0)
		r = emit_execution(c, c->spawner ? &result : NULL);
	if (r >= 0)
		r = counters_emit(c->counters, c->execution, 0, c->sink);
	if (r >= 0 && c->options->each)
		r = c->options->each(c->options->context, c->execution, 0, err);
	if (r >= 0 && c->spawner && result.leftovers)
		r = 1;
	return r;
}

static int counting_open(struct counting *c, struct err *err)
{
	const struct count_options *o = c->options;
	pid_t id = o->mode == COUNTERS_CHILDREN ? spawner_id(c->spawner) : o->id;

	return counters_open(c->events, o->mode, id, &c->counters, err);
}

/* All executions.  Events inherited by processes that a target left behind would go on counting
 * into the next execution, so after such a one the counters are opened anew. */
static int counting_run(struct counting *c, struct err *err)
{
	uint32_t repeat = c->options->repeat ? c->options->repeat : 1;
	int r = counters_emit_events(c->counters, false, c->sink);

	if (r >= 0 && c->options->mode != COUNTERS_CHILDREN)
		r = counters_start(c->counters, err);
	for (c->execution = 1; r >= 0 && c->execution <= repeat && !c->stopped; c->execution++) {
		r = execute_once(c, err);
		if (r > 0 && c->execution < repeat && c->options->mode == COUNTERS_CHILDREN) {
			counters_close_pointer(&c->counters);
			r = counting_open(c, err);
		}
	}
	if (r >= 0)
		r = counters_emit_events(c->counters, true, c->sink);
	return r < 0 ? r : c->stopped;
}

static int watch_open(struct counting *c, struct err *err)
{
	const struct count_options *o = c->options;

	if (o->mode != COUNTERS_PROCESS && o->mode != COUNTERS_THREAD)
		return 0;
	c->watched = (int)syscall(SYS_pidfd_open, o->id, 0);
	if (c->watched >= 0 || errno != ESRCH)
		return 0; /* a thread has no pidfd before 6.9: then only Ctrl-C or a program ends it
			   */
	err_set(err, ERR_TARGET, ESRCH, "there is no process %d", (int)o->id);
	err_hint(err, "`ps -e` lists the processes that run");
	return -ESRCH;
}

int count_target(const struct count_options *options, struct event_list *events,
	const struct wire_sink *sink, struct err *err)
{
	struct counting c = {.options = options, .events = events, .sink = sink, .watched = -1};
	struct spawner_options spawn = {
		.path = options->path,
		.argv = options->argv,
		.stdout_to_stderr = options->stdout_to_stderr,
	};
	int r = options->path ? spawner_open(&spawn, &c.spawner, err) : 0;

	if (r >= 0)
		r = watch_open(&c, err);
	if (r >= 0)
		r = counting_open(&c, err);
	if (r >= 0)
		r = counting_run(&c, err);
	counters_close(c.counters);
	spawner_close(c.spawner);
	io_close_pointer(&c.watched);
	return r;
}
