/* formula_test.c - arithmetic over names; what is doubtful is refused with its place. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/formula.h"
#include "base/str.h"

#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

/* Names get 10, 20, 30... in order of appearance. */
static int value_of(const char *text, double *ret_value)
{
	static const double values[] = {10, 20, 30, 40};
	arena_auto struct arena arena = {0};
	struct formula formula;
	struct err err = {0};
	int r = formula_parse(&arena, text, &formula, &err);

	return r < 0 ? r : formula_value(&formula, values, ret_value);
}

static void operators_bind_as_in_arithmetic(void **state)
{
	static const struct {
		const char *text;
		double value;
	} cases[] = {
		{"1 + 2 * 3", 7},
		{"(1 + 2) * 3", 9},
		{"10 - 4 - 3", 3},
		{"16 / 4 / 2", 2},
		{"-2 * -3", 6},
		{"- (1 + 1)", -2},
		{"a + b", 30},
		{"b / a", 0.5}, /* b appears first, so it is 10 */
		{"1e3 * a / b", 500},
		{"2*(a+b)", 60},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double value = -1;

		assert_int_equal(value_of(cases[i].text, &value), 0);
		assert_near(value, cases[i].value, 1e-12);
	}
}

static void the_smaller_and_the_larger_of_two_can_be_asked_for(void **state)
{
	static const struct {
		const char *text;
		double value;
	} cases[] = {
		{"min(a, b)", 10},
		{"max(a,b)", 20},
		{"max(0, a - b)", 0},
		{"min(a - b, 0)", -10},
		{"2 * max(1, min(a, b) / 2) + 1", 11},
		{"max( max(1, 2) , 3 )", 3},
		{"min(cpu/event=0x1,umask=2/, b)", 10}, /* between slashes a comma is the name's */
		{"minimum + maximum", 30},		/* names that only start alike */
		{"min + max", 30},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double value = -1;

		assert_int_equal(value_of(cases[i].text, &value), 0);
		assert_near(value, cases[i].value, 1e-12);
	}
}

static void event_names_with_their_signs_are_one_name(void **state)
{
	static const char *const names[] = {"L1-dcache-load-misses", "cpu/event=0xc0,umask=0x0/",
		"cpu/event=0xc5/u", "sched:sched_switch", "cycles:u", "mem_load_retired.l1_miss",
		"power/energy-pkg/"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		arena_auto struct arena arena = {0};
		struct formula formula;
		struct err err = {0};
		char *text = arena_format(&arena, "1 - %s / (%s + x)", names[i], names[i]);

		assert_int_equal(formula_parse(&arena, text, &formula, &err), 0);
		assert_int_equal(formula.names_count, 2);
		assert_string_equal(formula.names[0], names[i]);
		assert_string_equal(formula.names[1], "x");
	}
}

static void what_is_doubtful_is_refused(void **state)
{
	static const char *const wrong[] = {"", " ", "a b", "a / ", "(a", "a)", "a/b", "a-", "a- b",
		"1x", "1-a", "a ++", "* a", "a ^ b", "a: / b", "1e999", "..", "a , b", "max(a)",
		"max(a, b", "max(a b)", "max()", "max(, a)", "max(a, b, c)", "max (a, b)", "a, b"};
	double value;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(value_of(wrong[i], &value), -EINVAL);
}

static void the_sentence_names_the_place(void **state)
{
	arena_auto struct arena arena = {0};
	struct formula formula;
	struct err err = {0};

	(void)state;
	assert_int_equal(formula_parse(&arena, "cycles / (x", &formula, &err), -EINVAL);
	assert_string_equal(err.text, "formula 'cycles / (x': a missing ')' at character 12");
}

static void nesting_and_length_have_a_limit(void **state)
{
	str_auto struct str deep = {0}, longest = {0};
	double value = 0;

	(void)state;
	str_add_repeat(&deep, '(', FORMULA_DEPTH);
	str_add_char(&deep, '1');
	str_add_repeat(&deep, ')', FORMULA_DEPTH);
	assert_int_equal(value_of(str_text(&deep), &value), 0);
	assert_near(value, 1, 0);
	str_clear(&deep);
	str_add_repeat(&deep, '-', 100000);
	assert_int_equal(value_of(str_text(&deep), &value), -EINVAL);
	for (unsigned i = 0; i < FORMULA_STEPS; i++)
		str_addf(&longest, "+ a%u", i);
	assert_int_equal(value_of(str_text(&longest) + 2, &value), -EINVAL);
}

static void a_full_stack_is_evaluated(void **state)
{
	str_auto struct str text = {0};
	double value = 0;

	(void)state;
	for (unsigned i = 0; i < FORMULA_DEPTH; i++)
		str_add(&text, "1 + 1 * (");
	str_add_char(&text, '1');
	str_add_repeat(&text, ')', FORMULA_DEPTH);
	assert_int_equal(value_of(str_text(&text), &value), 0);
	assert_near(value, FORMULA_DEPTH + 1, 0);
}

static void a_division_by_zero_gives_no_number(void **state)
{
	double value = 42;

	(void)state;
	assert_int_equal(value_of("1 / (a - 10)", &value), -EDOM);
	assert_int_equal(value_of("0 / 0", &value), -EDOM);
	assert_int_equal(value_of("1e308 * 1e308", &value), -ERANGE);
	assert_near(value, 42, 0);
}

static void a_formula_can_be_written_as_sql(void **state)
{
	const char *const parts[] = {"x", "y"};
	arena_auto struct arena arena = {0};
	str_auto struct str sql = {0};
	struct formula formula = {0};
	struct err err = {0};

	(void)state;
	assert_int_equal(formula_parse(&arena, "- a + min(a, b) / 2", &formula, &err), 0);
	formula_write(&formula, parts, &sql);
	assert_string_equal(str_text(&sql), "((-CAST(x AS REAL)) + (min(CAST(x AS REAL), CAST(y AS "
					    "REAL)) / 2.0))");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators_bind_as_in_arithmetic),
		cmocka_unit_test(a_formula_can_be_written_as_sql),
		cmocka_unit_test(the_smaller_and_the_larger_of_two_can_be_asked_for),
		cmocka_unit_test(event_names_with_their_signs_are_one_name),
		cmocka_unit_test(what_is_doubtful_is_refused),
		cmocka_unit_test(the_sentence_names_the_place),
		cmocka_unit_test(nesting_and_length_have_a_limit),
		cmocka_unit_test(a_full_stack_is_evaluated),
		cmocka_unit_test(a_division_by_zero_gives_no_number),
	};

	return cmocka_run_group_tests_name("formula", tests, NULL, NULL);
}
