/* diff_profile_test.c - two runs compared: what changed, and that noise does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff_profile.h"
#include "base/interval.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/run.h"
#include "profile_text.h"

static void make(struct diff_view *view, const struct run *a, const struct run *b,
	const struct diff_options *options)
{
	struct err err = {0};

	if (diff_profile_make(a, b, options, view, &err) < 0)
		print_message("# %s\n", err.text);
	assert_int_equal(err.code, 0);
}

static const struct diff_row *row_of(const struct diff_view *view, const char *name)
{
	vec_foreach (const struct diff_row, row, &view->rows)
		if (strcmp(row->name, name) == 0)
			return row;
	print_message("# no row %s\n", name);
	fail();
	return NULL;
}

/* Newcombe 1998, table II, method 10: 56/70 - 48/80 and 9/10 - 3/10. */
static void the_interval_is_the_published_one(void **state)
{
	run_auto struct run *a = profile_text_run("event cycles\n48 hit\n32 miss\n");
	run_auto struct run *b = profile_text_run("event cycles\n56 hit\n14 miss\n");
	run_auto struct run *c = profile_text_run("event cycles\n3 hit\n7 miss\n");
	run_auto struct run *d = profile_text_run("event cycles\n9 hit\n1 miss\n");
	diff_profile_auto struct diff_view large = {0}, small = {0};
	const struct diff_row *row;

	(void)state;
	make(&large, a, b, &(struct diff_options){0});
	row = row_of(&large, "hit");
	assert_true(fabs(row->change - 0.2) < 1e-9);
	assert_true(fabs(row->change_low - 0.0524) < 5e-5);
	assert_true(fabs(row->change_high - 0.3339) < 5e-5);
	make(&small, c, d, &(struct diff_options){0});
	row = row_of(&small, "hit");
	assert_true(fabs(row->change_low - 0.1705) < 5e-5);
	assert_true(fabs(row->change_high - 0.8090) < 5e-5);
}

static void wilson_holds_at_the_ends(void **state)
{
	struct interval none = interval_of_share_score(0, 10, 0.95);
	struct interval all = interval_of_share_score(1, 10, 0.95);

	(void)state;
	assert_true(none.lo == 0 && fabs(none.hi - 0.2775) < 5e-5);
	assert_true(all.hi == 1 && fabs(all.lo - 0.7225) < 5e-5);
}

static const char before[] = "event cpu-clock ns\nperiod 1000000\nexecution 2 2\n"
			     "1000 main;slow\n500 main;other\n500 main;third\n";

static void a_faster_function_has_changed_and_the_others_cost_the_same(void **state)
{
	run_auto struct run *a = profile_text_run(before);
	run_auto struct run *b =
		profile_text_run("event cpu-clock ns\nperiod 1000000\nexecution 2 2\n"
				 "400 main;slow\n502 main;other\n498 main;third\n");
	diff_profile_auto struct diff_view view = {0};
	const struct diff_row *slow, *other;

	(void)state;
	make(&view, a, b, &(struct diff_options){0});
	slow = row_of(&view, "slow");
	assert_ptr_equal(slow, &view.rows.at[0]);
	assert_int_equal(slow->verdict, DIFF_CHANGED);
	assert_true(slow->cost_changed && slow->cost_high < 0);
	assert_true(fabs(slow->cost_change + 600e6) < 1);
	other = row_of(&view, "other");
	assert_int_equal(other->verdict, DIFF_CHANGED); /* its share did: 25 to 36 % */
	assert_false(other->cost_changed);
	assert_true(fabs(view.a.cost - 2e9) < 1 && fabs(view.b.cost - 1.4e9) < 1);
	assert_string_equal(view.unit, "ns");
}

