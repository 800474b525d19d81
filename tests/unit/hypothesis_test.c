/* Explanations: the texts of data/, the verdicts, and the signals they are made from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "analyze/hypothesis.h"
#include "base/str.h"
#include "data/texts.h"
#include "model/run.h"

static const char two_witnesses[] = "hypothesis h\n"
				    "title t\n"
				    "category cpu\n"
				    "effort 1\n"
				    "share a\n"
				    "advice x\n"
				    "falsifier y\n"
				    "next z\n"
				    "witness samples\n"
				    "supports a >= 0.1 and b < 5\n"
				    "rejects a < 0.01\n"
				    "says {a} of it\n"
				    "witness rusage\n"
				    "supports c > 10\n"
				    "rejects c <= 1\n"
				    "says {c}\n"
				    "missing more is not collected yet\n";

/* ---- verdicts ---- */

struct known {
	const char *name;
	double value;
};

/* The verdict on `two_witnesses` over these signals, in the caller's arena. */
static struct ledger_view judge_with(
	const char *text, const struct known *known, unsigned count, struct arena *arena)
{
	hypothesis_book_auto struct hypothesis_book *book = NULL;
	signals_auto struct signals signals = {0};
	struct ledger_view view;
	struct err err = {0};

	assert_int_equal(hypothesis_book_parse("test", text, &book, &err), 0);
	for (unsigned i = 0; i < count; i++) {
		struct signal *kept = arena_take(arena, sizeof(*kept));

		*kept = (struct signal){known[i].name, str_equal(known[i].name, "a") ? "share" : "",
			"w", "p", "q", "m", isnan(known[i].value) ? "not measured here" : "",
			known[i].value};
		vec_push(&signals.rows, *kept);
	}
	ledger_evaluate(book, &signals, arena, &view);
	/* Signals go away here: only the words are looked at below. */
	return view;
}

static struct ledger_view judge(const struct known *known, unsigned count, struct arena *arena)
{
	return judge_with(two_witnesses, known, count, arena);
}

#define JUDGE(arena, ...)                                                                          \
	judge((const struct known[]){__VA_ARGS__},                                                 \
		sizeof((const struct known[]){__VA_ARGS__}) / sizeof(struct known), arena)

static void two_witnesses_that_agree_support(void **state)
{
	arena_auto struct arena arena = {0};
	struct ledger_view view = JUDGE(&arena, {"a", 0.25}, {"b", 1}, {"c", 20});

	(void)state;
	assert_int_equal(view.rows[0].verdict, HYPOTHESIS_SUPPORTS);
	assert_string_equal(view.rows[0].decider->witness, "samples");
	assert_false(view.rows[0].by_counters);
	assert_true(view.rows[0].share == 0.25);
	assert_string_equal(
		view.rows[0].why, "samples: 25 % of it (a >= 10 %, b < 5); rusage: 20 (c > 10)");
}

/* Both reject it: the number of the counters is the one to print. */
static void counters_that_decide_are_the_deciders(void **state)
{
	arena_auto struct arena arena = {0};
	hypothesis_book_auto struct hypothesis_book *book = NULL;
	signals_auto struct signals signals = {0};
	str_auto struct str text = {0};
	struct ledger_view view;
	struct err err = {0};

	(void)state;
	str_add(&text, two_witnesses);
	memcpy(strstr(text.at, "witness rusage"), "witness pmu   ", strlen("witness rusage"));
	assert_int_equal(hypothesis_book_parse("test", text.at, &book, &err), 0);
	vec_push(&signals.rows, ((struct signal){"a", "share", "w", "p", "q", "m", "", 0.001}));
	vec_push(&signals.rows, ((struct signal){"c", "", "w", "p", "q", "m", "", 0}));
	ledger_evaluate(book, &signals, &arena, &view);
	assert_int_equal(view.rows[0].verdict, HYPOTHESIS_REJECTS);
	assert_string_equal(view.rows[0].decider->witness, "pmu");
	assert_true(view.rows[0].by_counters);
}

