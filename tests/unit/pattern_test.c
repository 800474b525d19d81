/* Patterns: the texts of data/patterns, what a rule means, what is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/answer.h"
#include "analyze/patterns.h"
#include "base/str.h"
#include "model/run.h"
#include "profile_text.h"

#define HEAD "event cpu-clock ns\nthread 1 1 prog\nperiod 1000000\n"
#define LIBC "@/usr/lib/libc.so.6"

static const char grows[] =
	"library std::*\n"
	"wrappers xrealloc\n"
	"\n"
	"pattern grows\n"
	"title a buffer grows\n"
	"stacks copied\n"
	"leaf __memmove*\n"
	"in realloc\n"
	"not std::*\n"
	"when copied >= 0.15 and copied.site >= 0.6\n"
	"means {copied} in {callee}, {copied.site} of it from {place} at {where}\n"
	"advice [copied >= 0.5] double it in {place}\n"
	"advice look at {place}\n"
	"refute it doubles already\n"
	"plant memory\n";

/* What `book` finds in a profile; the caller's arena has it. */
static struct pattern_view found(const char *book_text, const char *profile, struct arena *arena)
{
	pattern_book_auto struct pattern_book *book = NULL;
	run_auto struct run *run = profile_text_run(profile);
	struct evidence_piece piece = {run, "profile.assay", "", ""};
	struct signals signals = {0};
	struct pattern_view view;
	struct err err = {0};

	assert_int_equal(pattern_book_parse("test", book_text, &book, &err), 0);
	patterns_match(book, &piece, &signals, arena, &view);
	for (uint32_t i = 0; i < view.count; i++) { /* the run's texts go with it */
		struct pattern_row *row = arena_keep(arena, &view.rows[i], sizeof(*row));

		row->function = arena_copy(arena, row->function);
		view.rows = row;
	}
	return view;
}

static void a_copy_below_realloc_is_found_with_its_place_and_numbers(void **state)
{
	arena_auto struct arena arena = {0};
	struct pattern_view view = found(grows,
		HEAD "150 main:1;add:7;realloc" LIBC ";__memmove_avx" LIBC "\n50 main:1;work:9\n",
		&arena);

	(void)state;
	assert_int_equal(view.count, 1);
	assert_string_equal(view.rows[0].name, "grows");
	assert_string_equal(view.rows[0].function, "add");
	assert_string_equal(
		view.rows[0].means, "75 % in realloc(), 100 % of it from add() at prog.c:7");
	assert_string_equal(view.rows[0].advice, "double it in add()");
	assert_true(fabs(view.rows[0].share - 0.75) < 1e-9);
	assert_non_null(strstr(view.rows[0].query, "stack IN ("));
}

static void the_advice_depends_on_what_was_seen(void **state)
{
	arena_auto struct arena arena = {0};
	struct pattern_view view = found(grows,
		HEAD "50 main:1;add:7;realloc" LIBC ";__memmove_avx" LIBC "\n150 main:1;work:9\n",
		&arena);

	(void)state;
	assert_int_equal(view.count, 1);
	assert_string_equal(view.rows[0].advice, "look at add()");
}

static void a_page_fault_on_top_does_not_hide_the_leaf(void **state)
{
	arena_auto struct arena arena = {0};
	struct pattern_view view = found(grows,
		HEAD "150 main:1;add:7;realloc" LIBC ";__memmove_avx" LIBC
		     ";asm_exc_page_fault@[kernel]\n50 main:1;work:9\n",
		&arena);

	(void)state;
	assert_int_equal(view.count, 1);
}

static void the_caller_of_a_wrapper_is_the_place(void **state)
{
	arena_auto struct arena arena = {0};
	struct pattern_view view = found(grows,
		HEAD "150 main:1;add:7;xrealloc:3;realloc" LIBC ";__memmove_avx" LIBC
		     "\n50 main:1;work:9\n",
		&arena);

	(void)state;
	assert_int_equal(view.count, 1);
	assert_string_equal(view.rows[0].function, "add");
}

static void what_is_not_meant_is_not_found(void **state)
{
	static const char *const profiles[] = {
		/* too small a share */
		HEAD "20 main:1;add:7;realloc" LIBC ";__memmove_avx" LIBC "\n180 main:1;work:9\n",
		/* another leaf */
		HEAD "150 main:1;add:7;realloc" LIBC ";_int_free" LIBC "\n50 main:1;work:9\n",
		/* not below realloc */
		HEAD "150 main:1;add:7;__memmove_avx" LIBC "\n50 main:1;work:9\n",
		/* realloc calls back into own code, which copies */
		HEAD "150 main:1;realloc" LIBC ";hook:2;__memmove_avx" LIBC "\n50 main:1;work:9\n",
		/* a frame that must not be there */
		HEAD "150 main:1;add:7;std::x;realloc" LIBC ";__memmove_avx" LIBC
		     "\n50 main:1;work:9\n",
		/* no site has most of it */
		HEAD "50 main:1;a:7;realloc" LIBC ";__memmove_avx" LIBC
		     "\n50 main:1;b:7;realloc" LIBC ";__memmove_avx" LIBC "\n50 main:1;work:9\n",
		/* too few samples in all */
		HEAD "30 main:1;add:7;realloc" LIBC ";__memmove_avx" LIBC "\n10 main:1;work:9\n",
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(profiles) / sizeof(*profiles); i++) {
		arena_auto struct arena arena = {0};

		assert_int_equal(found(grows, profiles[i], &arena).count, 0);
	}
}

