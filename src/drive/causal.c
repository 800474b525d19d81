/* causal.c - see drive/causal.h.
 *
 * The order of the start matters.  The spawner is forked before the kernel side is loaded: it lives
 * as long as the target, and if it held the programs they would go on delaying the target after we
 * were killed.  Experiments begin with the first visits of a progress point: what a program does
 * before is its start-up, which nobody asked about. */
#include "drive/causal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "causal_parts.h"
#include "drive/urgency.h"
#include "source/emit.h"

enum { PAIRS_BETWEEN_LOOKS = 16, SEARCHES_MOST = 6 };
/* The first watch is short: each experiment shows more of the program, and it is looked at again.
 */
static const uint64_t look_ns = 5000000, watch_ns = 350000000;
static const uint64_t runtime_patience_ns = 3000000000, stop_patience_ns = 2000000000;
static const uint64_t hope_ns = 2000000000;

/* ---- starting ---- */

static int engine_open(struct causal_runner *c, enum causal_engine engine, struct err *err)
{
	const struct causal_run_options *o = c->options;
	struct causal_options how = {.engine = engine,
		.period_ns = o->period_ns,
		.points = o->points,
		.point_count = o->point_count,
		.waits = o->waits,
		.runs = !o->path,
		.searches = o->search,
		.follows = o->follows};
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
	variables[1].with_pid = !o->follows;
	r = execution_open(&start, &c->execution, err);
	c->execution.options.variables = NULL;
	return r < 0 ? r : causal_load(c->causal, err);
}

/* Which library the target loads is settled before the kernel side is tried, so a refusal of that
 * means to begin anew.  If the fallback cannot either, the first reason is the one to tell. */
static int open_all(struct causal_runner *c, struct err *err)
{
	enum causal_engine_choice choice = c->options->engine;
	struct err ignored = {0}, *why = &c->summary->why;
	int r = choice == CAUSAL_ONLY_PRELOAD ? -ENOTSUP : engine_open(c, CAUSAL_ENGINE_BPF, err);

	if (r >= 0 || choice == CAUSAL_ONLY_BPF ||
		(choice == CAUSAL_AUTO && err->kind != ERR_UNAVAILABLE))
		return r;
	if (choice == CAUSAL_ONLY_PRELOAD) {
		c->summary->preload = true;
		return engine_open(c, CAUSAL_ENGINE_PRELOAD, err);
	}
	*why = *err;
	causal_close(c->causal);
	c->causal = NULL;
	execution_close(&c->execution);
	c->execution = (struct execution){.watched = -1};
	if (!c->options->path || engine_open(c, CAUSAL_ENGINE_PRELOAD, &ignored) < 0)
		return r;
	*err = (struct err){0};
	c->summary->preload = true;
	return 0;
}

/* Counters of the program's own need the preloaded runtime. */
static int no_points(const struct causal_runner *c, pid_t pid, struct err *err)
{
	if (c->options->path)
		err_set(err, ERR_USAGE, EINVAL,
			"%s does not load assay's runtime (it is static or set-uid), so it has no "
			"progress counters",
			c->options->path);
	else
		err_set(err, ERR_USAGE, EINVAL,
			"process %d was already running, so it has no progress counters", (int)pid);
	err_hint(
		err, "name a progress point: --progress FUNCTION, FILE:LINE, syscall:NAME or auto");
	return -EINVAL;
}

/* Put the handler into a process that has no runtime, if this engine can. */
static int handler_put(struct causal_runner *c, pid_t pid, struct err *err)
{
	const struct causal_search *search = c->options->search;
	bool able = c->summary->preload || c->options->point_count || (search && search->is_asked);
	int r = able ? causal_attach(c->causal, pid, err) : no_points(c, pid, err);

	if (r >= 0)
		c->summary->stop_ns = causal_stop_ns(c->causal);
	return r;
}

/* The program that we started has not asked for the memory yet: it may be static, where that is
 * clear at once, or ignore LD_PRELOAD for another reason. */
static int runtime_replace(struct causal_runner *c, uint64_t since, struct err *err)
{
	pid_t pid = c->options->path ? spawner_target(c->execution.spawner) : 0;
	uint64_t now = clock_monotonic_ns();
	int r;

	if (!pid || c->options->follows ||
		causal_is_sealed(c, false)) /* a driver is not the one to hold up */
		return 0;
	if (causal_is_ready(c->causal) ||
		(now < since + runtime_patience_ns && !causal_process_is_static(pid)))
		return 0;
	r = handler_put(c, pid, err);
	if (r == -ESRCH) { /* it has just ended */
		*err = (struct err){0};
		r = 0;
	}
	return r;
}

