/* plan_test.c - what the main job does with its time. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "analyze/plan.h"

#define MS 1000000ULL
#define S 1000000000ULL

enum { BASELINE, OBSERVED, PROFILE, COUNTERS, CAUSAL, EVENTS, CALLS, PHASES };

struct fixture {
	struct plan_input input;
	struct plan_wish wishes[PHASES];
	struct plan_step steps[PHASES];
};

static struct fixture begin(uint64_t run_ns, uint64_t budget_ns)
{
	return (struct fixture){
		.input = {.run_ns = run_ns, .budget_ns = budget_ns, .spent_ns = S + run_ns},
		.wishes = {{.phase = "baseline", .kind = PLAN_REPEATED},
			{.phase = "observed", .kind = PLAN_WHOLE},
			{.phase = "profile", .kind = PLAN_WHOLE},
			{.phase = "counters", .kind = PLAN_SIMULATED},
			{.phase = "causal", .kind = PLAN_EXPERIMENT},
			{.phase = "events", .kind = PLAN_QUICK},
			{.phase = "calls", .kind = PLAN_SIMULATED}},
	};
}

static void plan(struct fixture *f)
{
	plan_make(&f->input, f->wishes, PHASES, f->steps);
}

static const char *reason_of(const struct plan_step *step)
{
	return step->reason ? step->reason : "";
}

static void the_budget_is_kept_for_programs_of_any_length(void **state)
{
	static const uint64_t runs[] = {
		MS, 20 * MS, 300 * MS, S, 2 * S, 5 * S, 9 * S, 12 * S, 14 * S};
	static const uint64_t budgets[] = {10 * S, 60 * S, 120 * S, 600 * S};

	(void)state;
	for (unsigned b = 0; b < 4; b++)
		for (unsigned r = 0; r < 9; r++)
			for (unsigned endless = 0; endless < 2; endless++) {
				struct fixture f = begin(runs[r], budgets[b]);

				if (runs[r] > plan_trial_limit_ns(budgets[b]))
					continue;
				f.input.endless = endless;
				plan(&f);
				assert_true(f.input.spent_ns + plan_expected_ns(f.steps, PHASES) <=
					    budgets[b]);
			}
}

static void a_program_of_five_seconds_gets_every_phase_in_a_minute(void **state)
{
	struct fixture f = begin(5 * S, 60 * S);

	(void)state;
	plan(&f);
	for (unsigned i = 0; i < PHASES; i++)
		assert_false(f.steps[i].skipped);
	assert_true(f.steps[BASELINE].runs >= 3);
	assert_false(f.steps[PROFILE].watches);
	assert_true(f.steps[COUNTERS].watches); /* 250 s whole */
	assert_true(f.steps[CAUSAL].share_ns >= 5 * S);
}

static void two_simulations_share_what_experiments_leave(void **state)
{
	struct fixture f = begin(5 * S, 60 * S);

	(void)state;
	plan(&f);
	assert_int_equal(f.steps[COUNTERS].share_ns, f.steps[CALLS].share_ns);
	assert_true(f.steps[CAUSAL].share_ns > f.steps[CALLS].share_ns);
	f = begin(9 * S, 60 * S); /* too little for both */
	f.input.spent_ns += 6 * S;
	plan(&f);
	assert_false(f.steps[COUNTERS].skipped || f.steps[CAUSAL].skipped);
	assert_true(f.steps[CALLS].skipped);
	assert_non_null(strstr(reason_of(&f.steps[CALLS]), "left for simulation"));
	f = begin(20 * MS, 60 * S);
	plan(&f);
	assert_false(f.steps[COUNTERS].watches || f.steps[CALLS].watches);
}

static void a_smaller_input_is_run_once_and_may_be_simulated_in_place_of_the_whole(void **state)
{
	struct fixture f = begin(4 * S, 60 * S);

	(void)state;
	f.wishes[EVENTS] = (struct plan_wish){.phase = "smaller", .kind = PLAN_PART, .run_ns = S};
	f.wishes[CALLS].run_ns = 50 * MS;
	plan(&f);
	assert_int_equal(f.steps[EVENTS].runs, 1);
	assert_true(f.steps[EVENTS].expected_ns >= S && f.steps[EVENTS].expected_ns < 2 * S);
	assert_true(f.steps[EVENTS].rate_hz > 997);
	assert_false(f.steps[CALLS].watches);
	assert_true(f.steps[COUNTERS].watches);
	f.input.endless = true;
	plan(&f);
	assert_true(f.steps[EVENTS].skipped);
	f = begin(5 * MS, 60 * S);
	f.wishes[EVENTS] = (struct plan_wish){.phase = "smaller", .kind = PLAN_PART, .run_ns = MS};
	plan(&f);
	assert_true(f.steps[EVENTS].skipped); /* no samples to speak of */
}

