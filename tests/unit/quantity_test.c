/* Quantities: one thing that two mechanisms tell of the same run, and what follows when they do not
 * agree. */
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

#define HEAD                                                                                       \
	"hypothesis h\ntitle t\ncategory cpu\neffort 1\nadvice x\nfalsifier y\nnext z\nshare a\n"
#define QUANTITY                                                                                   \
	"quantity q\ntitle CPU time\nsignals m n\napart 0.2\nfloor 100\nnext assay record -F 9\n"
/* A witness that rests on m and n, and one that does not. */
#define RESTS "witness samples\nsupports a >= 10\nrejects a < 1\nsays {a}\nagree q\n"
#define FREE "witness rusage\nsupports b >= 10\nrejects b < 1\nsays {b}\n"

struct known {
	const char *name;
	double value;
};

/* The verdict over these signals, whose words are in the caller's arena.  "n_other" is of another
 * run than the rest. */
static struct ledger_row judge(
	const char *text, const struct known *known, unsigned count, struct arena *arena)
{
	hypothesis_book_auto struct hypothesis_book *book = NULL;
	struct signals *signals = arena_take(arena, sizeof(*signals));
	struct ledger_view view;
	struct err err = {0};

	if (hypothesis_book_parse("test", text, &book, &err) < 0)
		fail_msg("%s", err.text);
	for (unsigned i = 0; i < count; i++)
		vec_push(&signals->rows,
			(struct signal){known[i].name, *known[i].name == 'm' ? "ns" : "",
				*known[i].name == 'm' ? "samples" : "events",
				str_equal(known[i].name, "n_other") ? "other" : "p", "q", "m",
				isnan(known[i].value) ? "not measured here" : "", known[i].value});
	ledger_evaluate(book, signals, arena, &view);
	/* What the row borrows from the signals is copied, then they go. */
	for (uint32_t i = 0; i < view.rows[0].witness_count; i++) {
		struct ledger_witness *witness = &view.rows[0].witnesses[i];
		struct ledger_dispute *dispute = arena_take(arena, sizeof(*dispute));
		struct signal *low = arena_take(arena, sizeof(*low)),
			      *high = arena_take(arena, sizeof(*high));

		if (!witness->dispute)
			continue;
		*dispute = *witness->dispute;
		*low = *dispute->low;
		*high = *dispute->high;
		dispute->low = low;
		dispute->high = high;
		witness->dispute = dispute;
	}
	signals_done(signals);
	return view.rows[0];
}

#define JUDGE(text, arena, ...)                                                                    \
	judge(text, (const struct known[]){__VA_ARGS__},                                           \
		sizeof((const struct known[]){__VA_ARGS__}) / sizeof(struct known), arena)

/* ---- one quantity ---- */

static void numbers_that_agree_change_nothing(void **state)
{
	arena_auto struct arena arena = {0};
	struct ledger_row row = JUDGE(QUANTITY "\n" HEAD RESTS FREE, &arena, {"a", 20}, {"b", 20},
		{"m", 1000}, {"n", 810});

	(void)state;
	assert_int_equal(row.verdict, HYPOTHESIS_SUPPORTS);
	assert_null(row.witnesses[0].dispute);
	assert_string_equal(row.why, "samples: 20 (a >= 10); rusage: 20 (b >= 10)");
	assert_string_equal(row.next, "z");
	/* Exactly as far apart as is allowed. */
	row = JUDGE(QUANTITY "\n" HEAD RESTS FREE, &arena, {"a", 20}, {"b", 20}, {"m", 800},
		{"n", 1000});
	assert_int_equal(row.verdict, HYPOTHESIS_SUPPORTS);
}

