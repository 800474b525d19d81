/* causal.c - see drive/causal.h.
 *
 * The order of the start matters.  The spawner is forked before the kernel side is loaded: it lives
 * as long as the target, and if it held the programs they would go on delaying the target after we
 * were killed.  Experiments begin with the first visits of a progress point: what a program does
 * before is its start-up, which nobody asked about. */
#include "drive/causal.h"

#include <errno.h>
#include <signal.h>

#include "base/clock.h"
#include "causal_parts.h"
#include "drive/urgency.h"
#include "source/emit.h"

enum { PAIRS_BETWEEN_LOOKS = 16 };
static const uint64_t look_ns = 5000000, window_first_ns = 200000000, watch_ns = 1000000000;
static const uint64_t runtime_patience_ns = 3000000000, stop_patience_ns = 2000000000;

/* ---- starting ---- */

static int open_all(struct causal_runner *c, struct err *err)
{
	const struct causal_run_options *o = c->options;
	struct causal_options how = {.period_ns = o->period_ns,
		.points = o->points,
		.point_count = o->point_count,
		.waits = o->waits,
		.searches = o->search};
	struct spawner_variable variables[3] = {{0}};
	struct execution_options start = {.path = o->path,
		.argv = o->argv,
		.stdout_to_stderr = o->stdout_to_stderr,
		.variables = variables,
		.mode = o->path ? COUNTERS_CHILDREN : COUNTERS_PROCESS,
		.id = o->id,
		.interrupted = o->interrupted};
	int r = causal_open(&how, &c->causal, err);

	if (r < 0)
		return r;
	variables[0].text = causal_preload_variable(c->causal);
	variables[1].text = causal_socket_variable(c->causal);
	variables[1].with_pid = true;
	r = execution_open(&start, &c->execution, err);
	c->execution.options.variables = NULL;
	return r < 0 ? r : causal_load(c->causal, err);
}

static int no_handler(struct causal_runner *c, struct err *err)
{
	if (c->options->path) {
		err_set(err, ERR_TARGET, ENOTSUP, "%s did not load assay's runtime",
			c->options->path);
		err_hint(err, "a static or set-uid program ignores LD_PRELOAD, and a wrapper that "
			      "forks is not the program: name the program itself");
	} else {
		err_set(err, ERR_UNAVAILABLE, ENOTSUP, "process %d has no handler of assay's in it",
			(int)c->options->id);
		err_hint(err, "start the program under assay: assay causal -- PROGRAM");
	}
	return -ENOTSUP;
}

static bool time_is_up(const struct causal_runner *c)
{
	return clock_monotonic_ns() >= c->until_ns;
}

/* No point of its own for so long since it could be asked to pause. */
static bool search_is_due(const struct causal_runner *c, uint64_t *ready_ns)
{
	const struct causal_search *search = c->options->search;

	if (!search || c->searched || !causal_is_ready(c->causal))
		return false;
	if (!*ready_ns)
		*ready_ns = clock_monotonic_ns();
	return clock_monotonic_ns() >= *ready_ns + search->patience_ns;
}

/* 1: it can be asked to pause and has made progress, 0: it or we ended first. */
static int wait_for_progress(struct causal_runner *c, struct err *err)
{
	uint64_t patience = clock_monotonic_ns() + runtime_patience_ns, ready_ns = 0;
	int r = 1;

	if (!c->options->path) {
		r = causal_bind(c->causal, c->options->id, err);
		return r < 0 ? r : no_handler(c, err);
	}
	while (r > 0 && !time_is_up(c)) {
		if (causal_is_ready(c->causal) && causal_visits_total(c->causal) > 1) {
			c->summary->progressed = true;
			return 1;
		}
		if (!causal_is_ready(c->causal) && clock_monotonic_ns() > patience)
			return no_handler(c, err);
		if (search_is_due(c, &ready_ns)) {
			r = causal_search_points(c, err);
			c->searched = r > 0;
		} else {
			r = causal_wait_ns(c, look_ns, err);
		}
	}
	return r < 0 ? r : 0;
}

/* ---- running ---- */

static int spots_show(struct causal_runner *c, struct err *err)
{
	const struct causal_spot *spots;
	uint32_t count;
	int r = causal_spots(c->causal, &spots, &count, err);

	return r < 0 ? r : c->options->seen(c->options->context, spots, count, err);
}