static void costs_are_per_execution(void **state)
{
	run_auto struct run *a = profile_text_run(before);
	run_auto struct run *twice = profile_text_run(
		"event cpu-clock ns\nperiod 1000000\nexecution 2 2\nexecution 2 2\n"
		"2000 main;slow\n1000 main;other\n1000 main;third\n");
	diff_profile_auto struct diff_view view = {0};

	(void)state;
	make(&view, a, twice, &(struct diff_options){0});
	assert_int_equal(view.counts[DIFF_CHANGED], 0);
	assert_false(row_of(&view, "slow")->cost_changed);
	assert_true(fabs(view.a.cost - view.b.cost) < 1);
}

static void a_function_that_came_or_went_is_a_row(void **state)
{
	run_auto struct run *a = profile_text_run("event cycles\n900 main;kept\n100 main;gone\n");
	run_auto struct run *b = profile_text_run("event cycles\n900 main;kept\n100 main;new\n");
	diff_profile_auto struct diff_view view = {0};

	(void)state;
	make(&view, a, b, &(struct diff_options){0});
	assert_true(row_of(&view, "gone")->b_samples == 0);
	assert_true(row_of(&view, "new")->a_samples == 0);
	assert_int_equal(row_of(&view, "gone")->verdict, DIFF_CHANGED);
	assert_int_equal(row_of(&view, "kept")->verdict, DIFF_SAME);
}

static void a_renamed_program_is_still_the_same_module(void **state)
{
	run_auto struct run *a =
		profile_text_run("event cycles\n10 main@/x/old\n10 f@/l/libc.so\n");
	run_auto struct run *b =
		profile_text_run("event cycles\n10 main@/y/new\n10 f@/m/libc.so\n");
	diff_profile_auto struct diff_view view = {0}, modules = {0};

	(void)state;
	a->target = run_intern(a, "/x/old --fast");
	b->target = run_intern(b, "./new --fast");
	make(&view, a, b, &(struct diff_options){0});
	assert_int_equal(view.rows.count, 2);
	make(&modules, a, b, &(struct diff_options){.by = PROFILE_MODULE});
	assert_int_equal(modules.rows.count, 2);
}

static void lines_are_matched_by_file_function_and_number(void **state)
{
	run_auto struct run *a = profile_text_run("event cycles\n50 f:1\n50 f:2\n");
	run_auto struct run *b = profile_text_run("event cycles\n50 f:1\n50 f:3\n");
	diff_profile_auto struct diff_view view = {0};

	(void)state;
	make(&view, a, b, &(struct diff_options){.by = PROFILE_LINE});
	assert_int_equal(view.rows.count, 3);
	assert_int_equal(view.counts[DIFF_CHANGED], 2);
}

static void what_cannot_be_compared_is_refused_with_the_reasons(void **state)
{
	run_auto struct run *clock = profile_text_run("event cpu-clock\n10 main\n");
	run_auto struct run *cycles = profile_text_run("event cycles\n10 main\n");
	run_auto struct run *counts = profile_text_run("command stat\nevent cycles\n");
	run_auto struct run *ore = profile_text_run("event cycles\nfield cpu model Ore\n9 main\n");
	run_auto struct run *tin = profile_text_run("event cycles\nfield cpu model Tin\n9 main\n");
	diff_profile_auto struct diff_view events = {0}, kinds = {0}, machines = {0}, forced = {0};
	struct diff_view none;
	struct err err = {0};

	(void)state;
	make(&events, clock, cycles, &(struct diff_options){0});
	assert_int_equal(events.refusals.count, 1);
	assert_non_null(
		strstr(events.refusals.at[0], "A was sampled by cpu-clock and B by cycles"));
	assert_int_equal(events.rows.count, 0);
	make(&kinds, cycles, counts, &(struct diff_options){0});
	assert_non_null(strstr(kinds.refusals.at[0], "only A has samples"));
	make(&machines, ore, tin, &(struct diff_options){0});
	assert_non_null(strstr(machines.refusals.at[0], "cpu.model is Ore in A and Tin in B"));
	make(&forced, ore, tin, &(struct diff_options){.force = true});
	assert_int_equal(forced.refusals.count, 0);
	assert_int_equal(forced.rows.count, 1);
	assert_true(diff_profile_make(counts, counts, &(struct diff_options){0}, &none, &err) < 0);
	assert_non_null(strstr(err.hint, "assay record"));
}