/* A lock of one thread.  What is not known to be missing may be there. */
static void what_cannot_be_is_rejected_and_not_shown(void **state)
{
	arena_auto struct arena arena = {0};
	str_auto struct str text = {0};
	struct known known[] = {{"a", 0.25}, {"b", 1}, {"c", 20}, {"threads", 1}};
	struct ledger_view view;

	(void)state;
	str_addf(&text, "%sneeds threads >= 2\n", two_witnesses);
	view = judge_with(text.at, known, 4, &arena);
	assert_true(view.rows[0].is_impossible);
	assert_int_equal(view.rows[0].verdict, HYPOTHESIS_REJECTS);
	known[3].value = 2;
	assert_false(judge_with(text.at, known, 4, &arena).rows[0].is_impossible);
	view = judge_with(text.at, known, 3, &arena);
	assert_false(view.rows[0].is_impossible);
	assert_int_equal(view.rows[0].verdict, HYPOTHESIS_SUPPORTS);
}

/* The explanation of two witnesses with another condition of the first. */
static struct ledger_view judge_instead(const char *condition, struct arena *arena)
{
	static const struct known known[] = {{"a", 0.25}, {"b", 1}, {"c", 20}};
	static const char was[] = "a >= 0.1 and b < 5";
	const char *at = strstr(two_witnesses, was);
	const char *text = arena_format(arena, "%.*s%s%s", (int)(at - two_witnesses), two_witnesses,
		condition, at + strlen(was));

	return judge_with(text, known, 3, arena);
}

static void a_sum_of_shares_is_compared_in_percent_as_its_numbers_are(void **state)
{
	arena_auto struct arena arena = {0};
	struct ledger_view view = judge_instead("a + a >= 0.1", &arena);

	(void)state;
	assert_non_null(strstr(view.rows[0].why, "25 % of it (a + a >= 10 %)"));
	view = judge_instead("a * c >= 0.1", &arena); /* no share */
	assert_non_null(strstr(view.rows[0].why, "(a * c >= 0.1"));
}

static void one_witness_alone_is_inconclusive(void **state)
{
	arena_auto struct arena arena = {0};
	struct ledger_view view = JUDGE(&arena, {"a", 0.25}, {"b", 1}, {"c", (double)NAN});

	(void)state;
	assert_int_equal(view.rows[0].verdict, HYPOTHESIS_INCONCLUSIVE);
	assert_non_null(strstr(view.rows[0].why, "only one method"));
	assert_string_equal(view.rows[0].decider->witness, "samples"); /* it is for it */
	assert_non_null(strstr(view.rows[0].untested, "c: not measured here"));
	view = JUDGE(&arena, {"a", 0.25}, {"b", 1}, {"c", 5});
	assert_int_equal(view.rows[0].verdict, HYPOTHESIS_INCONCLUSIVE);
}

static void witnesses_that_contradict_each_other_are_a_conflict(void **state)
{
	arena_auto struct arena arena = {0};
	struct ledger_view view = JUDGE(&arena, {"a", 0.25}, {"b", 1}, {"c", 0});

	(void)state;
	assert_int_equal(view.rows[0].verdict, HYPOTHESIS_CONFLICT);
	assert_non_null(strstr(view.rows[0].why, "against it: rusage"));
}

static void what_was_not_measured_is_untested_and_never_rejected(void **state)
{
	arena_auto struct arena arena = {0};
	struct ledger_view view =
		JUDGE(&arena, {"a", (double)NAN}, {"b", (double)NAN}, {"c", (double)NAN});

	(void)state;
	assert_int_equal(view.rows[0].verdict, HYPOTHESIS_UNTESTED);
	assert_string_equal(
		view.rows[0].why, "not tested: a: not measured here; more is not collected yet");
	view = JUDGE(&arena, {"z", 1});
	assert_int_equal(view.rows[0].verdict, HYPOTHESIS_UNTESTED);
}

static void a_rule_with_one_unknown_part_tells_nothing(void **state)
{
	arena_auto struct arena arena = {0};
	struct ledger_view view =
		JUDGE(&arena, {"a", 0.05}, {"b", (double)NAN}, {"c", (double)NAN});

	(void)state;
	assert_int_equal(view.rows[0].verdict, HYPOTHESIS_UNTESTED);
}

static void a_witness_that_rejects_is_enough(void **state)
{
	arena_auto struct arena arena = {0};
	struct ledger_view view = JUDGE(&arena, {"a", 0.001}, {"b", 1}, {"c", (double)NAN});

	(void)state;
	assert_int_equal(view.rows[0].verdict, HYPOTHESIS_REJECTS);
}

