/* causal_mark_test.c - what sets off the progress of a thread: a clock, another program, nobody. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wire/causal_mark.h"

enum { MS = 1000000, ASKED = 77 };

/* Sleeps until `at`, having asked for it or for a time. */
static void tick(struct causal_mark *m, uint64_t at, uint16_t asked)
{
	if (m->flags & CAUSAL_MARK_STEADY)
		causal_mark_sleep(m, asked);
	causal_mark_tick(m, at);
}

static void ticks_at_equal_distances_are_a_clock(void **state)
{
	struct causal_mark m = {0};

	(void)state;
	for (int i = 1; i <= 3; i++) {
		tick(&m, (100 + i * 5ULL) * MS, 0);
		assert_int_equal(causal_mark_by(&m), 0);
	}
	tick(&m, 120ULL * MS + 40000, 0); /* late, as timers are */
	assert_int_equal(causal_mark_by(&m), CAUSAL_MARK_CLOCK);
	tick(&m, 130ULL * MS, 0); /* one was missed */
	assert_int_equal(causal_mark_by(&m), CAUSAL_MARK_CLOCK);
	tick(&m, 136ULL * MS, 0);
	assert_int_equal(causal_mark_by(&m), 0);
}

static void always_the_same_sleep_is_no_clock(void **state)
{
	struct causal_mark m = {0};
	int marked = 0;

	(void)state;
	for (int i = 1; i <= 20; i++) {
		tick(&m, i * 5ULL * MS, ASKED);
		marked += causal_mark_visit(&m) == CAUSAL_MARK_CLOCK;
	}
	assert_true(marked <= 1);
}

static void sleeps_of_changing_length_to_a_tick_are_a_clock(void **state)
{
	struct causal_mark m = {0};
	int marked = 0;

	(void)state;
	for (int i = 1; i <= 20; i++) {
		tick(&m, i * 5ULL * MS, (uint16_t)(ASKED + i));
		marked += causal_mark_visit(&m) == CAUSAL_MARK_CLOCK;
	}
	assert_true(marked >= 15);
}

static void a_mark_is_handed_on_and_counts_for_some_visits(void **state)
{
	struct causal_mark reader = {0}, worker = {0};

	(void)state;
	causal_mark_peer(&reader);
	causal_mark_hand_on(&worker, &reader);
	for (int i = 0; i < CAUSAL_MARK_VISITS; i++)
		assert_int_equal(causal_mark_visit(&worker), CAUSAL_MARK_PEER);
	assert_int_equal(causal_mark_visit(&worker), 0); /* it keeps itself busy */
	causal_mark_hand_on(&reader, &worker);
	assert_int_equal(causal_mark_by(&reader), 0);
}

static void a_timer_that_is_no_clock_takes_no_other_mark_away(void **state)
{
	struct causal_mark m = {0};

	(void)state;
	causal_mark_peer(&m);
	causal_mark_tick(&m, 7ULL * MS);
	assert_int_equal(causal_mark_by(&m), CAUSAL_MARK_PEER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticks_at_equal_distances_are_a_clock),
		cmocka_unit_test(always_the_same_sleep_is_no_clock),
		cmocka_unit_test(sleeps_of_changing_length_to_a_tick_are_a_clock),
		cmocka_unit_test(a_mark_is_handed_on_and_counts_for_some_visits),
		cmocka_unit_test(a_timer_that_is_no_clock_takes_no_other_mark_away),
	};

	return cmocka_run_group_tests_name("causal_mark", tests, NULL, NULL);
}