static void without_periods_or_whole_runs_there_is_no_cost(void **state)
{
	run_auto struct run *a = profile_text_run(before);
	run_auto struct run *bare =
		profile_text_run("event cpu-clock ns\nperiod 0\n10 main;slow\n");
	run_auto struct run *part = profile_text_run("event cpu-clock ns\npartial\n10 main;slow\n");
	diff_profile_auto struct diff_view one = {0}, two = {0};

	(void)state;
	make(&one, a, bare, &(struct diff_options){0});
	assert_true(isnan(one.rows.at[0].cost_change) && one.cost_reason);
	assert_false(one.rows.at[0].cost_changed);
	make(&two, a, part, &(struct diff_options){0});
	assert_true(isnan(two.rows.at[0].cost_change) && two.cost_reason);
}

static void weights_that_differ_make_fewer_trials(void **state)
{
	run_auto struct run *even = profile_text_run("event cycles\nperiod 5\n100 main\n");
	run_auto struct run *odd =
		profile_text_run("event cycles\nperiod 1\n50 main\nperiod 9\n50 main\n");
	diff_profile_auto struct diff_view view = {0};

	(void)state;
	make(&view, even, odd, &(struct diff_options){0});
	assert_true(fabs(view.a.trials - 100) < 1e-9);
	assert_true(fabs(view.b.trials - 500.0 * 500 / (50 + 50 * 81)) < 1e-9);
}

/* A folded file has one row per stack, with the number of its samples. */
static void a_row_of_many_samples_is_as_many_trials(void **state)
{
	run_auto struct run *one = profile_text_run("event samples\n60 main;f\n40 main;g\n");
	run_auto struct run *merged =
		profile_text_run("event samples\nperiod 60\n1 main;f\nperiod 40\n1 main;g\n");
	diff_profile_auto struct diff_view view = {0};

	(void)state;
	merged->events.at[0].flags |= EVENT_MERGED;
	make(&view, one, merged, &(struct diff_options){0});
	assert_true(fabs(view.a.trials - 100) < 1e-9);
	assert_true(fabs(view.b.trials - 100) < 1e-9);
}

/* ---- calibration ---- */

enum { FUNCTIONS = 40, SAMPLES = 2000, ROUNDS = 300 };

static uint64_t next_random(uint64_t *state) /* splitmix64 */
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* A run with one stack for each function, and then samples of them by these shares. */
static struct run *draw(const double *shares, uint64_t *random)
{
	struct run *run = profile_text_run("event cpu-clock ns\nexecution 1 1\n");
	row_id module = run_add_module(run, &(struct module_row){run_intern(run, "prog"), 0, 0});

	for (unsigned i = 0; i < FUNCTIONS; i++) {
		char name[16];
		row_id function, frame, location;

		snprintf(name, sizeof(name), "f%u", i);
		function = run_add_function(run,
			&(struct function_row){.name = run_intern(run, name), .module = module});
		frame = run_add_frame(run, &(struct frame_row){.function = function});
		location = run_add_location(run, &(struct location_row){module, i, frame, 0});
		run_add_stack(run, &(struct stack_row){0, location});
	}
	for (unsigned i = 0; i < SAMPLES; i++) {
		double at = (double)(next_random(random) >> 11) / 0x1p53;
		unsigned chosen = 0;

		while (chosen + 1 < FUNCTIONS && at >= shares[chosen])
			at -= shares[chosen++];
		run_add_sample(run, &(struct sample_row){i, 1, 1, 0, chosen + 1, 0, 0});
	}
	return run;
}