static bool time_is_up(const struct causal_runner *c)
{
	return clock_monotonic_ns() >= c->until_ns;
}

/* No point of its own for so long since it could be asked to pause.  The fallback counts no
 * functions. */
static bool search_is_due(const struct causal_runner *c, uint64_t *ready_ns)
{
	const struct causal_search *search = c->options->search;

	if (!search || c->searched || c->summary->preload || !causal_is_ready(c->causal))
		return false;
	if (!*ready_ns)
		*ready_ns = clock_monotonic_ns();
	return clock_monotonic_ns() >= *ready_ns + search->patience_ns;
}

/* No function is fit to be counted, and the program has no counter of its own that it comes to
 * soon: the rest of the budget would pass without a single experiment. */
static bool is_hopeless(const struct causal_runner *c)
{
	return c->options->stop_target && c->hopeless_ns &&
	       clock_monotonic_ns() >= c->hopeless_ns + hope_ns;
}

int causal_await_ready(struct causal_runner *c, struct err *err)
{
	uint64_t since = c->checked_ns = clock_monotonic_ns();
	int r = 1;

	while (r > 0 && !causal_is_ready(c->causal) && !causal_is_sealed(c, false)) {
		r = runtime_replace(c, since, err);
		if (r >= 0 && !causal_is_ready(c->causal))
			r = causal_wait_ns(c, look_ns, err);
		else if (r >= 0)
			r = 1;
	}
	return r;
}

/* 1: it can be asked to pause and has made progress, 0: it or we ended first. */
static int wait_for_progress(struct causal_runner *c, struct err *err)
{
	uint64_t since = c->checked_ns = clock_monotonic_ns(), ready_ns = 0;
	int r = c->options->path ? 1 : handler_put(c, c->options->id, err);

	if (r < 0)
		return r;
	for (r = 1; r > 0 && !time_is_up(c) && !is_hopeless(c);) {
		if (causal_is_ready(c->causal) && causal_visits_total(c->causal) > 1) {
			c->summary->progressed = true;
			return 1;
		}
		r = runtime_replace(c, since, err);
		if (r >= 0 && search_is_due(c, &ready_ns)) {
			r = causal_search_points(c, err);
		} else if (r >= 0) {
			r = causal_wait_ns(c, look_ns, err);
		}
	}
	return r < 0 ? r : 0;
}

/* ---- running ---- */

int causal_spots_show(struct causal_runner *c, struct err *err)
{
	const struct causal_spot *spots;
	uint32_t count;
	int r = causal_spots(c->causal, &spots, &count, err);

	return r < 0 ? r : c->options->take_spots(c->options->context, spots, count, err);
}

/* Watch the program without a target, to see where it is, and what counting costs it.  1, or 0 when
 * it ended. */
static int watch(struct causal_runner *c, struct err *err)
{
	uint64_t visits[2] = {
		causal_points_trapped(c->causal, false), causal_points_trapped(c->causal, true)};
	struct causal_result watched;
	int r = causal_window_begin(c->causal, &(struct causal_target){0}, 0, err);

	if (r < 0)
		return r;
	causal_window_mark(c->causal);
	r = causal_wait_ns(c, watch_ns, err);
	causal_window_end(c->causal, &watched);
	for (unsigned cheap = 0; cheap < 2; cheap++)
		visits[cheap] = causal_points_trapped(c->causal, cheap) - visits[cheap];
	return r > 0 ? causal_share_watched(c, &watched, visits, err) : r;
}

static int look(struct causal_runner *c, struct err *err)
{
	int shown, r = causal_learn_files(c, err);

	if (r < 0 || !c->options->take_spots)
		return r < 0 ? r : 1;
	r = c->looked ? 1 : watch(c, err);
	if (r < 0)
		return r;
	shown = causal_spots_show(c, err);
	c->looked = c->looked || r > 0;
	return shown < 0 ? shown : r;
}

/* 1, or 0 when it ended. */
static int look_around(struct causal_runner *c, struct err *err)
{
	int r;

	if (c->looked && c->summary->pairs % PAIRS_BETWEEN_LOOKS)
		return 1;
	r = look(c, err);
	if (r == -ENOENT || r == -ESRCH) { /* it has just ended */
		*err = (struct err){0};
		r = 0;
	}
	return r;
}