static void numbers_too_far_apart_are_a_conflict_in_either_direction(void **state)
{
	arena_auto struct arena arena = {0};
	struct ledger_row row = JUDGE(QUANTITY "\n" HEAD RESTS FREE, &arena, {"a", 20}, {"b", 20},
		{"m", 1000}, {"n", 600});

	(void)state;
	assert_int_equal(row.verdict, HYPOTHESIS_CONFLICT);
	assert_string_equal(row.why,
		"CPU time: 1 us by samples and 600 by events cannot both be right (40 % apart), "
		"`assay record -F 9` settles it; for it: samples: 20 (a >= 10); rusage: 20 (b >= "
		"10)");
	assert_string_equal(row.next, "assay record -F 9");
	assert_string_equal(row.witnesses[0].dispute->quantity, "q");
	assert_string_equal(row.witnesses[0].dispute->high->name, "m");
	assert_string_equal(row.witnesses[0].dispute->low->name, "n");
	assert_true(fabs(row.witnesses[0].dispute->apart - 0.4) < 1e-9);
	assert_true(row.witnesses[0].dispute->limit == 0.2);
	row = JUDGE(QUANTITY "\n" HEAD RESTS FREE, &arena, {"a", 20}, {"b", 20}, {"m", 600},
		{"n", 1000});
	assert_int_equal(row.verdict, HYPOTHESIS_CONFLICT);
	assert_string_equal(row.witnesses[0].dispute->high->name, "n");
}

static void what_would_be_rejected_is_a_conflict_too(void **state)
{
	arena_auto struct arena arena = {0};
	struct ledger_row row = JUDGE(
		QUANTITY "\n" HEAD RESTS FREE, &arena, {"a", 0}, {"b", 5}, {"m", 1000}, {"n", 600});

	(void)state;
	assert_int_equal(row.verdict, HYPOTHESIS_CONFLICT);
	assert_non_null(strstr(row.why, "against it: samples: 0 (a < 1)"));
}

static void both_numbers_are_kept_with_the_verdict(void **state)
{
	arena_auto struct arena arena = {0};
	struct ledger_row row = JUDGE(QUANTITY "\n" HEAD RESTS FREE, &arena, {"a", 20}, {"b", 20},
		{"m", 1000}, {"n", 600});

	(void)state;
	assert_int_equal(row.witnesses[0].signal_count, 3); /* a, n, m */
	assert_int_equal(row.witnesses[1].signal_count, 1);
}

static void an_unknown_side_contradicts_nobody(void **state)
{
	arena_auto struct arena arena = {0};
	struct ledger_row row = JUDGE(QUANTITY "\n" HEAD RESTS FREE, &arena, {"a", 20}, {"b", 20},
		{"m", 1000}, {"n", (double)NAN});

	(void)state;
	assert_int_equal(row.verdict, HYPOTHESIS_SUPPORTS);
	row = JUDGE(QUANTITY "\n" HEAD RESTS FREE, &arena, {"a", 20}, {"b", 20}, {"n", 600});
	assert_int_equal(row.verdict, HYPOTHESIS_SUPPORTS);
	row = JUDGE(QUANTITY "\n" HEAD RESTS FREE, &arena, {"a", 20}, {"b", 20});
	assert_int_equal(row.verdict, HYPOTHESIS_SUPPORTS);
	row = JUDGE(
		QUANTITY "\n" HEAD RESTS FREE, &arena, {"a", 20}, {"b", 20}, {"m", -5}, {"n", 600});
	assert_int_equal(row.verdict, HYPOTHESIS_SUPPORTS);
}

static void zero_against_much_is_a_conflict_and_zero_twice_is_none(void **state)
{
	static const char no_floor[] = "quantity q\ntitle t\nsignals m n\napart 0.2\nfloor 0\n"
				       "next x\n\n" HEAD RESTS FREE;
	arena_auto struct arena arena = {0};
	struct ledger_row row = JUDGE(
		QUANTITY "\n" HEAD RESTS FREE, &arena, {"a", 20}, {"b", 20}, {"m", 0}, {"n", 600});

	(void)state;
	assert_int_equal(row.verdict, HYPOTHESIS_CONFLICT);
	assert_true(row.witnesses[0].dispute->apart == 1);
	row = JUDGE(no_floor, &arena, {"a", 20}, {"b", 20}, {"m", 0}, {"n", 0});
	assert_int_equal(row.verdict, HYPOTHESIS_SUPPORTS);
}

