/* causal_next_test.c - trials go where the order of the targets is open: the right first place is
 * found with fewer of them than by narrowing the widest bounds, which is what was done before
 * (docs/decisions/031 has the table; ASSAY_TRIALS=400 prints it). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/causal.h"
#include "base/distribution.h"
#include "base/vec.h"

enum { TARGETS = 4, LEVEL = 1, ROUNDS = 100, LEVELS_OF_RUN = 0x05 }; /* 25 and 75 % left out */
#define HALF_WIDTH 0.03

typedef vec_of(struct causal_trial) trial_vec;

/* What each target gains when it takes no time; the first is the right one. */
struct program {
	const char *name;
	double gain[TARGETS];
	double noise; /* of the time of a window */
	uint32_t trials;
};

typedef struct causal_cell chooser(
	const trial_vec *trials, const struct causal_candidate *candidates, struct random *random);

static struct causal_cell by_doubt(
	const trial_vec *trials, const struct causal_candidate *candidates, struct random *random)
{
	return causal_next_cell(trials->at, trials->count, candidates, TARGETS, HALF_WIDTH, random);
}

static double openness_of(const struct causal_curve *curve, uint32_t level)
{
	const struct causal_gain *gain = &curve->gains[level];

	if (!curve->trials)
		return 1.6;
	if (!gain->is_known || gain->trials < 4)
		return 0.8 / (1 + gain->trials);
	return gain->hi - gain->lo;
}

static double promise_of(const struct causal_curve *curve, double share)
{
	for (uint32_t i = CAUSAL_LEVELS; i--;)
		if (curve->gains[i].is_known && curve->gains[i].trials >= 4)
			return fmax(curve->gains[i].hi, 0);
	return fmin(0.3 + share, 1);
}

/* The rule before: 1 / n, wherever the bounds are wide and the gain may be large. */
static struct causal_cell by_width(
	const trial_vec *trials, const struct causal_candidate *candidates, struct random *random)
{
	struct causal_cell cell = {.done = true};
	double best = 0;

	for (uint32_t target = 0; target < TARGETS; target++) {
		struct causal_curve curve;
		double promise;

		causal_curve_make(trials->at, trials->count, target, &curve);
		promise = promise_of(&curve, candidates[target].sample_share);
		for (uint32_t level = LEVEL; level < CAUSAL_LEVELS; level += 2) {
			double score = (openness_of(&curve, level) - 2 * HALF_WIDTH) * promise /
				       (1 + curve.gains[level].trials / 6.0) *
				       (0.75 + 0.5 * random_share(random));

			if (promise <= 0.05 || score <= best)
				continue;
			best = score;
			cell = (struct causal_cell){target, level, false};
		}
	}
	return cell;
}

static double normal(struct random *random)
{
	return normal_quantile(random_share(random) * 0.9998 + 0.0001);
}

static struct causal_trial trial_of(
	const struct program *program, const struct causal_cell *cell, struct random *random)
{
	double speedup = causal_levels[cell->level], noise = program->noise;

	return (struct causal_trial){
		.target = cell->target,
		.speedup = speedup,
		.base = {2e8 * exp(noise * normal(random)), 100, 0},
		.sped = {2e8 * (1 - speedup * program->gain[cell->target]) *
				 exp(noise * normal(random)),
			100, 0},
		.hits = 80,
		.delay_share = 0.25 * speedup,
	};
}

/* What came of many runs of one program. */
struct tally {
	double right;	/* runs in which the first target is first */
	double settled; /* and no other one reaches into its bounds */
	double flat;	/* targets that gain nothing and are called flat, of those */
	double wrong;	/* runs in which another one is settled to be first */
	double useless; /* trials on targets that gain nothing */
	double trials;
};

static void tally_add(const struct program *program, const trial_vec *trials, struct tally *tally)
{
	struct causal_curve curves[TARGETS];
	uint32_t first = 0, flat = 0, useless = 0;
	bool overlap = false;

	for (uint32_t i = 0; i < TARGETS; i++) {
		causal_curve_make(trials->at, trials->count, i, &curves[i]);
		if (curves[i].gains[LEVEL].gain > curves[first].gains[LEVEL].gain)
			first = i;
		useless += program->gain[i] <= 0;
		flat += program->gain[i] <= 0 && curves[i].class == CAUSAL_FLAT;
		tally->useless += program->gain[i] <= 0 ? curves[i].trials : 0;
	}
	for (uint32_t i = 0; i < TARGETS; i++)
		overlap |= i != first && curves[i].gains[LEVEL].hi > curves[first].gains[LEVEL].lo;
	tally->right += first == 0;
	tally->settled += first == 0 && !overlap;
	tally->wrong += first != 0 && !overlap;
	tally->flat += useless ? (double)flat / useless : 0;
	tally->trials += trials->count;
}