/* The one that was followed has ended, and what started it goes on: there may be another. */
static int wait_for_next(struct causal_runner *c, struct err *err)
{
	return c->options->follows && !c->ended && !c->execution.stopped
		       ? causal_wait_ns(c, look_ns, err)
		       : 0;
}

/* 1: there is enough, 0: the program ended or someone stopped it. */
static int experiments_make(struct causal_runner *c, struct err *err)
{
	struct causal_choice choice;
	int r = wait_for_progress(c, err);

	while (r > 0 && !time_is_up(c)) {
		bool sealed = causal_is_sealed(c, true);

		if (sealed && !c->options->path)
			return 1;
		if (sealed) {
			r = causal_wait_ns(c, look_ns, err);
			continue;
		}
		choice = (struct causal_choice){0};
		r = look_around(c, err);
		if (r == 0) {
			r = wait_for_next(c, err);
			continue;
		}
		if (r < 0)
			break;
		if (c->summary->distorted)
			return 1;
		r = c->options->choose_pair(c->options->context, 0, &choice, err);
		if (r <= 0)
			return r < 0 ? r : 1;
		r = causal_measure_pair(c, &choice, err);
		if (r == -ENOENT || r == -ESRCH) { /* it ends, or has not loaded that code yet */
			*err = (struct err){0};
			r = causal_wait_ns(c, look_ns, err);
		}
		if (r == 0 && !c->ended && !c->execution.stopped)
			r = c->options->follows ? 1 : causal_is_sealed(c, false);
	}
	return r < 0 ? r : time_is_up(c) || (!c->ended && is_hopeless(c));
}

/* Let the program run on, or end it, and take its result. */
static int execution_await(struct causal_runner *c, bool stop, struct err *err)
{
	uint64_t kill_at = clock_monotonic_ns() + stop_patience_ns;
	int r = 0;

	if (stop && !c->ended)
		spawner_end(c->execution.spawner, SIGTERM);
	while (r >= 0 && !c->ended) {
		r = causal_wait_ns(c, look_ns, err);
		if (stop && !c->ended && clock_monotonic_ns() > kill_at)
			spawner_end(c->execution.spawner, SIGKILL);
	}
	return r < 0 ? r : execution_finish(&c->execution, err);
}

/* Leave a process that was attached to as it was found. */
static int leave(struct causal_runner *c, struct err *err)
{
	struct err why = {0};
	int r = causal_detach(c->causal, &why);

	if (r < 0)
		r = emit_note(c->sink, "left-behind", why.text,
			"the process continues at full speed, but assay's unused signal handler or "
			"shared memory stays in it");
	if (r >= 0)
		r = execution_emit(&c->execution, c->sink);
	return r < 0 ? err_set(err, ERR_OUTPUT, EIO, "cannot store the execution") : 0;
}

static bool is_crash(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGTRAP;
}

/* What our signal met in the program.  Whether it was we who ended it: by our signal, by a system
 * call of our handler that its filter forbids, or in our handler. */
static void harm_look(struct causal_runner *c)
{
	int by = c->execution.result.signal;
	struct causal_trace trace;

	causal_trace_read(c->causal, &trace);
	c->summary->no_stack += trace.no_stack;
	if (trace.stray)
		c->summary->stray = trace.signal;
	if ((by == SIGSYS && trace.signal) || (by && (uint32_t)by == trace.signal) ||
		(is_crash(by) && trace.inside))
		c->summary->harmed_by = by;
}

int causal_execution_begin(struct causal_runner *c, struct err *err)
{
	int r;

	if (c->input >= 0 && c->summary->executions)
		(void)lseek(STDIN_FILENO, c->input, SEEK_SET);
	r = execution_start(&c->execution, err);
	c->ended = false;
	c->summary->executions += r >= 0;
	return r;
}

int causal_execution_end(struct causal_runner *c, bool stop, struct err *err)
{
	int r;

	c->execution.ended = stop && !c->ended;
	r = execution_await(c, stop, err);
	if (r < 0)
		return r;
	harm_look(c);
	return execution_emit(&c->execution, c->sink) < 0
		       ? err_set(err, ERR_OUTPUT, EIO, "cannot store the execution")
		       : 0;
}

/* Start it, experiment, see it end.  1: there is enough. */
static int execution_run(struct causal_runner *c, struct err *err)
{
	int enough, r = causal_execution_begin(c, err);
	struct err later = {0};

	if (r < 0)
		return r;
	enough = experiments_make(c, err);
	(void)causal_is_sealed(c, true);
	if (c->options->path) {
		r = causal_execution_end(c, enough < 0 || (enough && c->options->stop_target),
			enough < 0 ? &later : err);
		if (enough >= 0 && r < 0)
			return r;
	} else {
		r = leave(c, enough < 0 ? &later : err);
		harm_look(c);
		if (enough >= 0 && r < 0)
			return r;
	}
	(void)causal_bind(c->causal, 0, &later);
	return enough;
}