static void tiny_numbers_below_the_floor_are_not_compared(void **state)
{
	arena_auto struct arena arena = {0};
	struct ledger_row row = JUDGE(
		QUANTITY "\n" HEAD RESTS FREE, &arena, {"a", 20}, {"b", 20}, {"m", 99}, {"n", 1});

	(void)state;
	assert_int_equal(row.verdict, HYPOTHESIS_SUPPORTS);
	row = JUDGE(
		QUANTITY "\n" HEAD RESTS FREE, &arena, {"a", 20}, {"b", 20}, {"m", 100}, {"n", 1});
	assert_int_equal(row.verdict, HYPOTHESIS_CONFLICT);
}

static void numbers_of_two_runs_are_two_quantities(void **state)
{
	static const char two_runs[] =
		"quantity q\ntitle t\nsignals m n_other\napart 0.2\nfloor 1\n"
		"next x\n\n" HEAD RESTS FREE;
	arena_auto struct arena arena = {0};
	struct ledger_row row =
		JUDGE(two_runs, &arena, {"a", 20}, {"b", 20}, {"m", 1000}, {"n_other", 10});

	(void)state;
	assert_int_equal(row.verdict, HYPOTHESIS_SUPPORTS);
}

static void of_a_group_the_two_farthest_apart_are_named(void **state)
{
	static const char group[] = "quantity q\ntitle t\nsignals n m n2\napart 0.2\nfloor 1\n"
				    "next x\n\n" HEAD RESTS FREE;
	arena_auto struct arena arena = {0};
	struct ledger_row row =
		JUDGE(group, &arena, {"a", 20}, {"b", 20}, {"m", 85}, {"n", 100}, {"n2", 70});

	(void)state;
	assert_int_equal(row.verdict, HYPOTHESIS_CONFLICT);
	assert_string_equal(row.witnesses[0].dispute->high->name, "n");
	assert_string_equal(row.witnesses[0].dispute->low->name, "n2");
	row = JUDGE(
		group, &arena, {"a", 20}, {"b", 20}, {"m", 85}, {"n", 100}, {"n2", (double)NAN});
	assert_int_equal(row.verdict, HYPOTHESIS_SUPPORTS);
}

static void a_condition_that_holds_forbids_the_comparison(void **state)
{
	static const char unless[] = QUANTITY "unless c > 5\nunless d < 1\n\n" HEAD RESTS FREE;
	arena_auto struct arena arena = {0};
	struct ledger_row row =
		JUDGE(unless, &arena, {"a", 20}, {"b", 20}, {"m", 1000}, {"n", 600}, {"c", 6});

	(void)state;
	assert_int_equal(row.verdict, HYPOTHESIS_SUPPORTS);
	row = JUDGE(
		unless, &arena, {"a", 20}, {"b", 20}, {"m", 1000}, {"n", 600}, {"c", 5}, {"d", 0});
	assert_int_equal(row.verdict, HYPOTHESIS_SUPPORTS);
	row = JUDGE(
		unless, &arena, {"a", 20}, {"b", 20}, {"m", 1000}, {"n", 600}, {"c", 5}, {"d", 1});
	assert_int_equal(row.verdict, HYPOTHESIS_CONFLICT);
	/* What is not known forbids nothing. */
	row = JUDGE(
		unless, &arena, {"a", 20}, {"b", 20}, {"m", 1000}, {"n", 600}, {"c", (double)NAN});
	assert_int_equal(row.verdict, HYPOTHESIS_CONFLICT);
}

/* ---- what hangs on it ---- */

