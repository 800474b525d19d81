/* causal_whole.c - whole runs as experiments: the end of a program is progress too.
 *
 * For a short program with several threads that does nothing again and again.  Each half of a pair
 * is an execution from its start to its end, with the target sped up or not; which comes first is
 * chance.  The first execution is only watched: where is it, how long does it take, and has it
 * threads.  A run costs as much as a hundred windows of an experiment in its midst, so this is the
 * last resort. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "causal_parts.h"
#include "source/emit.h"

/* Fewer pairs give no bounds; a run of fewer samples than one in ten ms tells nothing. */
enum { PAIRS_LEAST = 4, RUNS_LEAST = 1 + 2 * PAIRS_LEAST, CUT_MOST = 3, WATCHED_MOST = 3 };
static const uint64_t tick_ns = 15000000, first_look_ns = 20000000, run_least_ns = 50000000;

static uint64_t time_left(const struct causal_runner *c)
{
	uint64_t now = clock_monotonic_ns();

	return now < c->until_ns ? c->until_ns - now : 0;
}

/* A program that has just run for too long is not started again for nothing. */
static bool there_is_time(const struct causal_runner *c)
{
	uint64_t ran_ns = c->summary->executions ? clock_monotonic_ns() - c->execution.start_ns
						 : run_least_ns;

	return time_left(c) / RUNS_LEAST >= ran_ns;
}

bool causal_whole_is_wanted(const struct causal_runner *c)
{
	return c->options->whole_runs && there_is_time(c) && c->options->path &&
	       !c->options->follows && !c->summary->progressed && !c->summary->sealed &&
	       !c->summary->harmed_by && !c->summary->distorted && !c->execution.stopped;
}

static void threads_count(struct causal_runner *c)
{
	char path[48];
	struct stat tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)causal_target_process(c));
	if (stat(path, &tasks) == 0 && tasks.st_nlink > 2 + c->threads_most)
		c->threads_most = (uint32_t)tasks.st_nlink - 2; /* a folder has two links more */
}

/* It has just ended, or has not loaded the code yet: no failure. */
static int unless_gone(int r, struct err *err)
{
	if (r != -ENOENT && r != -ESRCH)
		return r;
	*err = (struct err){0};
	return 0;
}

/* Wait for its end, or until it has lasted longer than `most_ns`.  1: it ended by itself, 0: not.
 */
static int end_await(struct causal_runner *c, uint64_t most_ns, bool look, struct err *err)
{
	uint64_t begun = clock_monotonic_ns(), next = first_look_ns;
	int r = 1;

	while (r > 0 && clock_monotonic_ns() - begun < most_ns) {
		causal_shuffle(c->causal);
		r = causal_wait_ns(c, tick_ns, err);
		if (r > 0 && look)
			threads_count(c);
		if (r <= 0 || !look || clock_monotonic_ns() - begun < next)
			continue;
		next *= 2;
		r = c->options->take_spots ? unless_gone(causal_spots_show(c, err), err) : 0;
		if (r < 0)
			return r;
		r = 1;
	}
	return r < 0 ? r : c->ended && !c->execution.stopped;
}

/* An experiment from now on to the end of the program.  1: measured, 0: cut short. */
static int rest_measure(struct causal_runner *c, const struct causal_target *target,
	uint32_t permille, uint64_t most_ns, struct causal_result *ret_result, struct err *err)
{
	int ended, r = causal_window_begin(c->causal, target, permille, err);

	if (r < 0)
		return unless_gone(r, err);
	causal_window_mark(c->causal);
	ended = end_await(c, most_ns, !target->count, err);
	causal_window_end(c->causal, ret_result);
	causal_progress_end(c->causal);
	ret_result->cut |= ended <= 0 || causal_is_sealed(c, true);
	return ended < 0 ? ended : !ret_result->cut;
}

/* One run from its start to its end with `target` sped up.  1: measured, 0: cut short. */
static int run_measure(struct causal_runner *c, const struct causal_target *target,
	uint32_t permille, uint64_t most_ns, struct causal_result *ret_result, struct err *err)
{
	struct err late = {0};
	int ended, r = causal_execution_begin(c, err);

	*ret_result = (struct causal_result){.cut = true};
	if (r < 0)
		return r;
	r = causal_await_ready(c, err);
	if (r > 0 && !target->count)
		r = unless_gone(causal_learn_files(c, err), err);
	if (r >= 0 && causal_is_ready(c->causal))
		r = rest_measure(c, target, permille, most_ns, ret_result, err);
	if (r >= 0 && !ret_result->wall_ns && !c->ended) /* it was left alone */
		r = end_await(c, most_ns, false, err);
	ended = causal_execution_end(
		c, r < 0 || (!c->ended && !c->execution.stopped), r < 0 ? &late : err);
	(void)causal_bind(c->causal, 0, &late);
	if (r < 0 || ended < 0)
		return r < 0 ? r : ended;
	return !ret_result->cut;
}