static void lost_samples_take_the_word_from_the_samples(void **state)
{
	arena_auto struct arena arena = {0};
	struct ledger_view view =
		JUDGE(&arena, {"a", 0.25}, {"b", 1}, {"c", 20}, {"lost_samples", 0.02});

	(void)state;
	assert_int_equal(view.rows[0].verdict, HYPOTHESIS_INCONCLUSIVE);
	view = JUDGE(&arena, {"a", 0.25}, {"b", 1}, {"c", 20}, {"lost_samples", 0.005});
	assert_int_equal(view.rows[0].verdict, HYPOTHESIS_SUPPORTS);
}

static void the_programs_own_word_is_a_witness(void **state)
{
	arena_auto struct arena arena = {0};
	struct ledger_view view =
		JUDGE(&arena, {"a", 0.25}, {"b", 1}, {"c", (double)NAN}, {"claim_h", 1});

	(void)state;
	assert_int_equal(view.rows[0].verdict, HYPOTHESIS_SUPPORTS);
	view = JUDGE(&arena, {"a", 0.25}, {"b", 1}, {"c", (double)NAN}, {"claim_h", -1});
	assert_int_equal(view.rows[0].verdict, HYPOTHESIS_CONFLICT);
}

static void a_noisy_machine_marks_every_other_row(void **state)
{
	hypothesis_book_auto struct hypothesis_book *book = NULL;
	signals_auto struct signals signals = {0};
	arena_auto struct arena arena = {0};
	struct ledger_view view;
	struct err err = {0};

	(void)state;
	assert_int_equal(hypothesis_book_load(&book, &err), 0);
	vec_push(&signals.rows,
		(struct signal){"wall_spread", "share", "rusage", "p", "q", "m", "", 0.2});
	ledger_evaluate(book, &signals, &arena, &view);
	assert_true(view.noisy);
	for (uint32_t i = 0; i < view.count; i++)
		assert_int_equal(view.rows[i].noisy, !str_equal(view.rows[i].name, "noise"));
	assert_string_equal(view.rows[0].name, "noise");
}

static void what_says_why_stands_before_what_says_where(void **state)
{
	static const char text[] = "hypothesis where\ntitle t\ncategory cpu\nrole place\neffort 1\n"
				   "enough 1\nshare a\nadvice x\nfalsifier y\nnext z\n"
				   "witness w\nsupports a >= 0\nsays {a}\n\n"
				   "hypothesis why\ntitle t\ncategory cpu\neffort 1\nenough 1\n"
				   "share b\nadvice x\nfalsifier y\nnext z\n"
				   "witness w\nsupports b >= 0\nsays {b}\n";
	hypothesis_book_auto struct hypothesis_book *book = NULL;
	signals_auto struct signals signals = {0};
	arena_auto struct arena arena = {0};
	struct ledger_view view;
	struct err err = {0};

	(void)state;
	assert_int_equal(hypothesis_book_parse("test", text, &book, &err), 0);
	vec_push(&signals.rows, (struct signal){"a", "share", "w", "p", "q", "m", "", 0.9});
	vec_push(&signals.rows, (struct signal){"b", "share", "w", "p", "q", "m", "", 0.2});
	ledger_evaluate(book, &signals, &arena, &view);
	assert_string_equal(view.rows[0].name, "why");
	assert_true(view.rows[1].is_place && !view.rows[1].is_aside);
}

static void one_place_is_not_one_places(void **state)
{
	static const char text[] =
		"hypothesis h\ntitle t\ncategory cpu\neffort 1\nenough 1\n"
		"share a\nadvice x\nfalsifier y\nnext z\n"
		"witness w\nsupports a >= 0\nsays no gain at {a}, a gain at {b}\n";
	hypothesis_book_auto struct hypothesis_book *book = NULL;
	signals_auto struct signals signals = {0};
	arena_auto struct arena arena = {0};
	struct ledger_view view;
	struct err err = {0};

	(void)state;
	assert_int_equal(hypothesis_book_parse("test", text, &book, &err), 0);
	vec_push(&signals.rows, (struct signal){"a", "places", "w", "p", "q", "m", "", 1});
	vec_push(&signals.rows, (struct signal){"b", "places", "w", "p", "q", "m", "", 2});
	ledger_evaluate(book, &signals, &arena, &view);
	assert_non_null(strstr(view.rows[0].why, "no gain at 1 place, a gain at 2 places"));
}