static void a_verdict_that_others_carry_stands_and_the_dispute_is_told(void **state)
{
	arena_auto struct arena arena = {0};
	struct ledger_row row = JUDGE(
		QUANTITY "\n" HEAD RESTS FREE, &arena, {"a", 0}, {"b", 0}, {"m", 1000}, {"n", 600});

	(void)state;
	assert_int_equal(row.verdict, HYPOTHESIS_REJECTS);
	assert_string_equal(row.why, "rusage: 0 (b < 1)");
	assert_string_equal(row.next, "z");
	assert_int_equal(row.witnesses[0].verdict, HYPOTHESIS_INCONCLUSIVE);
	assert_non_null(strstr(row.witnesses[0].words, "but CPU time: 1 us by samples"));
	/* Three for it, one of them in dispute: two are left. */
	row = JUDGE(QUANTITY "\n" HEAD RESTS FREE "witness pmu\nsupports b > 10\nsays {b}\n",
		&arena, {"a", 20}, {"b", 20}, {"m", 1000}, {"n", 600});
	assert_int_equal(row.verdict, HYPOTHESIS_SUPPORTS);
	assert_string_equal(row.why, "rusage: 20 (b >= 10); pmu: 20 (b > 10)");
}

static void a_witness_that_does_not_speak_has_no_dispute(void **state)
{
	arena_auto struct arena arena = {0};
	struct ledger_row row = JUDGE(
		QUANTITY "\n" HEAD RESTS FREE, &arena, {"a", 5}, {"b", 0}, {"m", 1000}, {"n", 600});

	(void)state;
	assert_int_equal(row.verdict, HYPOTHESIS_REJECTS);
	assert_null(row.witnesses[0].dispute);
	row = JUDGE(QUANTITY "\n" HEAD RESTS FREE, &arena, {"a", (double)NAN}, {"b", (double)NAN},
		{"m", 1000}, {"n", 600});
	assert_int_equal(row.verdict, HYPOTHESIS_UNTESTED);
}

static void one_witness_alone_stays_inconclusive_with_its_dispute(void **state)
{
	arena_auto struct arena arena = {0};
	struct ledger_row row = JUDGE(QUANTITY "\n" HEAD RESTS FREE, &arena, {"a", 20}, {"b", 5},
		{"m", 1000}, {"n", 600});

	(void)state;
	assert_int_equal(row.verdict, HYPOTHESIS_INCONCLUSIVE);
	assert_non_null(strstr(row.why, "only one method: samples: 20 (a >= 10), but CPU time"));
}

static void witnesses_that_contradict_each_other_name_the_dispute_first(void **state)
{
	arena_auto struct arena arena = {0};
	struct ledger_row row = JUDGE(QUANTITY "\n" HEAD RESTS FREE, &arena, {"a", 20}, {"b", 0},
		{"m", 1000}, {"n", 600});

	(void)state;
	assert_int_equal(row.verdict, HYPOTHESIS_CONFLICT);
	assert_true(str_starts(row.why, "CPU time: "));
	assert_non_null(strstr(row.why, "; for it: samples: 20 (a >= 10); against it: rusage"));
	assert_string_equal(row.next, "assay record -F 9");
}