static int sealed_tell(const struct causal_runner *c)
{
	bool sandbox = c->summary->sealed == CAUSAL_SEAL_SANDBOX;

	return emit_note(c->sink, sandbox ? "sandboxed" : "signal-taken",
		sandbox ? "the program sandboxes itself (seccomp); experiments are not possible "
			  "from then on"
			: "the program handles assay's signal itself; experiments are not possible "
			  "from then on",
		sandbox ? "run it without its sandbox: a filter could kill it for the system calls "
			  "of assay's handler"
			: "use --engine bpf (as root), which uses another signal");
}

static int no_progress_tell(struct causal_runner *c)
{
	str_auto struct str text = {0};

	if (c->options->follows && !c->begun) {
		str_addf(&text, "the command did not start %s", c->options->follows);
		return emit_note(c->sink, "not-followed", text.at,
			"give --follow the program that does the work; `assay record` shows which "
			"used the time");
	}
	return emit_note(c->sink, "no-progress",
		"the program never reached a progress point, so no experiment was possible",
		c->whole_needs ? c->whole_needs
		: c->summary->preload
			? "put ASSAY_PROGRESS (assay.h) where a unit of work is done; counting "
			  "functions needs the BPF engine"
			: "name one with --progress, or put ASSAY_PROGRESS (assay.h) where a unit "
			  "of work is done");
}

/* Experiments within executions, as many as there is time for. */
static int parts_run(struct causal_runner *c, struct err *err)
{
	uint32_t pairs, searches = 0;
	bool searched;
	int r;

	do {
		pairs = c->summary->pairs;
		searched = c->searched;
		r = execution_run(c, err);
		/* A program that ends before one pair is measured would be started for ever; one
		 * that ended in the search for its point is, some times. */
		searches += !searched && c->searching.begun;
	} while (r == 0 && c->options->path && !c->execution.stopped && c->options->budget_ns &&
		 !time_is_up(c) && !c->summary->sealed && !c->summary->harmed_by &&
		 (c->summary->pairs > pairs ||
			 (!searched && c->searching.begun && searches < SEARCHES_MOST)));
	return r;
}

/* Handlers belong to all threads: one may set its own between the look at it and the signal to
 * another thread, some microseconds. */
static int stray_tell(const struct causal_runner *c)
{
	char text[256];

	snprintf(text, sizeof(text),
		"the program changed the handler of signal %u while assay sent it: its own handler "
		"may have been called once",
		c->summary->stray);
	return emit_note(c->sink, "stray-signal", text,
		"check its output; `assay run --skip causal` makes no experiments");
}

static int run(struct causal_runner *c, struct err *err)
{
	int r = c->options->whole_runs == CAUSAL_WHOLE_ONLY ? 0 : parts_run(c, err);

	if (r >= 0 && causal_whole_is_wanted(c))
		r = causal_whole_run(c, err);
	if (r >= 0 && c->summary->sealed)
		r = sealed_tell(c);
	if (r >= 0 && c->summary->no_stack)
		r = emit_note(c->sink, "small-stack",
			"some threads were not delayed: their stacks have no room for a signal",
			"gains read too low; give these threads larger stacks, or a larger "
			"sigaltstack");
	if (r >= 0 && c->summary->stray)
		r = stray_tell(c);
	if (r >= 0 && !c->summary->progressed && !c->summary->sealed)
		r = no_progress_tell(c);
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
		.input = options->path ? lseek(STDIN_FILENO, 0, SEEK_CUR) : -1,
		.window_ns = options->window_ns ? options->window_ns : CAUSAL_WINDOW_QUICK_NS,
		.until_ns =
			options->budget_ns ? clock_monotonic_ns() + options->budget_ns : UINT64_MAX,
	};
	struct urgency urgency;
	int r;

	*ret_summary = (struct causal_summary){0};
	random_seed(&c.random, clock_monotonic_ns());
	r = open_all(&c, err);
	urgency_begin(&urgency);
	if (r >= 0)
		r = run(&c, err);
	causal_close(c.causal);
	map_done(&c.files_known);
	execution_close(&c.execution);
	urgency_end(&urgency);
	return r;
}