static void a_short_program_is_run_often_and_simulated_whole(void **state)
{
	struct fixture f = begin(50 * MS, 60 * S);

	(void)state;
	plan(&f);
	assert_true(f.steps[BASELINE].runs >= 20 && f.steps[BASELINE].runs <= 100);
	assert_false(f.steps[COUNTERS].watches);
	assert_true(f.steps[CAUSAL].skipped);
	assert_non_null(strstr(reason_of(&f.steps[CAUSAL]), "shorter than an experiment"));
	assert_true(f.steps[PROFILE].rate_hz > 997); /* few samples otherwise */
}

static void whole_runs_of_a_short_program_with_threads_are_experiments(void **state)
{
	static const struct {
		uint64_t run_ns;
		double cpus;
		bool skipped;
	} cases[] = {{300 * MS, 1.0, true}, {300 * MS, 1.6, false}, {30 * MS, 1.6, true},
		{2 * S, 1.0, false}};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fixture f = begin(cases[i].run_ns, 60 * S);

		f.input.cpus = cases[i].cpus;
		plan(&f);
		assert_int_equal(f.steps[CAUSAL].skipped, cases[i].skipped);
	}
}

static void an_endless_program_is_watched_and_has_no_baseline(void **state)
{
	struct fixture f = begin(15 * S, 60 * S);

	(void)state;
	f.input.endless = true;
	plan(&f);
	assert_true(f.steps[BASELINE].skipped);
	assert_true(*reason_of(&f.steps[BASELINE]) && *f.steps[BASELINE].fix);
	assert_true(f.steps[OBSERVED].watches && f.steps[PROFILE].watches);
	assert_true(f.steps[PROFILE].limit_ns < f.steps[PROFILE].expected_ns);
	assert_false(f.steps[CAUSAL].skipped);
}

static void ten_seconds_still_give_a_look_and_a_profile(void **state)
{
	struct fixture f = begin(2500 * MS, 10 * S);

	(void)state;
	f.input.endless = true;
	plan(&f);
	assert_false(f.steps[OBSERVED].skipped);
	assert_false(f.steps[PROFILE].skipped);
	assert_true(f.steps[CAUSAL].skipped);
}

static void a_refused_phase_keeps_its_reason_and_leaves_its_time_to_others(void **state)
{
	struct fixture f = begin(5 * S, 60 * S), without = begin(5 * S, 60 * S);

	(void)state;
	without.wishes[COUNTERS].refused = "valgrind is not installed";
	without.wishes[COUNTERS].fix = "install it";
	plan(&f);
	plan(&without);
	assert_true(without.steps[COUNTERS].skipped);
	assert_string_equal(without.steps[COUNTERS].reason, "valgrind is not installed");
	assert_string_equal(without.steps[COUNTERS].fix, "install it");
	assert_true(without.steps[CAUSAL].share_ns > f.steps[CAUSAL].share_ns);
}

static void what_is_done_takes_nothing_any_more(void **state)
{
	struct fixture f = begin(5 * S, 60 * S);

	(void)state;
	f.input.spent_ns = 40 * S;
	f.wishes[BASELINE].done = f.wishes[OBSERVED].done = f.wishes[PROFILE].done = true;
	plan(&f);
	assert_int_equal(f.steps[BASELINE].expected_ns, 0);
	assert_int_equal(f.steps[PROFILE].expected_ns, 0);
	assert_true(f.steps[CAUSAL].share_ns > 5 * S);
}

/* A run of 2.4 s in a minute: the experiments end after 35 s. */
static void whole_runs_keep_their_part_when_the_experiments_are_done(void **state)
{
	struct fixture f = begin(2400 * MS, 60 * S);

	(void)state;
	f.input.spent_ns = 35 * S;
	f.wishes[OBSERVED].done = f.wishes[PROFILE].done = f.wishes[CAUSAL].done = true;
	plan(&f);
	assert_in_range(f.steps[BASELINE].runs, 5, 8);
	assert_true(f.steps[COUNTERS].share_ns > 4 * S);
}

static void a_comparison_asks_for_more_runs(void **state)
{
	struct fixture f = begin(3 * S, 60 * S);

	(void)state;
	f.input.runs_least = 6;
	plan(&f);
	assert_true(f.steps[BASELINE].runs >= 6);
}

static void fewer_whole_runs_than_wanted_are_better_than_none(void **state)
{
	struct fixture f = begin(7 * S, 60 * S);

	(void)state;
	for (unsigned i = 0; i < PHASES; i++)
		f.wishes[i].done = i != BASELINE;
	f.input.spent_ns = 42 * S;
	plan(&f);
	assert_false(f.steps[BASELINE].skipped);
	assert_int_equal(f.steps[BASELINE].runs, 2);
}

