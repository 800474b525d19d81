/* confidence_test.c - from features to a probability and its word; the weights that are compiled in
 * say what the table said that they replace. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/confidence.h"
#include "analyze/text_block.h"
#include "base/str.h"

static void rules_are_read_and_what_is_doubtful_is_refused(void **state)
{
	static const struct {
		const char *text, *reason;
	} broken[] = {
		{"proven\n", "needs a weight: 'proven'"},
		{"proven x\n", "'x'"},
		{"nobody 1\n", "unknown feature 'nobody'"},
		{"proven 1\nproven 2\n", "duplicate feature 'proven'"},
		{"proven 1 2\n", "not a probability: '2'"},
		{"high 0.8 0.5\n", "has no limit: 'high'"},
		{"proven 1\n", "missing line 'intercept'"},
		{"intercept 1\nmedium 0.5\n", "missing line 'high'"},
		{"intercept 1\nhigh 0.8\n", "missing line 'medium'"},
		{"intercept 1\nhigh 0.8\nmedium 0.5\n", "missing line 'second_method'"},
	};
	struct confidence_rules rules, before;
	struct err err = {0};

	(void)state;
	assert_int_equal(
		confidence_rules_parse("t", data_text("confidence.rules"), &rules, &err), 0);
	before = rules;
	for (unsigned i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
		assert_int_equal(
			confidence_rules_parse("t", broken[i].text, &rules, &err), -EINVAL);
		if (!strstr(err.text, broken[i].reason))
			fail_msg("%s: %s", broken[i].text, err.text);
		assert_memory_equal(&rules, &before, sizeof(rules)); /* untouched */
	}
}

static void limits_that_are_no_probabilities_in_order_are_refused(void **state)
{
	static const char *const limits[] = {
		"high 80\nmedium 0.5\n", "high 0.8\nmedium 0.9\n", "high 0.8\nmedium 0\n"};
	struct confidence_rules rules;

	(void)state;
	for (unsigned i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		str_auto struct str text = {0};
		struct err err = {0};

		str_addf(&text, "intercept 1\n%s", limits[i]);
		for (unsigned k = 0; k < CONFIDENCE_FEATURES; k++)
			str_addf(&text, "%s 0\n", confidence_feature_name(k));
		assert_int_equal(confidence_rules_parse("t", text.at, &rules, &err), -EINVAL);
		assert_non_null(strstr(err.text, "needs 0 < medium < high < 1 in 't'"));
	}
}

static void a_sum_of_weights_is_a_probability_and_limits_hold(void **state)
{
	struct confidence_rules rules = {.intercept = -1, .high = 0.8, .medium = 0.5};
	struct confidence_features features = {0};

	(void)state;
	for (unsigned i = 0; i < CONFIDENCE_FEATURES; i++)
		rules.most[i] = 1;
	rules.weight[CONFIDENCE_PROVEN] = 3;
	rules.weight[CONFIDENCE_SHARE] = 2;
	rules.most[CONFIDENCE_DOUBTED] = 0.6;
	assert_true(fabs(confidence_probability(&rules, &features) - 0.268941) < 1e-6);
	features.value[CONFIDENCE_PROVEN] = 1;
	features.value[CONFIDENCE_SHARE] = 0.5; /* -1 + 3 + 1 */
	assert_true(fabs(confidence_probability(&rules, &features) - 0.952574) < 1e-6);
	features.value[CONFIDENCE_SHARE] = (double)NAN; /* not known: as 0 */
	assert_true(fabs(confidence_probability(&rules, &features) - 0.880797) < 1e-6);
	features.value[CONFIDENCE_DOUBTED] = 1;
	assert_true(confidence_probability(&rules, &features) == 0.6);
	assert_string_equal(confidence_word(&rules, 0.8), "high");
	assert_string_equal(confidence_word(&rules, 0.79), "medium");
	assert_string_equal(confidence_word(&rules, 0.49), "low");
}

struct place {
	unsigned agree, asked;
	bool pays, opinion, doubted, noise;
};

/* What the table before gave, in the words of an answer. */
static const char *word_before(const struct place *p)
{
	static const char *const words[] = {"low", "medium", "high"};
	double confidence = p->pays	    ? 0.9
			    : p->agree >= 3 ? (p->agree == p->asked ? 0.9 : 0.7)
			    : p->agree == 2 ? (p->agree == p->asked ? 0.8 : 0.5)
			    : p->asked == 1 ? 0.4
					    : 0.2;
	unsigned step;

	confidence = fmin(confidence, p->doubted ? 0.5 : p->opinion ? 0.7 : 1);
	step = confidence >= 0.8 ? 2 : confidence >= 0.5 ? 1 : 0;
	return words[step && p->noise ? step - 1 : step];
}

static const char *word_now(const struct confidence_rules *rules, const struct place *p)
{
	struct confidence_features features = {0};

	features.value[CONFIDENCE_SECOND_METHOD] = p->agree >= 2;
	features.value[CONFIDENCE_THIRD_METHOD] = p->agree >= 3;
	features.value[CONFIDENCE_OBJECTIONS] = p->asked - p->agree;
	features.value[CONFIDENCE_PROVEN] = p->pays && !p->opinion;
	features.value[CONFIDENCE_LEVEL_IS_OPINION] = p->opinion;
	features.value[CONFIDENCE_DOUBTED] = p->doubted;
	features.value[CONFIDENCE_NOISE] = p->noise;
	return confidence_word(rules, confidence_probability(rules, &features));
}

/* Only experiments object, so never two methods, and not where they pay, unless that is in doubt. A
 * chain is from the samples, so an opinion about it that pays has two methods on a quiet machine.
 * On a busy machine what is timed is one method, beside one that counts.  A gain in doubt whose
 * callers have the same time was medium, and is low now: nothing is left that speaks for it. */
static bool can_be(const struct place *p)
{
	unsigned objections = p->asked - p->agree;

	if (objections > 1 || (p->doubted && !objections) || (p->noise && p->asked > 2))
		return false;
	if (p->pays && !p->doubted && objections)
		return false;
	if (p->pays && p->opinion && !p->noise && p->asked < 2)
		return false;
	return !(p->pays && p->doubted && p->opinion);
}

static void the_words_are_those_of_the_table_before(void **state)
{
	struct confidence_rules rules;
	unsigned compared = 0;

	(void)state;
	confidence_rules_load(&rules);
	for (unsigned i = 0; i < 4 * 4 * 16; i++) {
		const struct place p = {.asked = i % 4 + 1,
			.agree = i / 4 % 4 + 1,
			.pays = i & 16,
			.opinion = i & 32,
			.doubted = i & 64,
			.noise = i & 128};

		if (p.agree > p.asked || !can_be(&p))
			continue;
		compared++;
		if (!str_equal(word_now(&rules, &p), word_before(&p)))
			fail_msg("%u of %u, pays %d, opinion %d, doubted %d, noise %d: %s, was %s",
				p.agree, p.asked, p.pays, p.opinion, p.doubted, p.noise,
				word_now(&rules, &p), word_before(&p));
	}
	assert_true(compared >= 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_are_read_and_what_is_doubtful_is_refused),
		cmocka_unit_test(limits_that_are_no_probabilities_in_order_are_refused),
		cmocka_unit_test(a_sum_of_weights_is_a_probability_and_limits_hold),
		cmocka_unit_test(the_words_are_those_of_the_table_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
