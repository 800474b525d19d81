/* count.c - see count.h.
 *
 * The order matters: spawner first (small), counters on it (disabled until exec), then one request
 * per execution.  While the target runs the tool sleeps in ppoll(), so that it costs the target
 * nothing; it wakes for an interval, a signal or the end. */
#include "drive/count.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include "base/clock.h"
#include "drive/execution.h"
#include "source/proc_watch.h"

struct counting {
	const struct count_options *options;
	struct event_list *events;
	const struct wire_sink *sink;
	struct counters *counters;
	struct execution execution;
	struct proc_watch *watch; /* NULL: /proc is not read */
	struct err unstored; /* why no more is stored, while the program runs on; code 0: it is */
};

static int emit_interval(struct counting *c, uint64_t at_ns, struct err *err)
{
	uint32_t execution = c->execution.number;
	int r = counters_read(c->counters, err);

	if (r >= 0)
		r = counters_emit(c->counters, execution, at_ns, c->sink);
	if (r >= 0 && c->options->each)
		r = c->options->each(c->options->context, execution, at_ns, err);
	return r;
}

/* ---- what /proc tells meanwhile ---- */

static void watch_begin(struct counting *c)
{
	cpu_set_t cpus;
	const struct proc_watch_options how = {
		/* A program that we start has the CPUs that we have. */
		.cpus = c->options->mode == COUNTERS_CHILDREN &&
					sched_getaffinity(0, sizeof(cpus), &cpus) == 0
				? (uint64_t)CPU_COUNT(&cpus)
				: 0,
		.pid = c->options->mode == COUNTERS_PROCESS ? c->options->id : 0,
		.attached = c->options->mode == COUNTERS_PROCESS,
	};

	if (c->options->watch_proc)
		c->watch = proc_watch_open(&how, clock_monotonic_ns());
}

/* The program's pid is known as soon as it was started. */
static void watch_read(struct counting *c, uint64_t now_ns)
{
	pid_t pid = c->execution.spawner ? spawner_target(c->execution.spawner) : 0;

	if (!proc_watch_follows(c->watch) && pid)
		proc_watch_follow(c->watch, pid);
	proc_watch_read(c->watch, now_ns);
}

static int watch_end(struct counting *c)
{
	const struct spawner_result *result = &c->execution.result;
	const struct proc_watch_end end = {
		.execution = c->execution.number,
		.now_ns = clock_monotonic_ns(),
		.cpu_ns = c->options->mode == COUNTERS_CHILDREN
				  ? result->user_ns + result->system_ns
				  : 0,
	};
	int r = c->watch ? proc_watch_emit(c->watch, &end, c->sink) : 0;

	proc_watch_close_pointer(&c->watch);
	return r;
}

/* When to wake next: an interval ends or /proc is to be read; UINT64_MAX: only at the end. */
static uint64_t wake_ns(const struct counting *c, uint64_t interval_ns)
{
	uint64_t due_ns = c->watch ? proc_watch_due_ns(c->watch) : UINT64_MAX;

	return interval_ns < due_ns ? interval_ns : due_ns;
}

/* Sleep until `until_ns` (UINT64_MAX: without end), the end of the target or a signal. */
static int sleep_until(int fd, uint64_t until_ns, const sigset_t *signals)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	uint64_t now = clock_monotonic_ns(), left = until_ns > now ? until_ns - now : 0;
	struct timespec timeout = {(time_t)(left / 1000000000), (long)(left % 1000000000)};

	return ppoll(&ready, fd >= 0, until_ns < UINT64_MAX ? &timeout : NULL, signals);
}

/* A full disk is no reason to leave a program alone that we have started: it runs to its end, whose
 * status we then know. */
static int storing_failed(struct counting *c, int r, struct err *err)
{
	if (r >= 0 || err->kind != ERR_OUTPUT || !c->execution.spawner)
		return r;
	c->unstored = *err;
	*err = (struct err){0};
	return 0;
}

