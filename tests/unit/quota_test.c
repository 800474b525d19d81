/* quota_test.c - what reading one file may cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/quota.h"
#include "base/str.h"

static struct interrupt interrupted_now(void)
{
	return (struct interrupt){.count = 1};
}

static void steps_end_and_stay_ended(void **state)
{
	struct quota quota = quota_of(0, NULL);
	uint64_t steps = 0;

	(void)state;
	while (quota_step(&quota, 7))
		steps += 7;
	assert_true(steps <= quota.steps_given && quota.steps_given - steps < 7);
	assert_int_equal(quota.end, QUOTA_STEPS);
	assert_false(quota_step(&quota, 0));
	assert_false(quota_take(&quota, 0));
	assert_false(quota_is_left(&quota));
}

static void memory_that_is_given_back_can_be_taken_again(void **state)
{
	struct quota quota = quota_of(0, NULL);
	uint64_t most = quota.bytes_given - 1;

	(void)state;
	for (unsigned i = 0; i < 10; i++) {
		assert_true(quota_take(&quota, most));
		quota_give(&quota, most);
	}
	assert_false(quota_take(&quota, UINT64_MAX));
	assert_int_equal(quota.end, QUOTA_BYTES);
	quota_give(&quota, most); /* too late */
	assert_false(quota_take(&quota, 1));
}

static void both_grow_with_the_file_and_a_second_file_adds_no_floor(void **state)
{
	struct quota none = quota_of(0, NULL), two = quota_of(1000, NULL), one = none;

	(void)state;
	assert_true(two.bytes_given - none.bytes_given >= 1000);
	assert_true(two.steps_given - none.steps_given >= 1000);
	quota_join(&one, 1000);
	assert_int_equal(one.bytes, two.bytes);
	assert_int_equal(one.steps_given, two.steps_given);
}

static void an_interrupt_ends_it_unless_it_was_for_another(void **state)
{
	struct quota quota = quota_of(0, interrupted_now), seen = quota;

	(void)state;
	assert_false(quota_step(&quota, 1));
	assert_int_equal(quota.end, QUOTA_INTERRUPTED);
	seen.seen = 1;
	assert_true(quota_step(&seen, 1));
	assert_true(quota_step(NULL, UINT64_MAX)); /* nobody counts */
	assert_true(quota_take(NULL, UINT64_MAX));
}

static void it_says_what_was_spent_and_can_be_raised(void **state)
{
	struct quota quota = quota_of(3000, NULL);
	str_auto struct str text = {0};

	(void)state;
	quota_stop(&quota, QUOTA_STEPS);
	quota_tell(&quota, "x.data", &text);
	assert_string_equal(str_text(&text),
		"x.data: stopped after 33 million steps, too much for 3 KiB; what was read before "
		"is kept");
	assert_int_equal(setenv(QUOTA_FACTOR, "3", 1), 0);
	assert_int_equal(quota_of(3000, NULL).steps_given, 3 * quota.steps_given);
	assert_int_equal(setenv(QUOTA_FACTOR, "much", 1), 0);
	assert_int_equal(quota_of(3000, NULL).bytes_given, quota.bytes_given);
	unsetenv(QUOTA_FACTOR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_end_and_stay_ended),
		cmocka_unit_test(memory_that_is_given_back_can_be_taken_again),
		cmocka_unit_test(both_grow_with_the_file_and_a_second_file_adds_no_floor),
		cmocka_unit_test(an_interrupt_ends_it_unless_it_was_for_another),
		cmocka_unit_test(it_says_what_was_spent_and_can_be_raised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