static void what_is_hot_and_gains_nothing_is_aside(void **state)
{
	hypothesis_book_auto struct hypothesis_book *book = NULL;
	signals_auto struct signals signals = {0};
	arena_auto struct arena arena = {0};
	struct ledger_view view;
	struct err err = {0};

	(void)state;
	assert_int_equal(hypothesis_book_load(&book, &err), 0);
	ledger_evaluate(book, &signals, &arena, &view);
	for (uint32_t i = 0; i < view.count; i++) {
		bool is_aside = str_equal(view.rows[i].name, "hot_but_off_the_critical_path");

		assert_int_equal(view.rows[i].is_aside, is_aside);
		assert_true(!is_aside || view.rows[i].is_place);
	}
}

/* ---- texts ---- */

static void refused(const char *text, const char *because)
{
	struct hypothesis_book *book = NULL;
	struct err err = {0};

	assert_true(hypothesis_book_parse("test", text, &book, &err) < 0);
	if (!strstr(err.text, because))
		fail_msg("%s, not because of %s", err.text, because);
	assert_string_not_equal(err.hint, "");
}

#define HEAD "hypothesis h\ntitle t\ncategory cpu\neffort 1\nadvice x\nfalsifier y\nnext z\n"

static void doubtful_rules_are_refused(void **state)
{
	(void)state;
	refused("hypothesis h\n", "lacks the key");
	refused(HEAD "witness w\nsupports a >= 1\nsays x\nblue 1\n", "unknown key 'blue'");
	refused(HEAD "supports a >= 1\nwitness w\nsays x\n", "no witness is given above");
	refused(HEAD "witness w\nsays x\n", "no rule");
	refused(HEAD "witness w\nsupports a >= 1\n", "nothing to say");
	refused(HEAD "witness w\nsupports a\nsays x\n", "FORMULA >= NUMBER");
	refused(HEAD "witness w\nsupports a >= one\nsays x\n", "not a number");
	refused(HEAD "witness w\nsupports a >= 1 and\nsays x\n", "not a number");
	refused(HEAD "witness w\nsupports a >= 1\nsays {x\n", "missing }");
	refused(HEAD "witness w\nsupports a >= 1\nsays x\nwitness w\nsupports a < 1\nsays x\n",
		"a second witness");
	refused(HEAD "witness w\nsupports a >= 1\nsays x\neffort 9\n", "a second key");
	refused(HEAD "role here\nwitness w\nsupports a >= 1\nsays x\n", "unknown role 'here'");
	refused(HEAD "enough 9\nwitness w\nsupports a >= 1\nsays x\n", "expected 1 to 3, not '9'");
	refused(HEAD "witness w\nsupports a >= 1\nsays x\n\n" HEAD
		     "witness w\nsupports a >= 1\nsays x\n",
		"a second hypothesis");
}

/* Every name that a rule uses is a signal: one that is misspelled would be "untested" for ever. */
static void every_signal_of_every_rule_is_there(void **state)
{
	hypothesis_book_auto struct hypothesis_book *book = NULL;
	const struct evidence none = {0};
	signals_auto struct signals signals = {0};
	arena_auto struct arena arena = {0};
	struct err err = {0};

	(void)state;
	assert_int_equal(hypothesis_book_load(&book, &err), 0);
	signals_collect(&none, &arena, &signals);
	assert_true(signals.rows.count > 60);
	for (const struct data_text *text = data_texts; text->name; text++) {
		const char *at = text->text;

		if (!str_starts(text->name, "hypotheses/"))
			continue;
		while ((at = strchr(at, '{'))) {
			size_t len = strcspn(++at, "}");
			const char *name = arena_text(&arena, at, len);

			if (!signals_find(&signals, name))
				fail_msg("%s: there is no signal %s", text->name, name);
		}
	}
}

