/* judge.c - `build/bench/judge RUN.assay PAIRS [LOOKS]`: the verdict of `assay ab` on each window
 * of so many pairs of one long run, one line each: outcome, deciding metric, then name, outcome and
 * effect of wall and CPU time, the interval of 95 % of the first.  Windows do not overlap.  With
 * LOOKS 6 a window is looked at as `assay ab` does it while pairs grow, and the line ends with the
 * pairs it took.  A name is one word: "corrected_wall". */
#include <stdio.h>
#include <stdlib.h>

#include "analyze/ab.h"
#include "analyze/bench.h"
#include "model/run.h"
#include "model/store.h"

/* The executions of `count` pairs from pair `first` on. */
static struct run *window_make(const struct run *all, uint32_t first, uint32_t count)
{
	struct run *run = run_open();

	vec_foreach (const struct command_row, row, &all->commands)
		run_add_command(
			run, &(struct command_row){run_intern(run, run_text(all, row->argv))});
	for (uint32_t i = 2 * first; i < 2 * (first + count); i++)
		vec_push(&run->executions, all->executions.at[i]);
	run_freeze(run);
	return run;
}

static void judge(const struct run *all, uint32_t first, uint32_t count, struct arena *arena,
	struct ab_view *ret_ab)
{
	const struct compare_rule rule = {0};
	struct run *run = window_make(all, first, count);
	struct bench_view *view = arena_take(arena, sizeof(*view));
	struct err err = {0};

	if (bench_view_make(run, false, arena, view, &err) < 0 ||
		ab_view_make(view, &rule, arena, ret_ab, &err) < 0) {
		fprintf(stderr, "judge: %s\n", err.text);
		exit(1);
	}
	run_close(run);
}

/* As job/ab.c does it: ten pairs, then more. */
static uint32_t judge_growing(const struct run *all, uint32_t first, uint32_t most,
	struct arena *arena, struct ab_view *ret_ab)
{
	struct compare_plan plan = compare_plan_make(COMPARE_BATCH, most);

	for (uint32_t count = COMPARE_BATCH;; count++) {
		bool looks = compare_plan_looks_at(&plan, count), batch = !(count % COMPARE_BATCH);

		if (count < most && !looks && !batch)
			continue;
		judge(all, first, count, arena, ret_ab);
		if (count >= most || (batch && ab_is_narrow(ret_ab)) ||
			(looks && ab_is_settled(ret_ab)))
			return count;
	}
}

static void name_print(const char *name)
{
	putchar(' ');
	for (; *name; name++)
		putchar(*name == ' ' ? '_' : *name);
}

static void line_print(const struct ab_view *ab, uint32_t used)
{
	struct comparison first = ab->metrics[0];

	printf("%s", compare_outcome_name(ab->verdict.outcome));
	name_print(ab->verdict.by->name);
	for (uint32_t i = 0; i < ab->deciding_count; i++) {
		name_print(ab->metrics[i].name);
		printf(" %s %.6f", compare_outcome_name(ab->metrics[i].outcome),
			ab->metrics[i].effect);
	}
	compare_show(&first, first.same_confidence);
	printf(" %.6f %.6f %u\n", first.lo, first.hi, used);
}

int main(int argc, char **argv)
{
	run_auto struct run *run = NULL;
	struct err err = {0};
	uint32_t pairs = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
	bool grows = argc > 3 && atoi(argv[3]) > 1;

	if (pairs < COMPARE_PAIRS_MIN || (grows && pairs % COMPARE_BATCH) ||
		store_load(argv[1], &run, &err) < 0) {
		fprintf(stderr, "judge RUN.assay PAIRS [LOOKS]: %s\n", err.text);
		return 2;
	}
	for (uint32_t at = 0; 2 * (at + pairs) <= run->executions.count; at += pairs) {
		arena_auto struct arena arena = {0};
		struct ab_view ab;
		uint32_t used = pairs;

		if (grows)
			used = judge_growing(run, at, pairs, &arena, &ab);
		else
			judge(run, at, pairs, &arena, &ab);
		line_print(&ab, used);
	}
	return 0;
}
