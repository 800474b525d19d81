/* count.c - see count.h.
 *
 * The order matters: spawner first (small), counters on it (disabled until exec), then one request
 * per execution.  While the target runs the tool sleeps in ppoll(), so that it costs the target
 * nothing; it wakes for an interval, a signal or the end. */
#include "drive/count.h"

#include <poll.h>
#include <signal.h>
#include <time.h>

#include "base/clock.h"
#include "drive/execution.h"

struct counting {
	const struct count_options *options;
	struct event_list *events;
	const struct wire_sink *sink;
	struct counters *counters;
	struct execution execution;
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

/* Sleep until the target or the watched process ends, the user stops a watch, or it failed. */
static int wait_for_end(struct counting *c, struct err *err)
{
	struct execution *x = &c->execution;
	int fd = execution_descriptor(x);
	bool silent = !c->options->interval_ns;
	uint64_t step_ns = silent ? c->options->refresh_ns : c->options->interval_ns;
	uint64_t next_ns = x->start_ns + step_ns;
	sigset_t all, before;
	int r = 0;

	/* Signals are only taken inside ppoll(), so that none slips in between check and sleep. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	while (r == 0) {
		struct pollfd ready = {.fd = fd, .events = POLLIN};
		uint64_t now = clock_monotonic_ns(), left = next_ns > now ? next_ns - now : 0;
		struct timespec timeout = {(time_t)(left / 1000000000), (long)(left % 1000000000)};
		int got = ppoll(&ready, fd >= 0, step_ns ? &timeout : NULL, &before);

		if (got > 0)
			break;
		execution_pass_on_signals(x);
		if (x->stopped && !x->spawner)
			break;
		if (got == 0) {
			r = silent ? counters_read(c->counters, err)
				   : emit_interval(c, next_ns - x->start_ns, err);
			next_ns += step_ns;
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
	int r = execution_start(x, err);

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
	counters_close(c.counters);
	execution_close(&c.execution);
	return r;
}