static struct tally runs_of(const struct program *program, chooser *choose, uint32_t rounds)
{
	/* The hottest one gains nothing, as in the example that people try first. */
	static const struct causal_candidate candidates[TARGETS] = {{0.2, false, LEVELS_OF_RUN},
		{0.2, false, LEVELS_OF_RUN}, {0.15, false, LEVELS_OF_RUN},
		{0.4, false, LEVELS_OF_RUN}};
	struct tally tally = {0};

	for (uint32_t seed = 1; seed <= rounds; seed++) {
		struct random random;
		trial_vec trials = {0};

		random_seed(&random, seed);
		while (trials.count < program->trials) {
			struct causal_cell cell = choose(&trials, candidates, &random);

			if (cell.done)
				break;
			vec_push(&trials, trial_of(program, &cell, &random));
		}
		tally_add(program, &trials, &tally);
		vec_done(&trials);
	}
	tally.right /= rounds;
	tally.settled /= rounds;
	tally.wrong /= rounds;
	tally.flat /= rounds;
	tally.useless /= rounds;
	tally.trials /= rounds;
	return tally;
}

static const struct program programs[] = {
	{"0.60 0.45 0 0, noise 5 %", {0.6, 0.45, 0, 0}, 0.05, 0},
	{"0.60 0.50 0 0, noise 5 %", {0.6, 0.5, 0, 0}, 0.05, 0},
	{"0.60 0.50 0.30 0, noise 5 %", {0.6, 0.5, 0.3, 0}, 0.05, 0},
	{"0.40 0.20 0 0, noise 10 %", {0.4, 0.2, 0, 0}, 0.1, 0},
	{"0.40 0.30 0.20 0, noise 10 %", {0.4, 0.3, 0.2, 0}, 0.1, 0},
	{"0.30 0 0 0, noise 10 %", {0.3, 0, 0, 0}, 0.1, 0},
	{"0.50 0.40 0 0, noise 2 %", {0.5, 0.4, 0, 0}, 0.02, 0},
	{"0.50 0.50 0 0, noise 2 %", {0.5, 0.5, 0, 0}, 0.02, 0},
	{"0.50 0 0 0, noise 2 %", {0.5, 0, 0, 0}, 0.02, 0},
};
enum { PROGRAMS = sizeof(programs) / sizeof(*programs) };

static uint32_t rounds_asked(void)
{
	const char *text = getenv("ASSAY_TRIALS");

	return text ? (uint32_t)atoi(text) : 0;
}

static void table_print(uint32_t rounds)
{
	static const uint32_t budgets[] = {24, 36, 48, 72};

	for (uint32_t i = 0; i < PROGRAMS; i++)
		for (uint32_t b = 0; b < sizeof(budgets) / sizeof(*budgets); b++) {
			struct program program = programs[i];
			struct tally old, new;

			program.trials = budgets[b];
			old = runs_of(&program, by_width, rounds);
			new = runs_of(&program, by_doubt, rounds);
			print_message(
				"# | %s | %u | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f "
				"| %.0f | %.1f | %.1f |\n",
				program.name, budgets[b], 100 * old.right, 100 * new.right,
				100 * old.settled, 100 * new.settled, 100 * old.wrong,
				100 * new.wrong, 100 * old.flat, 100 * new.flat, old.useless,
				new.useless);
		}
}

/* The share of right first places over all programs that have one. */
static double right_of(chooser *choose, uint32_t trials)
{
	double sum = 0, count = 0;

	for (uint32_t i = 0; i < PROGRAMS; i++) {
		struct program program = programs[i];

		if (program.gain[0] <= program.gain[1])
			continue;
		program.trials = trials;
		sum += runs_of(&program, choose, ROUNDS).right;
		count++;
	}
	return sum / count;
}

static void the_first_place_is_found_with_fewer_trials_than_by_the_widest_bounds(void **state)
{
	uint32_t rounds = rounds_asked();
	double few, many;

	(void)state;
	if (rounds)
		table_print(rounds);
	few = right_of(by_doubt, 24);
	many = right_of(by_width, 32);
	print_message("# right: %.3f with 24 trials, %.3f with 32 by width\n", few, many);
	assert_true(few > many);
}

