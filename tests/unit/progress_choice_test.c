/* progress_choice_test.c - the function that counts the work is found among those that do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/progress_choice.h"

enum { SLICES = 10 };
#define SLICE_NS 100000000ULL

static const struct progress_slices slices = {.count = SLICES, .each_ns = SLICE_NS};
static const uint64_t even[SLICES] = {30, 31, 29, 30, 30, 31, 30, 29, 30, 30};
static const uint64_t often[SLICES] = {600, 602, 598, 600, 601, 599, 600, 600, 600, 600};
static const uint64_t bursts[SLICES] = {0, 0, 300, 0, 0, 0, 0, 0, 0, 0};
static const uint64_t rare[SLICES] = {0, 1, 0, 0, 0, 0, 0, 0, 1, 0};
static const uint64_t hot[SLICES] = {20000, 20000, 20000, 20000, 20000, 20000};

static void an_even_one_wins_over_rare_hot_and_bursty_ones(void **state)
{
	const struct progress_candidate candidates[] = {
		{.name = "burst", .visits = bursts},
		{.name = "rare", .visits = rare},
		{.name = "hot", .visits = hot},
		{.name = "gone", .visits = rare, .is_hot = true},
		{.name = "round", .visits = even},
		{.name = "step", .visits = often},
	};
	struct progress_rank ranks[PROGRESS_CANDIDATES_MAX];

	(void)state;
	assert_int_equal(progress_choose(candidates, 6, &slices, ranks), 6);
	assert_int_equal(ranks[0].candidate, 4);
	assert_true(ranks[0].per_second > 299 && ranks[0].per_second < 301);
	assert_int_equal(ranks[1].candidate, 5);
	assert_int_equal(ranks[1].verdict, PROGRESS_FIT);
	for (uint32_t i = 2; i < 6; i++)
		switch (ranks[i].candidate) {
		case 0:
			assert_int_equal(ranks[i].verdict, PROGRESS_UNEVEN);
			break;
		case 1:
			assert_int_equal(ranks[i].verdict, PROGRESS_RARE);
			break;
		default:
			assert_int_equal(ranks[i].verdict, PROGRESS_HOT);
		}
}

static void of_those_in_step_the_outermost_wins(void **state)
{
	const struct progress_candidate candidates[] = {
		{.name = "leaf", .visits = even, .callers = 1 << 1 | 1 << 2},
		{.name = "middle", .visits = even, .callers = 1 << 2},
		{.name = "round", .visits = even},
	};
	struct progress_rank ranks[PROGRESS_CANDIDATES_MAX];

	(void)state;
	assert_int_equal(progress_choose(candidates, 3, &slices, ranks), 3);
	assert_int_equal(ranks[0].candidate, 2);
	assert_false(ranks[0].is_inner);
	assert_true(ranks[1].is_inner && ranks[2].is_inner);
}

static void one_that_goes_with_output_wins(void **state)
{
	const struct progress_candidate candidates[] = {
		{.name = "write", .visits = often, .is_output = true},
		{.name = "tick", .visits = even},
		{.name = "answer", .visits = often},
	};
	struct progress_rank ranks[PROGRESS_CANDIDATES_MAX];
	str_auto struct str words = {0};

	(void)state;
	assert_int_equal(progress_choose(candidates, 3, &slices, ranks), 2);
	assert_int_equal(ranks[0].candidate, 2);
	assert_string_equal(ranks[0].output, "write");
	progress_words(&words, candidates, &ranks[0]);
	assert_string_equal(
		str_text(&words), "answer: 6000/s, evenly (varies by 0 %), as often as write()");
}

static void nothing_is_fit_when_nothing_is_called(void **state)
{
	const uint64_t none[SLICES] = {0};
	const struct progress_candidate candidates[] = {{.name = "a", .visits = none}};
	struct progress_rank ranks[PROGRESS_CANDIDATES_MAX];

	(void)state;
	assert_int_equal(progress_choose(candidates, 1, &slices, ranks), 1);
	assert_int_equal(ranks[0].verdict, PROGRESS_RARE);
	assert_int_equal(progress_choose(candidates, 0, &slices, ranks), 0);
	assert_int_equal(progress_choose(candidates, 1, &(struct progress_slices){0}, ranks), 1);
}

static void a_busy_machine_does_not_look_like_bursts(void **state)
{
	const uint64_t visits[SLICES] = {90, 0, 0, 92, 0, 0, 88, 0, 90, 0};
	const uint64_t busy[SLICES] = {75, 0, 0, 75, 0, 1, 75, 0, 75, 0};
	const struct progress_candidate candidates[] = {{.name = "a", .visits = visits}};
	const struct progress_slices uneven = {
		.count = SLICES, .each_ns = SLICE_NS, .busy_ns = busy};
	struct progress_rank ranks[PROGRESS_CANDIDATES_MAX];

	(void)state;
	progress_choose(candidates, 1, &slices, ranks);
	assert_int_equal(ranks[0].verdict, PROGRESS_UNEVEN);
	progress_choose(candidates, 1, &uneven, ranks);
	assert_int_equal(ranks[0].verdict, PROGRESS_FIT);
}

static void what_becomes_rarer_and_rarer_does_not_come_in_bursts(void **state)
{
	static const uint64_t slower[SLICES] = {900, 500, 350, 280, 230, 200, 180, 160, 145, 135};
	const struct progress_candidate candidates[] = {
		{.name = "add", .visits = slower}, {.name = "burst", .visits = bursts}};
	struct progress_rank ranks[PROGRESS_CANDIDATES_MAX];

	(void)state;
	progress_choose(candidates, 2, &slices, ranks);
	assert_int_equal(ranks[0].candidate, 0);
	assert_int_equal(ranks[0].verdict, PROGRESS_FIT);
	assert_int_equal(ranks[1].verdict, PROGRESS_UNEVEN);
}

static void where_most_of_the_time_is_more_bursts_are_taken(void **state)
{
	static const uint64_t uneven[SLICES] = {60, 10, 55, 8, 30, 60, 12, 40, 15, 10};
	const struct progress_candidate candidates[] = {
		{.name = "aside", .visits = uneven, .stack_share = 0.2},
		{.name = "add", .visits = uneven, .stack_share = 0.9}};
	struct progress_rank ranks[PROGRESS_CANDIDATES_MAX];

	(void)state;
	progress_choose(candidates, 2, &slices, ranks);
	assert_int_equal(ranks[0].candidate, 1);
	assert_int_equal(ranks[0].verdict, PROGRESS_FIT);
	assert_int_equal(ranks[1].verdict, PROGRESS_UNEVEN);
}

static void of_those_on_a_stack_the_outermost_that_is_visited_often_enough_wins(void **state)
{
	static const uint64_t some[SLICES] = {8, 9, 8, 8, 7, 8, 8, 8, 8, 8};
	static const uint64_t few[SLICES] = {2, 2, 2, 3, 2, 2, 2, 1, 2, 2};
	struct progress_candidate candidates[] = {
		{.name = "outer", .visits = some, .stack_share = 0.95},
		{.name = "leaf", .visits = even, .stack_share = 1, .callers = 1},
	};
	struct progress_rank ranks[PROGRESS_CANDIDATES_MAX];

	(void)state;
	progress_choose(candidates, 2, &slices, ranks);
	assert_int_equal(ranks[0].candidate, 0);
	candidates[0].visits = few;
	progress_choose(candidates, 2, &slices, ranks);
	assert_int_equal(ranks[0].candidate, 1);
	/* A loop and the function that it calls: the function has a name. */
	candidates[0].visits = even;
	progress_choose(candidates, 2, &slices, ranks);
	assert_int_equal(ranks[0].candidate, 0);
	candidates[0].is_loop = true;
	progress_choose(candidates, 2, &slices, ranks);
	assert_int_equal(ranks[0].candidate, 1);
}

