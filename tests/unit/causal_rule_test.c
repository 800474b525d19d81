/* causal_rule_test.c - each step of the accounts of causal profiling, by itself.  What they add up
 * to is tests/causal-model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wire/causal_rule.h"

static void a_hit_buys_its_share_of_the_time_it_stands_for(void **state)
{
	struct causal_account a = {.taken_ns = 1000};

	(void)state;
	assert_int_equal(causal_hit(&a, 1000, 400, 250), 1100);
	assert_int_equal(a.taken_ns, 1100);
	assert_int_equal(causal_debt(&a, 1500), 400);
	assert_int_equal(causal_debt(&a, 900), 0);
}

static void too_long_a_pause_is_a_credit_and_not_pushed_onto_others(void **state)
{
	struct causal_account a = {.taken_ns = 1000};

	(void)state;
	causal_pause_begin(&a, 5000);
	causal_pause_end(&a, 5700, 0); /* owed 1500: 200 too much */
	assert_int_equal(a.taken_ns, 1700);
	assert_int_equal(causal_hit(&a, 1500, 100, 1000), 1600);
	assert_int_equal(causal_debt(&a, 1750), 0);
}

static void a_pause_that_spun_is_not_work(void **state)
{
	struct causal_account a = {.cpu_ns = 100};

	(void)state;
	causal_pause_begin(&a, 10);
	causal_pause_end(&a, 60, 50);
	assert_int_equal(causal_weight(&a, 400, 1000), 250);
	assert_int_equal(causal_weight(&a, 90000, 1000), CAUSAL_WEIGHT_MAX * 1000);
	assert_int_equal(causal_weight(&a, 50, 1000), 0);
}

static void a_long_wait_takes_over_the_givers_account(void **state)
{
	struct causal_account a = {.taken_ns = 1000};

	(void)state;
	causal_wait(&a, 5000);
	causal_hand_on(&a, (struct causal_clock){.taken_ns = 1600}, 6000, 300);
	assert_int_equal(a.taken_ns, 1600);
	assert_int_equal(a.slack_ns, 300); /* 400 to spare, 300 kept */
	assert_int_equal(a.since_ns, 0);
}

static void a_short_wait_forgives_no_more_than_it_lasted_and_the_slack(void **state)
{
	struct causal_account a = {.taken_ns = 1000, .slack_ns = 50};

	(void)state;
	causal_wait(&a, 5000);
	causal_hand_on(&a, (struct causal_clock){.taken_ns = 1600}, 5100, 300);
	assert_int_equal(a.taken_ns, 1150);
	assert_int_equal(a.slack_ns, 0);
}

static void a_giver_with_debts_hands_them_on_even_without_a_wait(void **state)
{
	struct causal_account a = {.taken_ns = 1000};

	(void)state;
	causal_hand_on(&a, (struct causal_clock){.taken_ns = 700}, 5000, 0);
	assert_int_equal(a.taken_ns, 700);
}

static void an_experiment_begins_without_debts(void **state)
{
	struct causal_account a = {.taken_ns = 7, .slack_ns = 8, .since_ns = 9, .pause_ns = 10};

	(void)state;
	causal_begin(&a, 2000, 9000, 1);
	assert_int_equal(causal_debt(&a, 2000), 0);
	assert_int_equal(a.slack_ns, 0);
	assert_int_equal(a.since_ns, 9000);
	causal_pause_end(&a, 9500, 0); /* of a pause begun before: nothing is booked */
	assert_int_equal(a.taken_ns, 2000);
}

static void a_wait_behind_other_programs_is_stolen_and_pays_no_debt(void **state)
{
	struct causal_account a = {.taken_ns = 1000};

	(void)state;
	causal_wait(&a, 5000);
	causal_stolen(&a, 300, 5400);
	assert_int_equal(a.stolen_ns, 300);
	assert_int_equal(a.since_ns, 5300); /* the other 100 were the program's own */
	assert_int_equal(causal_debt(&a, 1500), 500);
	causal_stolen(&a, 300, 5400);
	assert_int_equal(a.stolen_ns, 400); /* never more than it waited */
}

static void who_waits_for_a_robbed_thread_inherits_it(void **state)
{
	const struct causal_clock giver = {.taken_ns = 1100, .stolen_ns = 500};
	struct causal_account a = {.taken_ns = 1000}, b = {.taken_ns = 1000};

	(void)state;
	causal_wait(&a, 5000);
	causal_hand_on(&a, giver, 6000, 0);
	assert_int_equal(a.taken_ns, 1100);
	assert_int_equal(a.stolen_ns, 500);
	causal_wait(&b, 5000);
	causal_hand_on(&b, giver, 5150, 0); /* a part: what was taken comes first */
	assert_int_equal(b.taken_ns, 1100);
	assert_int_equal(b.stolen_ns, 50);
}

static void a_crowd_waits_for_the_rest_of_its_cpus_because_of_others(void **state)
{
	(void)state;
	assert_int_equal(causal_share(1000, 0, 3, 4), 0);
	assert_int_equal(causal_share(1000, 1, 0, 4), 0);
	assert_int_equal(causal_share(1000, 2, 2, 4), 1000); /* a CPU for each */
	assert_int_equal(causal_share(1000, 2, 5, 2), 1000); /* the program has none left */
	assert_int_equal(causal_share(1000, 1, 2, 2), 750);
}

static void what_everybody_owes_is_a_pause_that_the_robbed_thread_took(void **state)
{
	struct causal_account a = {.taken_ns = 1000};

	(void)state;
	causal_wait(&a, 5000);
	causal_stolen(&a, 300, 5400);
	causal_order(&a, 300);
	assert_int_equal(a.stolen_ns, 0);
	assert_int_equal(causal_debt(&a, 1300), 0);
	assert_int_equal(causal_debt(&a, 1500), 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hit_buys_its_share_of_the_time_it_stands_for),
		cmocka_unit_test(too_long_a_pause_is_a_credit_and_not_pushed_onto_others),
		cmocka_unit_test(a_pause_that_spun_is_not_work),
		cmocka_unit_test(a_long_wait_takes_over_the_givers_account),
		cmocka_unit_test(a_short_wait_forgives_no_more_than_it_lasted_and_the_slack),
		cmocka_unit_test(a_giver_with_debts_hands_them_on_even_without_a_wait),
		cmocka_unit_test(an_experiment_begins_without_debts),
		cmocka_unit_test(a_wait_behind_other_programs_is_stolen_and_pays_no_debt),
		cmocka_unit_test(who_waits_for_a_robbed_thread_inherits_it),
		cmocka_unit_test(a_crowd_waits_for_the_rest_of_its_cpus_because_of_others),
		cmocka_unit_test(what_everybody_owes_is_a_pause_that_the_robbed_thread_took),
	};

	return cmocka_run_group_tests_name("causal_rule", tests, NULL, NULL);
}
