/* job_parameters_test.c - one command becomes many: which values, in which order, in which words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "job/parameters.h"

struct fixture {
	struct parameters parameters;
	struct arena arena;
	struct err err;
};

static int scan(struct fixture *f, const char *low, const char *high, const char *step)
{
	f->parameters = (struct parameters){0};
	return parameters_add_scan(
		&f->parameters, &(struct parameter_scan){"n", low, high, step}, &f->arena, &f->err);
}

static void expect_values(const struct fixture *f, const char *const *values)
{
	uint32_t count = 0;

	for (; values[count]; count++)
		assert_string_equal(parameters_value(&f->parameters, count, 0), values[count]);
	assert_int_equal(f->parameters.combinations, count);
}

static void numbers_are_counted_as_they_are_written(void **state)
{
	struct fixture f = {0};

	(void)state;
	assert_int_equal(scan(&f, "1", "4", NULL), 0);
	expect_values(&f, (const char *[]){"1", "2", "3", "4", NULL});
	assert_int_equal(scan(&f, "0.1", "0.3", "0.1"), 0);
	expect_values(&f, (const char *[]){"0.1", "0.2", "0.3", NULL});
	assert_int_equal(scan(&f, "-1", "1", "0.75"), 0);
	expect_values(&f, (const char *[]){"-1.00", "-0.25", "0.50", NULL});
	assert_int_equal(scan(&f, "5", "5", "9"), 0);
	expect_values(&f, (const char *[]){"5", NULL});
	arena_done(&f.arena);
}

static void a_step_past_the_largest_number_ends_the_scan(void **state)
{
	struct fixture f = {0};

	(void)state;
	assert_int_equal(scan(&f, "0.0", "900000000000000000", "900000000000000000"), 0);
	expect_values(&f, (const char *[]){"0.0", "900000000000000000.0", NULL});
	arena_done(&f.arena);
}

static void what_is_no_scan_is_refused_with_the_word_that_is_wrong(void **state)
{
	static const struct {
		const char *low, *high, *step, *text;
	} wrong[] = {
		{"x", "2", NULL, "invalid --parameter-scan 'x'"},
		{"1", "2.", "", "invalid --parameter-step ''"},
		{"1", ".5", NULL, "invalid --parameter-scan '.5'"},
		{"1", "2", "0", "invalid --parameter-step '0'"},
		{"1", "2", "-1", "invalid --parameter-step '-1'"},
		{"2", "1", NULL, "invalid --parameter-scan '1'"},
		{"1", "1001", NULL, "invalid --parameter-scan '1001'"},
		{"1", "1.0000000001", NULL, "invalid --parameter-scan '1.0000000001'"},
	};
	struct fixture f = {0};

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(scan(&f, wrong[i].low, wrong[i].high, wrong[i].step), -EINVAL);
		assert_string_equal(f.err.text, wrong[i].text);
		assert_int_equal(f.parameters.count, 0);
	}
	assert_int_equal(scan(&f, "1", "1000", NULL), 0);
	arena_done(&f.arena);
}

static void the_last_of_several_parameters_changes_fastest(void **state)
{
	static const char *const texts[] = {"./p -j 1 fast fast", "./p -j 1 slow slow",
		"./p -j 2 fast fast", "./p -j 2 slow slow"};
	struct fixture f = {0};

	(void)state;
	assert_int_equal(scan(&f, "1", "2", NULL), 0);
	assert_int_equal(
		parameters_add_list(&f.parameters, "mode", "fast,slow", &f.arena, &f.err), 0);
	assert_int_equal(f.parameters.combinations, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_string_equal(
			parameters_apply(&f.parameters, i, "./p -j {n} {mode} {mode}", &f.arena),
			texts[i]);
	arena_done(&f.arena);
}

static void what_names_no_parameter_stays_as_it_is(void **state)
{
	struct fixture f = {0};

	(void)state;
	assert_int_equal(parameters_add_list(&f.parameters, "a", "1,", &f.arena, &f.err), 0);
	assert_int_equal(f.parameters.combinations, 2);
	assert_string_equal(parameters_apply(&f.parameters, 0, "{b} {a {ab} {a}{a} {}", &f.arena),
		"{b} {a {ab} 11 {}");
	assert_string_equal(parameters_apply(&f.parameters, 1, "x{a}y", &f.arena), "xy");
	arena_done(&f.arena);
}

static void a_name_twice_and_too_many_commands_are_refused(void **state)
{
	struct fixture f = {0};

	(void)state;
	assert_int_equal(scan(&f, "1", "500", NULL), 0);
	assert_int_equal(parameters_add_list(&f.parameters, "n", "1", &f.arena, &f.err), -EINVAL);
	assert_string_equal(f.err.hint, "it is given twice");
	assert_int_equal(parameters_add_list(&f.parameters, "", "1", &f.arena, &f.err), -EINVAL);
	assert_int_equal(parameters_add_list(&f.parameters, "{x", "1", &f.arena, &f.err), -EINVAL);
	assert_int_equal(
		parameters_add_list(&f.parameters, "m", "1,2,3", &f.arena, &f.err), -E2BIG);
	assert_int_equal(f.parameters.count, 1);
	assert_int_equal(parameters_add_list(&f.parameters, "m", "1,2", &f.arena, &f.err), 0);
	assert_int_equal(f.parameters.combinations, 1000);
	arena_done(&f.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_counted_as_they_are_written),
		cmocka_unit_test(a_step_past_the_largest_number_ends_the_scan),
		cmocka_unit_test(what_is_no_scan_is_refused_with_the_word_that_is_wrong),
		cmocka_unit_test(the_last_of_several_parameters_changes_fastest),
		cmocka_unit_test(what_names_no_parameter_stays_as_it_is),
		cmocka_unit_test(a_name_twice_and_too_many_commands_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