static void order_in_time_is_seen(void **state)
{
	static const char book[] = "pattern p\ntitle t\nstacks s\nin free\n"
				   "when s >= 0.1 and s.late >= 0.9 and s.bursts < 2\n"
				   "means {s.bursts}\nadvice a\nrefute r\nplant x\n";
	arena_auto struct arena arena = {0};

	(void)state;
	assert_int_equal(
		found(book, HEAD "100 main:1;work:9\n50 main:1;free" LIBC "\n", &arena).count, 1);
	assert_int_equal(
		found(book, HEAD "50 main:1;free" LIBC "\n100 main:1;work:9\n", &arena).count, 0);
	assert_int_equal(found(book,
				 HEAD "100 main:1;work:9\n30 main:1;free" LIBC
				      "\n3 main:1;work:9\n30 main:1;free" LIBC "\n",
				 &arena)
				 .count,
		0);
}

static void a_rule_whose_signal_nobody_measured_does_not_fire(void **state)
{
	static const char book[] = "pattern p\ntitle t\nstacks s\nin read\n"
				   "when s >= 0.1 and bytes_per_call < 100\n"
				   "means m\nadvice a\nrefute r\nplant x\n";
	arena_auto struct arena arena = {0};

	(void)state;
	assert_int_equal(found(book, HEAD "100 main:1;read" LIBC "\n", &arena).count, 0);
}

static void a_malformed_text_is_refused_with_its_line(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"pattern p\ntitle t\n", "test:1: the block lacks the key 'stacks'"},
		{"pattern p\ncolour red\n", "test:2: unknown key 'colour'"},
		{"pattern p\nleaf x\ntitle t\nstacks s\nin y\nwhen s > 0\nmeans m\nadvice a\nrefute r\n"
		 "plant x\n",
			"test:2: no stacks are given above 'leaf'"},
		{"pattern p\ntitle t\nstacks s\nnot y\nwhen s > 0\nmeans m\nadvice a\nrefute r\nplant x\n",
			"test:1: no frame is named for the stacks 's'"},
		{"pattern p\ntitle t\nstacks s\nin y\nwhen q > 0\nmeans m\nadvice a\nrefute r\nplant x\n",
			"test:1: unknown name in a rule: 'q'"},
		{"pattern p\ntitle t\nstacks s\nin y\nwhen s\nmeans m\nadvice a\nrefute r\nplant x\n",
			"test:5: expected a rule like \"FORMULA >= NUMBER\", not 's'"},
		{"pattern p\ntitle t\nstacks s\nin y\nwhen s > 0\nmeans {sites}\nadvice a\nrefute r\n"
		 "plant x\n",
			"test:1: unknown name in '{sites}'"},
		{"pattern p\ntitle t\nstacks s\nin y\nwhen s > 0\nmeans m\nadvice [s > 0] a\nrefute r\n"
		 "plant x\n",
			"test:1: the last advice must hold without a condition: 'p'"},
		{"pattern p\ntitle t\nstacks s\nin y\nwhen s > 0\nmeans m\nadvice [s > 0 a\nrefute r\n"
		 "plant x\n",
			"test:7: missing ] in '[s > 0 a'"},
		{"pattern p\ntitle t\nstacks s\nin y\nin z\nwhen s > 0\nmeans m\nadvice a\nrefute r\n"
		 "plant x\n",
			"test:5: a second key 'in'"},
		{"pattern p\ntitle t\nstacks s\nin y\nstacks s\nin z\nwhen s > 0\nmeans m\nadvice a\n"
		 "refute r\nplant x\n",
			"test:5: second stacks 's'"},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct pattern_book *book = NULL;
		struct err err = {0};

		assert_true(pattern_book_parse("test", cases[i].text, &book, &err) < 0);
		assert_null(book);
		assert_string_equal(err.text, cases[i].says);
		assert_non_null(strstr(err.hint, "docs/patterns.md"));
	}
}

static void a_second_pattern_of_the_name_is_refused(void **state)
{
#define ONE                                                                                        \
	"pattern p\ntitle t\nstacks s\nin y\nwhen s > 0\nmeans m\nadvice a\nrefute r\nplant x\n\n"
	struct pattern_book *book = NULL;
	struct err err = {0};

	(void)state;
	assert_true(pattern_book_parse("test", ONE ONE, &book, &err) < 0);
	assert_string_equal(err.text, "test:11: a second pattern 'p'");
}

static void the_texts_of_data_are_good(void **state)
{
	pattern_book_auto struct pattern_book *book = NULL;
	struct err err = {0};

	(void)state;
	assert_int_equal(pattern_book_load(&book, &err), 0);
}