/* Watch the program without a target, to see where it is.  1, or 0 when it ended. */
static int look_around(struct causal_runner *c, struct err *err)
{
	struct causal_result ignored;
	int shown, r = 1;

	if (!c->options->seen)
		return 1;
	if (!c->looked) {
		r = causal_window_begin(c->causal, &(struct causal_target){0}, 0, err);
		if (r >= 0)
			r = causal_wait_ns(c, watch_ns, err);
		causal_window_mark(c->causal);
		causal_window_end(c->causal, &ignored);
		c->looked = r > 0;
	} else if (c->summary->pairs % PAIRS_BETWEEN_LOOKS) {
		return 1;
	}
	if (r < 0)
		return r;
	shown = spots_show(c, err);
	if (shown == -ENOENT || shown == -ESRCH) { /* it has just ended */
		*err = (struct err){0};
		return 0;
	}
	return shown < 0 ? shown : r;
}

/* 1: there is enough, 0: the program ended or someone stopped it. */
static int experiments_make(struct causal_runner *c, struct err *err)
{
	struct causal_choice choice;
	int r = wait_for_progress(c, err);

	while (r > 0 && !time_is_up(c)) {
		choice = (struct causal_choice){0};
		r = look_around(c, err);
		if (r <= 0)
			break;
		r = c->options->next(c->options->context, &choice, err);
		if (r <= 0)
			return r < 0 ? r : 1;
		r = causal_measure_pair(c, &choice, err);
		if (r == -ENOENT || r == -ESRCH) { /* it ends, or has not loaded that code yet */
			*err = (struct err){0};
			r = causal_wait_ns(c, look_ns, err);
		}
	}
	return r < 0 ? r : time_is_up(c);
}

/* Let the program run on, or end it, and take its result. */
static int execution_await(struct causal_runner *c, bool stop, struct err *err)
{
	uint64_t kill_at = clock_monotonic_ns() + stop_patience_ns;
	int r = 0;

	if (stop && !c->ended)
		spawner_signal(c->execution.spawner, SIGTERM);
	while (r >= 0 && !c->ended) {
		r = causal_wait_ns(c, look_ns, err);
		if (stop && !c->ended && clock_monotonic_ns() > kill_at)
			spawner_signal(c->execution.spawner, SIGKILL);
	}
	return r < 0 ? r : execution_finish(&c->execution, err);
}

/* Start it, experiment, see it end.  1: there is enough. */
static int execution_run(struct causal_runner *c, struct err *err)
{
	int enough, r = execution_start(&c->execution, err);
	struct err later = {0};

	if (r < 0)
		return r;
	c->ended = false;
	c->summary->executions++;
	enough = experiments_make(c, err);
	if (c->options->path) {
		bool stop = enough < 0 || (enough && c->options->stop_target);

		r = execution_await(c, stop, enough < 0 ? &later : err);
		if (enough >= 0 && r < 0)
			return r;
		if (execution_emit(&c->execution, c->sink) < 0 && enough >= 0)
			return err_set(err, ERR_OUTPUT, EIO, "cannot keep the execution");
	}
	(void)causal_bind(c->causal, 0, &later);
	return enough;
}

static int run(struct causal_runner *c, struct err *err)
{
	uint32_t pairs;
	int r;

	do {
		pairs = c->summary->pairs;
		r = execution_run(c, err);
		/* A program that ends before one pair is measured would be started for ever. */
	} while (r == 0 && !c->execution.stopped && c->options->budget_ns && !time_is_up(c) &&
		 c->summary->pairs > pairs);
	if (r >= 0 && !c->summary->progressed)
		r = emit_note(c->sink, "no-progress",
			"no progress point was visited, so no experiment could be made",
			"name one with --progress, or put ASSAY_PROGRESS (assay.h) where a unit of "
			"work is done");
	return r < 0 ? r : c->execution.stopped;
}

int causal_run(const struct causal_run_options *options, const struct wire_sink *sink,
	struct causal_summary *ret_summary, struct err *err)
{
	struct causal_runner c = {
		.options = options,
		.sink = sink,
		.summary = ret_summary,
		.execution = {.watched = -1},
		.window_ns = options->window_ns ? options->window_ns : window_first_ns,
		.until_ns =
			options->budget_ns ? clock_monotonic_ns() + options->budget_ns : UINT64_MAX,
	};
	struct urgency urgency;
	int r;

	*ret_summary = (struct causal_summary){0};
	random_seed(&c.random, clock_monotonic_ns());
	r = open_all(&c, err);
	urgency = urgency_begin();
	if (r >= 0)
		r = run(&c, err);
	causal_close(c.causal);
	execution_close(&c.execution);
	urgency_end(&urgency);
	return r;
}