static void every_target_has_bounds_before_one_gets_more(void **state)
{
	const struct program program = {"", {0.5, 0.45, 0, 0}, 0.05, 0};
	static const struct causal_candidate candidates[TARGETS] = {{0.2, false, LEVELS_OF_RUN},
		{0.2, false, LEVELS_OF_RUN}, {0.15, false, LEVELS_OF_RUN},
		{0.4, false, LEVELS_OF_RUN}};
	struct random random;
	trial_vec trials = {0};
	struct causal_curve curve;
	uint32_t of_race = 0;

	(void)state;
	random_seed(&random, 3);
	for (uint32_t i = 0; i < 40; i++) {
		struct causal_cell cell = by_doubt(&trials, candidates, &random);

		assert_false(cell.done);
		if (!i)
			assert_int_equal(cell.target, 3); /* the hottest */
		of_race += i >= 4 * TARGETS && cell.target < 2 && cell.level == LEVEL;
		vec_push(&trials, trial_of(&program, &cell, &random));
		if (i + 1 != 4 * TARGETS)
			continue;
		for (uint32_t target = 0; target < TARGETS; target++) {
			causal_curve_make(trials.at, trials.count, target, &curve);
			assert_int_equal(curve.gains[LEVEL].trials, 4);
			assert_true(curve.gains[LEVEL].is_known);
		}
	}
	assert_true(of_race >= 17 && of_race < 24); /* three of four, and one for the others */
	vec_done(&trials);
}

static void a_level_that_nobody_else_asks_for_is_tried_too(void **state)
{
	const struct causal_candidate candidate = {.sample_share = 0.5, .left_out = 0x0e};
	struct random random;
	struct causal_cell cell;

	(void)state;
	random_seed(&random, 1);
	cell = causal_next_cell(NULL, 0, &candidate, 1, HALF_WIDTH, &random);
	assert_false(cell.done);
	assert_int_equal(cell.level, 0); /* --speedup 25 */
}

/* Windows without a visit say nothing, however many there are. */
static void a_target_that_tells_nothing_does_not_keep_the_others_waiting(void **state)
{
	const struct program program = {"", {0.5, 0.2, 0, 0}, 0.02, 0};
	static const struct causal_candidate candidates[TARGETS] = {{0.2, false, LEVELS_OF_RUN},
		{0.2, false, LEVELS_OF_RUN}, {0.15, false, LEVELS_OF_RUN},
		{0.4, false, LEVELS_OF_RUN}};
	uint32_t spent[TARGETS] = {0};
	struct random random;
	trial_vec trials = {0};

	(void)state;
	random_seed(&random, 9);
	for (uint32_t i = 0; i < 60; i++) {
		struct causal_cell cell = by_doubt(&trials, candidates, &random);
		struct causal_trial trial = trial_of(&program, &cell, &random);

		assert_false(cell.done);
		spent[cell.target]++;
		if (cell.target == 3)
			trial.base.visits = trial.sped.visits = 0;
		vec_push(&trials, trial);
	}
	assert_true(spent[0] >= 4 && spent[1] >= 4 && spent[2] >= 4);
	vec_done(&trials);
}

/* Many trials at the level of the race are no reason to leave the other one out. */
static void the_first_two_get_bounds_at_all_of_the_work_too(void **state)
{
	const struct program program = {"", {0.5, 0.1, 0, 0}, 0.02, 0};
	const struct causal_candidate candidate = {0.5, false, 0};
	struct random random;
	trial_vec trials = {0};

	(void)state;
	random_seed(&random, 5);
	for (uint32_t i = 0; i < 16; i++)
		vec_push(&trials,
			trial_of(&program, &(struct causal_cell){0, LEVEL, false}, &random));
	for (uint32_t i = 0; i < 4; i++) {
		struct causal_cell cell = causal_next_cell(
			trials.at, trials.count, &candidate, 1, HALF_WIDTH, &random);

		assert_false(cell.done);
		assert_int_equal(cell.level, CAUSAL_LEVELS - 1);
		vec_push(&trials, trial_of(&program, &cell, &random));
	}
	vec_done(&trials);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_first_place_is_found_with_fewer_trials_than_by_the_widest_bounds),
		cmocka_unit_test(every_target_has_bounds_before_one_gets_more),
		cmocka_unit_test(a_level_that_nobody_else_asks_for_is_tried_too),
		cmocka_unit_test(a_target_that_tells_nothing_does_not_keep_the_others_waiting),
		cmocka_unit_test(the_first_two_get_bounds_at_all_of_the_work_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