static int half_measure(
	struct causal_runner *c, const struct causal_choice *choice, bool faster, struct err *err)
{
	struct causal_half *half = &c->halves[faster];
	struct causal_order order = {
		.target = choice->target,
		.pair = c->summary->pairs + 1,
		.speedup_permille = faster ? choice->speedup_permille : 0,
		.whole_run = true,
	};
	uint64_t most_ns = c->options->stop_target ? time_left(c) + c->whole_ns : UINT64_MAX;
	int kept, r = run_measure(
			  c, &choice->what, order.speedup_permille, most_ns, &half->result, err);

	order.execution = c->execution.number;
	if (r < 0)
		return r;
	kept = causal_half_keep(c, &order, half, err);
	return kept < 0 ? kept : r;
}

/* Whether to go on after a run of which `measured_ns` were seen; says what it would need. */
static bool is_feasible(struct causal_runner *c, bool ended, uint64_t measured_ns)
{
	double seconds = (double)c->whole_ns / 1e9;

	if (ended && c->options->whole_runs == CAUSAL_WHOLE_THREADS && c->threads_most < 2)
		return false;
	if (ended && measured_ns < run_least_ns) {
		c->whole_needs = "give it more work: a run of less than 50 ms is too short for "
				 "experiments";
		return false;
	}
	if (ended && time_left(c) >= 2 * PAIRS_LEAST * c->whole_ns)
		return true;
	snprintf(c->whole_text, sizeof(c->whole_text),
		"name a progress point with --progress, or let whole runs of %s%.1f s be compared: "
		"--progress end --budget %.0fs, or with less work",
		ended ? "" : "more than ", seconds, 1 + 3 * RUNS_LEAST * seconds);
	c->whole_needs = c->whole_text;
	return false;
}

/* Watch a run, and another one if a good part of the first had passed before its files were
 * learned. 1: it ended by itself, 0: it takes too long or the user stopped it. */
static int watch(struct causal_runner *c, struct causal_result *ret_watched, struct err *err)
{
	const struct causal_target nothing = {0};
	bool seen = false;
	int r = 0;

	for (unsigned tries = 0; r >= 0 && !seen && tries < WATCHED_MOST && !c->execution.stopped;
		tries++) {
		uint64_t begun = clock_monotonic_ns();
		uint64_t most_ns = c->options->stop_target ? time_left(c) / RUNS_LEAST : UINT64_MAX;

		r = run_measure(c, &nothing, 0, most_ns, ret_watched, err);
		c->whole_ns = clock_monotonic_ns() - begun;
		if (r == 0 && c->whole_ns >= most_ns)
			return 0;
		seen = r > 0 && ret_watched->wall_ns >= c->whole_ns / 5 * 4;
	}
	return r < 0 ? r : !c->execution.stopped;
}

int causal_whole_run(struct causal_runner *c, struct err *err)
{
	struct causal_choice choice;
	struct causal_result watched = {0};
	unsigned cut = 0;
	int r = watch(c, &watched, err);

	if (r < 0 || c->execution.stopped || !is_feasible(c, r, watched.wall_ns))
		return r < 0 ? r : 0;
	c->summary->progressed = true;
	if (emit_note(c->sink, "whole-runs",
		    "the end of the program is its progress: whole runs are compared",
		    "for narrower bounds, name a point that it passes often with --progress") < 0)
		return err_set(err, ERR_OUTPUT, EIO, "cannot store the experiments");
	while (time_left(c) >= 2 * c->whole_ns) {
		uint64_t pairs_left = time_left(c) / (2 * c->whole_ns + 1);

		choice = (struct causal_choice){0};
		r = c->options->choose_pair(
			c->options->context, (uint32_t)pairs_left + 1, &choice, err);
		if (r <= 0)
			return r < 0 ? r : 1;
		r = causal_pair_measure(c, &choice, half_measure, err);
		cut = r > 0 ? 0 : cut + 1;
		if (r < 0 || c->execution.stopped || c->summary->sealed || c->summary->harmed_by)
			return r < 0 ? r : 0;
		if (cut == CUT_MOST) /* what is tried is not loaded when the program starts */
			return 1;
	}
	return 1;
}