static void what_stands_on_more_stacks_wins_and_what_costs_too_much_is_not_fit(void **state)
{
	const struct progress_candidate candidates[] = {
		{.name = "aside", .visits = even, .stack_share = 0.1},
		{.name = "round", .visits = even, .stack_share = 0.9, .probe_ns = 2000},
		{.name = "step", .visits = often, .stack_share = 1, .rate_most = 5000},
	};
	struct progress_rank ranks[PROGRESS_CANDIDATES_MAX];
	str_auto struct str words = {0};

	(void)state;
	assert_int_equal(progress_choose(candidates, 3, &slices, ranks), 3);
	assert_int_equal(ranks[0].candidate, 1);
	assert_int_equal(ranks[2].candidate, 2);
	assert_int_equal(ranks[2].verdict, PROGRESS_HOT);
	progress_words(&words, candidates, &ranks[0]);
	assert_string_equal(words.at,
		"round: 300/s, evenly (varies by 0 %), on 90 % of the stacks, "
		"counting costs 0.06 %");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_even_one_wins_over_rare_hot_and_bursty_ones),
		cmocka_unit_test(of_those_in_step_the_outermost_wins),
		cmocka_unit_test(what_becomes_rarer_and_rarer_does_not_come_in_bursts),
		cmocka_unit_test(where_most_of_the_time_is_more_bursts_are_taken),
		cmocka_unit_test(
			of_those_on_a_stack_the_outermost_that_is_visited_often_enough_wins),
		cmocka_unit_test(
			what_stands_on_more_stacks_wins_and_what_costs_too_much_is_not_fit),
		cmocka_unit_test(one_that_goes_with_output_wins),
		cmocka_unit_test(a_busy_machine_does_not_look_like_bursts),
		cmocka_unit_test(nothing_is_fit_when_nothing_is_called),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