static void no_evidence_at_all_leaves_everything_untested(void **state)
{
	hypothesis_book_auto struct hypothesis_book *book = NULL;
	const struct evidence none = {0};
	signals_auto struct signals signals = {0};
	arena_auto struct arena arena = {0};
	struct ledger_view view;
	struct err err = {0};

	(void)state;
	assert_int_equal(hypothesis_book_load(&book, &err), 0);
	signals_collect(&none, &arena, &signals);
	vec_foreach (const struct signal, signal, &signals.rows) {
		assert_true(isnan(signal->value));
		assert_string_not_equal(signal->reason, "");
	}
	ledger_evaluate(book, &signals, &arena, &view);
	assert_true(view.count >= 23);
	for (uint32_t i = 0; i < view.count; i++) {
		assert_int_equal(view.rows[i].verdict, HYPOTHESIS_UNTESTED);
		assert_string_not_equal(view.rows[i].untested, "");
	}
}

/* ---- signals ---- */

static void a_fact_with_a_reason_gives_a_signal_with_that_reason(void **state)
{
	run_auto struct run *run = run_open();
	struct evidence evidence = {0};
	signals_auto struct signals signals = {0};
	arena_auto struct arena arena = {0};
	const struct signal *signal;

	(void)state;
	run_add_fact(run, &(struct fact_row){.name = run_intern(run, "runq_ns"),
				  .reason = run_intern(run, "this kernel has none"),
				  .value = (double)NAN});
	run_add_fact(run, &(struct fact_row){.name = run_intern(run, "on_cpu_ns"), .value = 500});
	run_add_fact(run, &(struct fact_row){.name = run_intern(run, "watched_ns"), .value = 1000});
	run_freeze(run);
	evidence.piece[EVIDENCE_OBSERVED] = (struct evidence_piece){run, "observed.assay", "", ""};
	signals_collect(&evidence, &arena, &signals);
	signal = signals_find(&signals, "runq_share");
	assert_true(isnan(signal->value));
	assert_string_equal(signal->reason, "this kernel has none");
	signal = signals_find(&signals, "parallelism");
	assert_true(signal->value == 0.5);
	assert_string_equal(signal->path, "observed.assay");
	assert_non_null(strstr(signal->query, "FROM facts WHERE name = 'on_cpu_ns'"));
}

static void the_programs_claims_become_signals(void **state)
{
	run_auto struct run *run = run_open();
	struct evidence evidence = {0};
	signals_auto struct signals signals = {0};
	arena_auto struct arena arena = {0};

	(void)state;
	run_add_claim(run, &(struct claim_row){.name = run_intern(run, "Lock-Thrash"),
				   .verdict = run_intern(run, "rejects")});
	run_freeze(run);
	evidence.piece[EVIDENCE_EVENTS] = (struct evidence_piece){run, "events.assay", "", ""};
	signals_collect(&evidence, &arena, &signals);
	assert_true(signals_find(&signals, "claim_lock_thrash")->value == -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_witnesses_that_agree_support),
		cmocka_unit_test(counters_that_decide_are_the_deciders),
		cmocka_unit_test(what_cannot_be_is_rejected_and_not_shown),
		cmocka_unit_test(a_sum_of_shares_is_compared_in_percent_as_its_numbers_are),
		cmocka_unit_test(one_witness_alone_is_inconclusive),
		cmocka_unit_test(witnesses_that_contradict_each_other_are_a_conflict),
		cmocka_unit_test(what_was_not_measured_is_untested_and_never_rejected),
		cmocka_unit_test(a_rule_with_one_unknown_part_tells_nothing),
		cmocka_unit_test(a_witness_that_rejects_is_enough),
		cmocka_unit_test(lost_samples_take_the_word_from_the_samples),
		cmocka_unit_test(the_programs_own_word_is_a_witness),
		cmocka_unit_test(a_noisy_machine_marks_every_other_row),
		cmocka_unit_test(what_says_why_stands_before_what_says_where),
		cmocka_unit_test(what_is_hot_and_gains_nothing_is_aside),
		cmocka_unit_test(one_place_is_not_one_places),
		cmocka_unit_test(doubtful_rules_are_refused),
		cmocka_unit_test(every_signal_of_every_rule_is_there),
		cmocka_unit_test(no_evidence_at_all_leaves_everything_untested),
		cmocka_unit_test(a_fact_with_a_reason_gives_a_signal_with_that_reason),
		cmocka_unit_test(the_programs_claims_become_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