/* Sleep until the target or the watched process ends, the user stops a watch, or it failed. */
static int wait_for_end(struct counting *c, struct err *err)
{
	struct execution *x = &c->execution;
	int fd = execution_descriptor(x);
	bool silent = !c->options->interval_ns;
	uint64_t step_ns = silent ? c->options->refresh_ns : c->options->interval_ns;
	uint64_t next_ns = step_ns ? x->start_ns + step_ns : UINT64_MAX;
	sigset_t all, before;
	int r = 0;

	/* Signals are only taken inside ppoll(), so that none slips in between check and sleep. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	while (r == 0) {
		int got = sleep_until(fd, wake_ns(c, next_ns), &before);

		if (got > 0)
			break;
		execution_pass_on_signals(x);
		if (x->stopped && !x->spawner)
			break;
		if (got == 0 && c->watch && clock_monotonic_ns() >= proc_watch_due_ns(c->watch))
			watch_read(c, clock_monotonic_ns());
		if (got == 0 && clock_monotonic_ns() >= next_ns) {
			r = silent ? counters_read(c->counters, err)
				   : emit_interval(c, next_ns - x->start_ns, err);
			r = storing_failed(c, r, err);
			next_ns = c->unstored.code ? UINT64_MAX : next_ns + step_ns;
		}
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	/* A signal that came together with the target's end is delivered only now. */
	execution_pass_on_signals(x);
	return r;
}

/* 1: it left processes behind that still run. */
static int execute_once(struct counting *c, struct err *err)
{
	struct execution *x = &c->execution;
	int r;

	watch_begin(c);
	r = execution_start(x, err);
	if (r >= 0)
		r = wait_for_end(c, err);
	if (r >= 0)
		r = execution_finish(x, err);
	if (r >= 0)
		r = counters_read(c->counters, err);
	if (r >= 0 && c->options->interval_ns)
		r = counters_emit(
			c->counters, x->number, clock_monotonic_ns() - x->start_ns, c->sink);
	if (r >= 0)
		r = execution_emit(x, c->sink);
	if (r >= 0)
		r = counters_emit(c->counters, x->number, 0, c->sink);
	if (r >= 0)
		r = watch_end(c);
	if (r >= 0 && c->unstored.code) {
		*err = c->unstored;
		return -err->code;
	}
	if (r >= 0 && c->options->each)
		r = c->options->each(c->options->context, x->number, 0, err);
	return r < 0 ? r : x->spawner && x->result.leftovers;
}

static int counting_open(struct counting *c, struct err *err)
{
	return counters_open(
		c->events, c->options->mode, execution_id(&c->execution), &c->counters, err);
}

/* All executions.  Events inherited by processes that a target left behind would go on counting
 * into the next execution, so after such a one the counters are opened anew. */
static int counting_run(struct counting *c, struct err *err)
{
	uint32_t repeat = c->options->repeat ? c->options->repeat : 1;
	int r = counters_emit_events(c->counters, false, c->sink);

	if (r >= 0 && c->options->mode != COUNTERS_CHILDREN)
		r = counters_start(c->counters, err);
	while (r >= 0 && c->execution.number < repeat) {
		execution_pass_on_signals(&c->execution);
		if (c->execution.stopped)
			break;
		r = execute_once(c, err);
		if (r > 0 && c->execution.number < repeat &&
			c->options->mode == COUNTERS_CHILDREN) {
			counters_close_pointer(&c->counters);
			r = counting_open(c, err);
		}
	}
	if (r >= 0 && !c->options->judged)
		r = counters_emit_events(c->counters, true, c->sink);
	return r < 0 ? r : c->execution.stopped;
}

int count_target(const struct count_options *options, struct event_list *events,
	const struct wire_sink *sink, struct err *err)
{
	struct counting c = {.options = options, .events = events, .sink = sink};
	struct execution_options how = {
		.path = options->path,
		.argv = options->argv,
		.folder = options->folder,
		.input_path = options->input_path,
		.output_path = options->output_path,
		.stdout_to_stderr = options->stdout_to_stderr,
		.mode = options->mode,
		.id = options->id,
		.interrupted = options->interrupted,
	};
	int r = execution_open(&how, &c.execution, err);

	if (r >= 0)
		r = counting_open(&c, err);
	if (r >= 0)
		r = counting_run(&c, err);
	proc_watch_close(c.watch);
	counters_close(c.counters);
	execution_close(&c.execution);
	return r;
}