static void one_quantity_of_two_witnesses_is_told_once(void **state)
{
	arena_auto struct arena arena = {0};
	struct ledger_row row = JUDGE(QUANTITY "\n" HEAD RESTS FREE "agree q\n", &arena, {"a", 20},
		{"b", 20}, {"m", 1000}, {"n", 600});
	const char *first = strstr(row.why, "CPU time");

	(void)state;
	assert_int_equal(row.verdict, HYPOTHESIS_CONFLICT);
	assert_non_null(first);
	assert_null(strstr(first + 1, "CPU time"));
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

#define START "quantity q\ntitle t\nnext x\n"

static void doubtful_quantities_are_refused(void **state)
{
	(void)state;
	refused(START "signals m n\nfloor 1\n", "lacks the key 'apart'");
	refused(START "signals m n\napart 0.2\n", "lacks the key 'floor'");
	refused(START "signals m\napart 0.2\nfloor 1\n", "two or more signals");
	refused(START "signals m m\napart 0.2\nfloor 1\n", "a second signal 'm'");
	refused(START "signals a b c d e\napart 0.2\nfloor 1\n", "too many signals at 'e'");
	refused(START "signals m n\napart 20 %\nfloor 1\n", "not a number: '20 %'");
	refused(START "signals m n\napart 20\nfloor 1\n", "a share between 0 and 1");
	refused(START "signals m n\napart 0\nfloor 1\n", "a share between 0 and 1");
	refused(START "signals m n\napart nan\nfloor 1\n", "not a number");
	refused(START "signals m n\napart 0.2\nfloor -1\n", "must not be negative: '-1'");
	refused(START "signals m n\napart 0.2\nfloor many\n", "not a number: 'many'");
	refused(START "signals m n\napart 0.2\nfloor 1\nunless c\n", "FORMULA >= NUMBER");
	refused(START "signals m n\napart 0.2\nfloor 1\nunless c > 1\nunless c > 1\nunless c > 1\n"
		      "unless c > 1\nunless c > 1\n",
		"too many rules");
	refused(START "signals m n\napart 0.2\nfloor 1\nsays x\n", "unknown key 'says'");
	refused(QUANTITY "\n" QUANTITY, "a second quantity 'q'");
}

static void a_rule_may_only_rest_on_a_quantity_that_is_there(void **state)
{
	(void)state;
	refused(HEAD RESTS, "test:13: unknown quantity 'q'");
	refused(QUANTITY "\n" HEAD "agree q\n" RESTS, "no witness is given above");
	refused(QUANTITY "\n" HEAD RESTS "agree q\n", "a second time 'q'");
	refused(QUANTITY "\n" HEAD RESTS "agree r\nagree s\nagree t\n", "too many quantities");
}

static void a_quantity_may_stand_behind_what_rests_on_it(void **state)
{
	arena_auto struct arena arena = {0};
	struct ledger_row row = JUDGE(HEAD RESTS FREE "\n" QUANTITY, &arena, {"a", 20}, {"b", 20},
		{"m", 1000}, {"n", 600});

	(void)state;
	assert_int_equal(row.verdict, HYPOTHESIS_CONFLICT);
}

/* ---- the texts that are compiled in ---- */

/* The quantities of data/, one by one: calls `each` with the words behind a key. */
static void lines_of(const char *key, struct arena *arena,
	void (*each)(const char *value, void *context), void *context)
{
	for (const struct data_text *text = data_texts; text->name; text++) {
		const char *at = str_starts(text->name, "hypotheses/") ? text->text : "";

		while (*at) {
			size_t len = strcspn(at, "\n");
			char *line = arena_text(arena, at, len);

			if (str_starts(line, key) && line[strlen(key)] == ' ')
				each(str_trim(line + strlen(key)), context);
			at += len + (at[len] == '\n');
		}
	}
}

struct signal_check {
	struct signals signals;
	struct arena *arena;
	unsigned quantities;
};

static void signals_check(const char *value, void *context)
{
	struct signal_check *check = context;
	char *at = arena_text(check->arena, value, strlen(value)), *word;
	const struct signal *first = NULL;

	while ((word = strsep(&at, " "))) {
		const struct signal *signal = signals_find(&check->signals, word);

		if (!signal)
			fail_msg("there is no signal %s", word);
		else if (first && str_equal(first->witness, signal->witness))
			fail_msg("%s and %s are one voice", first->name, signal->name);
		else if (first && !str_equal(first->path, signal->path))
			fail_msg("%s and %s are of two runs", first->name, signal->name);
		else if (first && !str_equal(first->unit, signal->unit))
			fail_msg("%s and %s have two units", first->name, signal->name);
		first = signal;
	}
	check->quantities++;
}

/* A pair of one witness, or of two phases, would say nothing about the mechanisms. */
static void every_quantity_is_one_run_told_by_different_witnesses(void **state)
{
	struct evidence none = {0};
	arena_auto struct arena arena = {0};
	struct signal_check check = {.arena = &arena};

	(void)state;
	for (unsigned i = 0; i < EVIDENCE_KINDS; i++)
		none.piece[i].path = evidence_kind_word(i);
	signals_collect(&none, &arena, &check.signals);
	lines_of("signals", &arena, signals_check, &check);
	assert_true(check.quantities >= 5);
	signals_done(&check.signals);
}

struct name_check {
	const char *name;
	unsigned seen;
	struct arena *arena;
};

static void name_compare(const char *value, void *context)
{
	struct name_check *check = context;

	check->seen += str_equal(value, check->name);
}

static void quantity_is_used(const char *value, void *context)
{
	struct name_check check = {.name = value, .arena = context};

	lines_of("agree", check.arena, name_compare, &check);
	if (!check.seen)
		fail_msg("nothing rests on the quantity %s", value);
}

static void every_quantity_has_something_that_rests_on_it(void **state)
{
	arena_auto struct arena arena = {0};

	(void)state;
	lines_of("quantity", &arena, quantity_is_used, &arena);
}

/* ---- the signal of the samples ---- */

static const struct signal *sampled_time(
	const char *event, const char *unit, struct arena *arena, struct signals *signals)
{
	run_auto struct run *run = run_open();
	struct evidence evidence = {0};
	row_id id = run_add_event(run,
		&(struct event_row){
			.name = run_intern(run, event), .unit = run_intern(run, unit), .scale = 1});

	for (unsigned i = 0; i < 3; i++)
		run_add_sample(run, &(struct sample_row){.event = id, .period = 2000000});
	run_freeze(run);
	evidence.piece[EVIDENCE_PROFILE] = (struct evidence_piece){run, "profile.assay", "", ""};
	signals_collect(&evidence, arena, signals);
	return signals_find(signals, "sampled_cpu_ns");
}

static void sampled_time_is_known_of_a_clock_and_both_sides_only(void **state)
{
	arena_auto struct arena arena = {0};
	signals_auto struct signals clock = {0}, user = {0}, cycles = {0};
	const struct signal *signal = sampled_time("cpu-clock", "ns", &arena, &clock);

	(void)state;
	assert_true(signal->value == 6000000);
	signal = sampled_time("cpu-clock:u", "ns", &arena, &user);
	assert_true(isnan(signal->value));
	assert_non_null(strstr(signal->reason, "not permitted"));
	signal = sampled_time("cycles", "", &arena, &cycles);
	assert_true(isnan(signal->value));
	assert_string_equal(signal->reason, "the samples are not of a clock");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_that_agree_change_nothing),
		cmocka_unit_test(numbers_too_far_apart_are_a_conflict_in_either_direction),
		cmocka_unit_test(what_would_be_rejected_is_a_conflict_too),
		cmocka_unit_test(both_numbers_are_kept_with_the_verdict),
		cmocka_unit_test(an_unknown_side_contradicts_nobody),
		cmocka_unit_test(zero_against_much_is_a_conflict_and_zero_twice_is_none),
		cmocka_unit_test(tiny_numbers_below_the_floor_are_not_compared),
		cmocka_unit_test(numbers_of_two_runs_are_two_quantities),
		cmocka_unit_test(of_a_group_the_two_farthest_apart_are_named),
		cmocka_unit_test(a_condition_that_holds_forbids_the_comparison),
		cmocka_unit_test(a_verdict_that_others_carry_stands_and_the_dispute_is_told),
		cmocka_unit_test(a_witness_that_does_not_speak_has_no_dispute),
		cmocka_unit_test(one_witness_alone_stays_inconclusive_with_its_dispute),
		cmocka_unit_test(witnesses_that_contradict_each_other_name_the_dispute_first),
		cmocka_unit_test(one_quantity_of_two_witnesses_is_told_once),
		cmocka_unit_test(doubtful_quantities_are_refused),
		cmocka_unit_test(a_rule_may_only_rest_on_a_quantity_that_is_there),
		cmocka_unit_test(a_quantity_may_stand_behind_what_rests_on_it),
		cmocka_unit_test(every_quantity_is_one_run_told_by_different_witnesses),
		cmocka_unit_test(every_quantity_has_something_that_rests_on_it),
		cmocka_unit_test(sampled_time_is_known_of_a_clock_and_both_sides_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