/* A slow program, or a machine that others use: the reason of the slowness comes first. */
static void a_long_run_leaves_room_for_simulation_and_experiments(void **state)
{
	struct fixture f = begin(10 * S, 60 * S);

	(void)state;
	plan(&f);
	assert_false(f.steps[COUNTERS].skipped);
	assert_false(f.steps[CAUSAL].skipped);
	assert_false(f.steps[BASELINE].skipped);
	assert_int_equal(f.steps[BASELINE].runs, 1);
	/* Where they cannot be had anyway, the runs are not given up. */
	f.wishes[COUNTERS].refused = f.wishes[CAUSAL].refused = "no";
	plan(&f);
	assert_true(f.steps[BASELINE].runs >= 2);
}

static void a_phase_that_watches_keeps_the_share_that_was_promised(void **state)
{
	struct fixture f = begin(15 * S, 60 * S);
	uint64_t promised;

	(void)state;
	f.input.endless = true;
	plan(&f);
	promised = f.steps[PROFILE].expected_ns;
	assert_true(f.steps[PROFILE].watches);
	f.wishes[OBSERVED].done = true;
	f.input.spent_ns += f.steps[OBSERVED].expected_ns;
	plan(&f);
	assert_true(f.steps[PROFILE].expected_ns <= promised + S);
	assert_true(f.steps[PROFILE].expected_ns + S >= promised);
}

/* Others' share of the CPUs decides who gets the time, while there are experiments to make. */
static void beside_other_programs_experiments_get_the_time_of_whole_runs(void **state)
{
	static const struct {
		double others;
		uint64_t run_ns;
		bool refused, compares;
		int fewer; /* whole runs than on a quiet machine: 1 fewer, 0 the same */
	} cases[] = {
		{(double)NAN, 2 * S, false, false, 0}, /* it was not observed */
		{0.05, 2 * S, false, false, 0}, {0.15, 2 * S, false, false, 1},
		{0.56, 2 * S, false, false, 1},
		{0.56, 2 * S, false, true, 0},	/* a comparison needs its runs */
		{0.56, 2 * S, true, false, 0},	/* nobody else wants the time */
		{0.56, 5 * S, false, false, 0}, /* three are the fewest */
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fixture quiet = begin(cases[i].run_ns, 60 * S), busy;

		quiet.input.runs_least = cases[i].compares ? 6 : 0;
		quiet.wishes[CAUSAL].refused = cases[i].refused ? "no" : NULL;
		busy = quiet;
		busy.input.others_share = cases[i].others;
		plan(&quiet);
		plan(&busy);
		assert_int_equal(
			busy.steps[BASELINE].runs < quiet.steps[BASELINE].runs, cases[i].fewer);
		assert_int_equal(
			busy.steps[CAUSAL].share_ns > quiet.steps[CAUSAL].share_ns, cases[i].fewer);
		assert_true(busy.steps[BASELINE].runs >= 3);
	}
}

static void with_no_time_left_every_phase_says_so(void **state)
{
	struct fixture f = begin(5 * S, 60 * S);

	(void)state;
	f.input.spent_ns = 60 * S;
	plan(&f);
	for (unsigned i = 0; i < EVENTS; i++) {
		assert_true(f.steps[i].skipped);
		assert_true(*reason_of(&f.steps[i]) && *f.steps[i].fix);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_budget_is_kept_for_programs_of_any_length),
		cmocka_unit_test(a_program_of_five_seconds_gets_every_phase_in_a_minute),
		cmocka_unit_test(
			a_smaller_input_is_run_once_and_may_be_simulated_in_place_of_the_whole),
		cmocka_unit_test(two_simulations_share_what_experiments_leave),
		cmocka_unit_test(a_short_program_is_run_often_and_simulated_whole),
		cmocka_unit_test(whole_runs_of_a_short_program_with_threads_are_experiments),
		cmocka_unit_test(an_endless_program_is_watched_and_has_no_baseline),
		cmocka_unit_test(ten_seconds_still_give_a_look_and_a_profile),
		cmocka_unit_test(a_refused_phase_keeps_its_reason_and_leaves_its_time_to_others),
		cmocka_unit_test(what_is_done_takes_nothing_any_more),
		cmocka_unit_test(whole_runs_keep_their_part_when_the_experiments_are_done),
		cmocka_unit_test(a_comparison_asks_for_more_runs),
		cmocka_unit_test(fewer_whole_runs_than_wanted_are_better_than_none),
		cmocka_unit_test(a_long_run_leaves_room_for_simulation_and_experiments),
		cmocka_unit_test(a_phase_that_watches_keeps_the_share_that_was_promised),
		cmocka_unit_test(beside_other_programs_experiments_get_the_time_of_whole_runs),
		cmocka_unit_test(with_no_time_left_every_phase_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