/* Shares that fall like 1/i; `slowed` times the first one. */
static void shares_make(double *shares, double slowed)
{
	double sum = 0;

	for (unsigned i = 0; i < FUNCTIONS; i++)
		sum += shares[i] = (i ? 1.0 : slowed) / (i + 1);
	for (unsigned i = 0; i < FUNCTIONS; i++)
		shares[i] /= sum;
}

struct tally {
	unsigned rounds_with_change, first_changed, rows, covered, worst_covered;
};

static void simulate(double slowed, struct tally *ret_tally)
{
	double a_shares[FUNCTIONS], b_shares[FUNCTIONS];
	unsigned covered[FUNCTIONS] = {0};
	uint64_t random = 20240229;

	*ret_tally = (struct tally){.worst_covered = ROUNDS};
	shares_make(a_shares, 1);
	shares_make(b_shares, slowed);
	for (unsigned round = 0; round < ROUNDS; round++) {
		run_auto struct run *a = draw(a_shares, &random), *b = draw(b_shares, &random);
		diff_profile_auto struct diff_view view = {0};

		make(&view, a, b, &(struct diff_options){0});
		ret_tally->rounds_with_change += view.counts[DIFF_CHANGED] > 0;
		vec_foreach (const struct diff_row, row, &view.rows) {
			unsigned f = (unsigned)atoi(row->name + 1);
			double truth = b_shares[f] - a_shares[f];

			covered[f] += row->change_low <= truth && truth <= row->change_high;
			ret_tally->rows++;
			ret_tally->first_changed += !f && row->verdict == DIFF_CHANGED;
		}
	}
	for (unsigned f = 0; f < FUNCTIONS; f++) {
		ret_tally->covered += covered[f];
		if (covered[f] < ret_tally->worst_covered)
			ret_tally->worst_covered = covered[f];
	}
	print_message("# slowed %.2f: %u of %u rounds with a change, %u of %u intervals cover, "
		      "at least %u of %u\n",
		slowed, ret_tally->rounds_with_change, ROUNDS, ret_tally->covered, ret_tally->rows,
		ret_tally->worst_covered, ROUNDS);
}

static void two_recordings_of_the_same_program_show_no_change(void **state)
{
	struct tally tally;

	(void)state;
	simulate(1, &tally);
	assert_in_range(tally.rounds_with_change, 0, ROUNDS * 5 / 100);
	assert_in_range(tally.covered * 100, tally.rows * 93, tally.rows * 100);
	assert_in_range(tally.worst_covered, ROUNDS * 90 / 100, ROUNDS);
}

static void a_real_change_is_found_and_its_interval_holds_it(void **state)
{
	struct tally tally;

	(void)state;
	simulate(0.6, &tally);
	assert_in_range(tally.first_changed, ROUNDS * 95 / 100, ROUNDS);
	assert_in_range(tally.covered * 100, tally.rows * 93, tally.rows * 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_interval_is_the_published_one),
		cmocka_unit_test(wilson_holds_at_the_ends),
		cmocka_unit_test(a_faster_function_has_changed_and_the_others_cost_the_same),
		cmocka_unit_test(costs_are_per_execution),
		cmocka_unit_test(a_function_that_came_or_went_is_a_row),
		cmocka_unit_test(a_renamed_program_is_still_the_same_module),
		cmocka_unit_test(lines_are_matched_by_file_function_and_number),
		cmocka_unit_test(what_cannot_be_compared_is_refused_with_the_reasons),
		cmocka_unit_test(without_periods_or_whole_runs_there_is_no_cost),
		cmocka_unit_test(weights_that_differ_make_fewer_trials),
		cmocka_unit_test(a_row_of_many_samples_is_as_many_trials),
		cmocka_unit_test(two_recordings_of_the_same_program_show_no_change),
		cmocka_unit_test(a_real_change_is_found_and_its_interval_holds_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