static void without_samples_nothing_is_found(void **state)
{
	pattern_book_auto struct pattern_book *book = NULL;
	struct evidence_piece piece = {NULL, "", "not recorded", ""};
	arena_auto struct arena arena = {0};
	struct signals signals = {0};
	struct pattern_view view;
	struct err err = {0};

	(void)state;
	assert_int_equal(pattern_book_load(&book, &err), 0);
	patterns_match(book, &piece, &signals, &arena, &view);
	assert_int_equal(view.count, 0);
}

/* The answer to a profile with a copy below realloc, and what the ledger has. */
static struct answer_view answered(
	struct run *run, const struct ledger_view *ledger, struct arena *arena)
{
	struct evidence evidence = {0};
	struct signals signals = {0};
	struct answer_view view;

	for (unsigned i = 0; i < EVIDENCE_KINDS; i++)
		evidence.piece[i] = (struct evidence_piece){NULL, "", "it was not asked for", ""};
	evidence.piece[EVIDENCE_PROFILE] = (struct evidence_piece){run, "profile.assay", "", ""};
	answer_make(&evidence, &signals, ledger, arena, &view);
	return view;
}

#define GROWING                                                                                    \
	HEAD "150 main:1;add:7;realloc" LIBC ";_int_realloc" LIBC ";__memmove_avx_unaligned" LIBC  \
	     "\n50 main:1;work:9\n"

static void a_pattern_is_the_cause_where_the_ledger_has_none(void **state)
{
	run_auto struct run *run = profile_text_run(GROWING);
	arena_auto struct arena arena = {0};
	struct answer_view view = answered(run, NULL, &arena);

	(void)state;
	assert_string_equal(view.first->function, "add");
	assert_string_equal(view.first->pattern->name, "grows_by_constant");
	assert_true(str_starts(view.why, "75 % of the CPU time is copying inside realloc()"));
	assert_string_equal(view.cause, view.why);
	assert_non_null(strstr(answer_advice(&view), "double the capacity"));
	assert_non_null(strstr(view.refute, "already doubles"));
	assert_int_equal(view.patterns.count, 1);
}

/* That a script is run says less than what the interpreter does. */
static void a_setting_is_the_cause_only_where_nothing_else_is(void **state)
{
	run_auto struct run *copies = profile_text_run(
		HEAD "150 main:1;luaV_execute:5;add:7;realloc" LIBC ";_int_realloc" LIBC
		     ";__memmove_avx_unaligned" LIBC "\n50 main:1;luaV_execute:9\n");
	run_auto struct run *runs = profile_text_run(
		HEAD "150 main:1;luaV_execute:5;add:7\n50 main:1;luaV_execute:9\n");
	arena_auto struct arena arena = {0};
	struct answer_view view = answered(copies, NULL, &arena);

	(void)state;
	assert_string_equal(view.first->pattern->name, "grows_by_constant");
	assert_int_equal(view.patterns.count, 2);
	view = answered(runs, NULL, &arena);
	assert_string_equal(view.first->pattern->name, "interpreter");
}

static void an_explanation_with_two_witnesses_is_said_behind_the_pattern(void **state)
{
	run_auto struct run *run = profile_text_run(GROWING);
	arena_auto struct arena arena = {0};
	struct ledger_row row = {.name = "allocator_churn",
		.title = "t",
		.category = "allocation",
		.verdict = HYPOTHESIS_SUPPORTS,
		.why = "two witnesses say so",
		.untested = "",
		.advice = "allocate less",
		.falsifier = "a test",
		.next = "",
		.share = 0.7,
		.effort = 1};
	const struct ledger_view ledger = {.rows = &row, .count = 1};
	struct answer_view view = answered(run, &ledger, &arena);

	(void)state;
	assert_true(str_starts(view.why, "75 % of the CPU time") &&
		    str_ends(view.why, "; two witnesses say so"));
	assert_non_null(strstr(answer_advice(&view), "double the capacity"));
	assert_string_equal(view.refute, "a test");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_below_realloc_is_found_with_its_place_and_numbers),
		cmocka_unit_test(the_advice_depends_on_what_was_seen),
		cmocka_unit_test(a_page_fault_on_top_does_not_hide_the_leaf),
		cmocka_unit_test(the_caller_of_a_wrapper_is_the_place),
		cmocka_unit_test(what_is_not_meant_is_not_found),
		cmocka_unit_test(order_in_time_is_seen),
		cmocka_unit_test(a_rule_whose_signal_nobody_measured_does_not_fire),
		cmocka_unit_test(a_malformed_text_is_refused_with_its_line),
		cmocka_unit_test(a_second_pattern_of_the_name_is_refused),
		cmocka_unit_test(the_texts_of_data_are_good),
		cmocka_unit_test(without_samples_nothing_is_found),
		cmocka_unit_test(a_pattern_is_the_cause_where_the_ledger_has_none),
		cmocka_unit_test(a_setting_is_the_cause_only_where_nothing_else_is),
		cmocka_unit_test(an_explanation_with_two_witnesses_is_said_behind_the_pattern),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
