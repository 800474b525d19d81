/* verdict_test.c - the advice is whole, tips come for the right language, doubtful texts are
 * refused with their place. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/verdict.h"
#include "base/str.h"
#include "render/cpu_json.h"

static void every_category_has_a_word_and_advice_for_each_language(void **state)
{
	static const char *const languages[] = {"c", "c++", "rust", "go"};
	advice_book_auto struct advice_book book = {0};
	arena_auto struct arena arena = {0};
	struct err err = {0};

	(void)state;
	if (advice_book_load(&book, &err) < 0)
		fail_msg("%s", err.text);
	for (unsigned i = 0; i < VERDICT_CATEGORIES; i++) {
		enum verdict_category found;

		assert_true(verdict_category_find(verdict_category_word(i), &found));
		assert_int_equal(found, i);
		for (unsigned l = 0; l < 4; l++) {
			struct verdict_subject subject = {"./a b", languages[l]};
			struct verdict verdict = verdict_none();

			verdict.category = (enum verdict_category)i;
			verdict_advise(&book, &subject, &arena, &verdict);
			assert_true(verdict.advice_own >= 2 && verdict.plan_count >= 2);
			assert_true(str_starts(verdict.next, "assay "));
			assert_null(strstr(verdict.next, "{program}"));
			for (uint32_t t = 0; t < verdict.advice_own; t++)
				assert_true(!*verdict.advice[t].language ||
					    str_equal(verdict.advice[t].language, languages[l]) ||
					    (l == 1 && str_equal(verdict.advice[t].language, "c")));
		}
	}
}

static void without_a_language_all_tips_apply(void **state)
{
	advice_book_auto struct advice_book book = {0};
	arena_auto struct arena arena = {0};
	struct verdict_subject subject = {"", ""};
	struct verdict verdict = verdict_none();
	struct err err = {0};

	(void)state;
	assert_int_equal(advice_book_load(&book, &err), 0);
	verdict.category = VERDICT_CORE;
	verdict_advise(&book, &subject, &arena, &verdict);
	assert_int_equal(verdict.advice_own, verdict.advice_count);
	assert_non_null(strstr(verdict.next, "PROGRAM"));
}

#define REST "meaning m\neffect e\nnext n\ndo d\ncheck c\n"

static void a_doubtful_text_is_refused_with_its_place(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"category nonsense\n" REST, "t:1: unknown category 'nonsense'"},
		{"meaning x\n", "t:1: the block lacks the key 'category'"},
		{"category core\nmeaning a\n b\nmeaning c\n", "t:4: a second key 'meaning'"},
		{"category core\ndo.cobol x\n", "t:2: unknown key 'do.cobol'"},
		{"category core\nwhy x\n", "t:2: unknown key 'why'"},
		{"category core\nmeaning\n", "t:2: missing value for the key 'meaning'"},
		{" x\n", "t:1: no line is given above 'x'"},
		{"category core\nmeaning a\n", "t:1: the block lacks the key 'effect'"},
		{"category core\ncategory core\n", "t:2: a second key 'category'"},
		{"category core\n" REST "\ncategory core\n" REST,
			"t:8: a second text for the category 'core'"},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		advice_book_auto struct advice_book book = {0};
		struct err err = {0};

		assert_true(advice_book_add(&book, "t", cases[i].text, &err) < 0);
		if (!strstr(err.text, cases[i].says))
			fail_msg("'%s' does not say '%s'", err.text, cases[i].says);
		assert_true(err.hint[0]);
	}
}

static void a_verdict_without_a_share_says_why_in_the_document(void **state)
{
	str_auto struct str text = {0};
	struct jsonw w = {.out = &text, .compact = true};
	struct verdict verdict = verdict_none();

	(void)state;
	verdict.share_reason = "rates only";
	jsonw_begin_object(&w);
	verdict_json(&w, &verdict);
	jsonw_end_object(&w);
	assert_non_null(strstr(str_text(&text), "\"share\":null,\"share_reason\":\"rates only\""));
	assert_non_null(strstr(str_text(&text), "\"category\":\"unclear\""));
	assert_non_null(strstr(str_text(&text), "\"advice\":[]"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_category_has_a_word_and_advice_for_each_language),
		cmocka_unit_test(without_a_language_all_tips_apply),
		cmocka_unit_test(a_doubtful_text_is_refused_with_its_place),
		cmocka_unit_test(a_verdict_without_a_share_says_why_in_the_document),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
