/* round_test.c - after a change: what moved, whether the promise was kept, when to stop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "analyze/round.h"
#include "model/manifest.h"
#include "model/rounds.h"
#include "model/run.h"
#include "render/answer_json.h"
#include "render/markdown.h"
#include "render/round.h"

struct fixture {
	struct run *runs[2];
	struct manifest manifests[2];
	struct fingerprint_comparison comparison;
	struct arena arena;
	struct round_view view;
	struct round_input input;
	struct err err;
};

/* `count` runs around `ms`, each a little different. */
static void fill(struct run *run, unsigned count, double ms)
{
	run_add_command(run, &(struct command_row){run_intern(run, "prog")});
	for (unsigned i = 0; i < count; i++) {
		uint64_t wall = (uint64_t)(1e6 * ms * (1 + 0.004 * ((i * 7) % 5)));

		run_add_execution(run, &(struct execution_row){.command = 1,
					       .start_ns = 1000000000ULL * (i + 1),
					       .wall_ns = wall,
					       .user_ns = wall});
	}
	run_freeze(run);
}

static void begin(struct fixture *f, unsigned count, double before_ms, double after_ms)
{
	*f = (struct fixture){.runs = {run_open(), run_open()}};
	fill(f->runs[0], count, before_ms);
	fill(f->runs[1], count, after_ms);
	for (unsigned i = 0; i < 2; i++)
		manifest_init(&f->manifests[i]);
	f->manifests[0].run_id = "before";
	f->manifests[1].run_id = "after";
	f->input = (struct round_input){
		.before = &f->manifests[0],
		.after = &f->manifests[1],
		.before_run = f->runs[0],
		.after_run = f->runs[1],
		.next_score = 3,
	};
}

static void make(struct fixture *f)
{
	assert_int_equal(round_make(&f->input, &f->comparison, &f->arena, &f->view, &f->err), 0);
}

static void end(struct fixture *f)
{
	for (unsigned i = 0; i < 2; i++) {
		run_close(f->runs[i]);
		manifest_done(&f->manifests[i]);
	}
	fingerprint_comparison_done(&f->comparison);
	arena_done(&f->arena);
}

static void promise(struct fixture *f, double gain, double lo, double hi)
{
	f->manifests[0].promise = (struct manifest_promise){.location = "a.c:7",
		.function = "",
		.sentence = "",
		.gain = gain,
		.lo = lo,
		.hi = hi,
		.at = 0.5};
}

/* Every run waited for a CPU, besides what it took. */
static void wait_for_cpus(struct fixture *f, unsigned side, double wait_ms)
{
	struct run *run = run_open();

	run_add_command(run, &(struct command_row){run_intern(run, "prog")});
	for (row_id id = 1; id <= f->runs[side]->executions.count; id++) {
		struct execution_row row = run_execution(f->runs[side], id);

		row.queue_ns = (uint64_t)(1e6 * wait_ms);
		row.wall_ns += row.queue_ns;
		row.flags |= EXECUTION_QUEUE;
		run_add_execution(run, &row);
	}
	run_freeze(run);
	run_close(f->runs[side]);
	f->runs[side] = run;
}

static void the_time_of_other_programs_is_taken_out(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 10, 100, 80);
	wait_for_cpus(&f, 0, 0);
	wait_for_cpus(&f, 1, 20);
	f.input.before_run = f.runs[0];
	f.input.after_run = f.runs[1];
	make(&f);
	assert_true(f.view.corrected);
	assert_int_equal(f.view.verdict.outcome, COMPARE_IMPROVED);
	assert_string_equal(f.view.verdict.by->name, "corrected wall time");
	assert_true(fabs(f.view.ratio - 0.8) < 0.01);
	assert_true(f.view.after_ns > 0.99 * f.view.before_ns); /* wall time as it was */
	end(&f);
}

static void a_promised_gain_that_comes_has_arrived(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 20, 100, 80);
	promise(&f, 0.21, 0.15, 0.26);
	make(&f);
	assert_int_equal(f.view.verdict.outcome, COMPARE_IMPROVED);
	assert_int_equal(f.view.promise, ROUND_PROMISE_ARRIVED);
	assert_true(fabs(f.view.ratio - 0.8) < 0.01);
	assert_false(f.view.stop);
	end(&f);
}

/* As measured: two sessions with nothing changed, beside a counting process for each CPU. */
static void sessions_beside_other_programs_have_to_differ_by_more(void **state)
{
	struct fixture f;

	(void)state;
	for (unsigned busy = 0; busy < 2; busy++) {
		begin(&f, 3, 5300, 4736);
		promise(&f, 0.03, 0.01, 0.2);
		f.input.others_share = busy ? 0.64 : 0.01;
		make(&f);
		assert_int_equal(
			f.view.verdict.outcome, busy ? COMPARE_INCONCLUSIVE : COMPARE_IMPROVED);
		assert_int_equal(f.view.promise, busy ? ROUND_PROMISE_OPEN : ROUND_PROMISE_ARRIVED);
		end(&f);
	}
	begin(&f, 6, 5300, 2650); /* half is seen there, too */
	f.input.others_share = 0.64;
	make(&f);
	assert_int_equal(f.view.verdict.outcome, COMPARE_IMPROVED);
	end(&f);
}

static void nothing_arrives_where_the_place_is_as_it_was(void **state)
{
	struct fixture f;
	str_auto struct str words = {0}, json = {0};
	struct jsonw w = {.out = &json};

	(void)state;
	begin(&f, 20, 100, 80);
	promise(&f, 0.21, 0.15, 0.26);
	f.input.is_place_unchanged = true;
	make(&f);
	assert_int_equal(f.view.verdict.outcome, COMPARE_IMPROVED); /* by something else */
	assert_int_equal(f.view.promise, ROUND_PROMISE_NONE);
	assert_true(isnan(f.view.promised) && isnan(f.view.promised_at));
	round_promise_words(&words, &f.view);
	assert_non_null(strstr(words.at, "takes as much time as before"));
	jsonw_begin_object(&w);
	round_json(&w, &f.view);
	jsonw_end_object(&w);
	assert_non_null(strstr(json.at, "\"result\": \"none\""));
	assert_non_null(strstr(json.at, "\"gain_reason\": \"the place that"));
	end(&f);
}

static void a_line_of_the_history_has_ratios_not_gains(void **state)
{
	struct fixture f;
	struct round_row row;

	(void)state;
	begin(&f, 20, 100, 80);
	promise(&f, 0.2, 0.15, 0.3);
	make(&f);
	row = round_row_of(&f.manifests[1], &f.view, "parse.c:142");
	assert_string_equal(row.run_id, "after");
	assert_string_equal(row.against, "before");
	assert_string_equal(row.verdict, "improved");
	assert_string_equal(row.first, "parse.c:142");
	assert_int_equal(row.round, 1);
	assert_true(fabs(row.ratio - 0.8) < 0.01);
	assert_true(fabs(row.promised - 0.8) < 1e-9);
	assert_true(fabs(row.promised_lo - 0.7) < 1e-9 && fabs(row.promised_hi - 0.85) < 1e-9);
	row = round_row_of(&f.manifests[1], NULL, "");
	assert_string_equal(row.against, "");
	assert_true(isnan(row.ratio) && isnan(row.promised) && row.round == 0);
	end(&f);
}

static void more_and_less_than_promised_are_told_apart(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 20, 100, 80);
	promise(&f, 0.05, 0.03, 0.07);
	make(&f);
	assert_int_equal(f.view.promise, ROUND_PROMISE_MORE);
	promise(&f, 0.5, 0.4, 0.6);
	make(&f);
	assert_int_equal(f.view.promise, ROUND_PROMISE_LESS);
	end(&f);
}

static void runs_that_cannot_tell_do_not_say_that_a_gain_arrived(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 5, 100, 99);
	promise(&f, 0.05, 0.005, 0.1);
	make(&f);
	assert_int_equal(f.view.verdict.outcome, COMPARE_INCONCLUSIVE);
	assert_true(f.view.gained_lo < 0.005 && f.view.gained_hi > 0.005);
	assert_int_equal(f.view.promise, ROUND_PROMISE_OPEN);
	promise(&f, 0.5, 0.4, 0.6); /* that one they exclude */
	make(&f);
	assert_int_equal(f.view.promise, ROUND_PROMISE_LESS);
	end(&f);
}

static void ratios_are_multiplied_never_added(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 20, 100, 80);
	f.manifests[0].round = 1;
	f.manifests[0].compounded = 0.5;
	make(&f);
	assert_int_equal(f.view.round, 2);
	assert_true(fabs(f.view.compounded - 0.4) < 0.01);
	end(&f);
}

static void a_slower_program_is_told_to_be_undone(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 20, 100, 120);
	make(&f);
	assert_int_equal(f.view.verdict.outcome, COMPARE_REGRESSED);
	assert_non_null(strstr(f.view.next, "undo"));
	end(&f);
}

static void it_says_when_to_stop(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 40, 100, 97);
	make(&f);
	assert_true(f.view.stop);
	assert_non_null(strstr(f.view.next, "less than 5 %"));
	end(&f);
	begin(&f, 20, 100, 80);
	f.input.next_score = 1.5;
	make(&f);
	assert_true(f.view.stop);
	assert_non_null(strstr(f.view.next, "below 2"));
	end(&f);
}

static void a_gain_that_an_experiment_proves_is_worth_a_round_whatever_its_score(void **state)
{
	struct fixture f;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		begin(&f, 20, 100, 80);
		f.input.next_score = 1.8;
		f.input.next_gain_lo = i == 0 ? 0.05 : i == 1 ? 0.049 : (double)NAN;
		make(&f);
		assert_int_equal(f.view.stop, i > 0);
		assert_non_null(strstr(f.view.next, i ? "below 2" : "continue"));
		end(&f);
	}
}

static void three_runs_promise_no_interval_and_no_verdict(void **state)
{
	struct fixture f;
	str_auto struct str text = {0}, page = {0};
	struct paper paper = {.out = &text};

	(void)state;
	begin(&f, 3, 100, 99);
	promise(&f, 0.2, 0.1, 0.3);
	make(&f);
	assert_int_equal(f.view.verdict.outcome, COMPARE_INCONCLUSIVE);
	assert_false(f.view.stop);
	round_text(&paper, &f.view);
	assert_null(strstr(text.at, "nan"));
	assert_null(strstr(text.at, "inf"));
	round_markdown(&page, &f.view);
	assert_null(strstr(page.at, "all rounds together"));
	end(&f);
}

static void three_runs_each_show_what_is_plain(void **state)
{
	struct fixture f;
	str_auto struct str words = {0};

	(void)state;
	begin(&f, 3, 5000, 300);
	make(&f);
	assert_int_equal(f.view.verdict.outcome, COMPARE_IMPROVED);
	assert_true(f.view.ratio_lo > 0.05 && f.view.ratio_hi < 0.07);
	round_moved_words(&words, &f.view);
	assert_non_null(strstr(words.at, "improved: wall time 5.0"));
	end(&f);
}

/* Wall time is the same or worse, CPU time halved: the words say which of them decided. */
static void the_measure_that_decided_is_named(void **state)
{
	struct fixture f;
	str_auto struct str words = {0}, json = {0};
	struct jsonw w = {.out = &json};

	(void)state;
	begin(&f, 20, 100, 101);
	for (unsigned i = 0; i < 20; i++) {
		f.runs[1]->executions.at[i].user_ns /= 2;
		f.runs[1]->executions.at[i].wall_ns += 12000000 * (i % 2);
		f.runs[1]->executions.at[i].wall_ns -= 6000000;
	}
	make(&f);
	assert_int_equal(f.view.verdict.outcome, COMPARE_IMPROVED);
	round_moved_words(&words, &f.view);
	if (strncmp(words.at, "improved: cpu time 1", 20) != 0 ||
		!strstr(words.at, "; wall time 1") || !strstr(words.at, "too noisy"))
		fail_msg("%s", words.at);
	assert_null(strstr(f.view.next, "less than 5 %"));
	jsonw_begin_object(&w);
	round_json(&w, &f.view);
	jsonw_end_object(&w);
	assert_non_null(strstr(json.at, "\"metric\": \"cpu time\""));
	end(&f);
}

static void without_a_baseline_nothing_is_claimed(void **state)
{
	struct fixture f;
	str_auto struct str text = {0}, page = {0};
	struct jsonw w = {.out = &text};

	(void)state;
	begin(&f, 20, 100, 80);
	f.input.before_run = NULL;
	make(&f);
	assert_false(f.view.has_baselines);
	assert_true(isnan(f.view.compounded));
	jsonw_begin_object(&w);
	round_json(&w, &f.view);
	jsonw_end_object(&w);
	assert_non_null(strstr(text.at, "\"ratio\": null"));
	assert_non_null(strstr(text.at, "\"ratio_reason\""));
	assert_non_null(strstr(text.at, "\"class\": null"));
	round_markdown(&page, &f.view);
	assert_null(strstr(page.at, "COMPARABLE"));
	end(&f);
}

static void rounds_come_back_and_torn_lines_cost_only_themselves(void **state)
{
	rounds_auto struct rounds rounds = {0};
	struct round_row row = {.time_ns = 5,
		.run_id = "r1",
		.target = "./p | x",
		.fingerprint = "k",
		.against = "r0",
		.verdict = "improved",
		.first = "a.c:7",
		.round = 1,
		.before_ns = 2e9,
		.after_ns = 1e9,
		.ratio = 0.5,
		.ratio_lo = (double)NAN,
		.ratio_hi = (double)NAN,
		.compounded = 0.5,
		.promised = 0.6,
		.promised_lo = 0.5,
		.promised_hi = 0.7,
		.score = 3};
	str_auto struct str text = {0}, page = {0};
	struct round_line_view line;

	(void)state;
	round_line(&row, &text);
	str_add(&text, "{\"schema\":\"assay.round/1\",\"ru\n\n");
	round_line(&row, &text);
	rounds_read(&rounds, text.at, text.len);
	assert_int_equal(rounds.rows.count, 2);
	assert_int_equal(rounds.skipped, 1);
	assert_true(rounds.rows.at[1].ratio == 0.5);
	assert_true(isnan(rounds.rows.at[1].ratio_lo));
	assert_string_equal(rounds.rows.at[1].first, "a.c:7");
	line = round_line_of(&rounds.rows.at[1]);
	history_markdown(&page, &line, 1);
	assert_non_null(strstr(page.at, "| 1 | r1 | 2.000 s | 1.000 s | 0.500 | 0.600 | 0.500 |"));
	assert_null(strstr(page.at, "nan"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_time_of_other_programs_is_taken_out),
		cmocka_unit_test(a_promised_gain_that_comes_has_arrived),
		cmocka_unit_test(sessions_beside_other_programs_have_to_differ_by_more),
		cmocka_unit_test(nothing_arrives_where_the_place_is_as_it_was),
		cmocka_unit_test(a_line_of_the_history_has_ratios_not_gains),
		cmocka_unit_test(more_and_less_than_promised_are_told_apart),
		cmocka_unit_test(runs_that_cannot_tell_do_not_say_that_a_gain_arrived),
		cmocka_unit_test(ratios_are_multiplied_never_added),
		cmocka_unit_test(a_slower_program_is_told_to_be_undone),
		cmocka_unit_test(it_says_when_to_stop),
		cmocka_unit_test(
			a_gain_that_an_experiment_proves_is_worth_a_round_whatever_its_score),
		cmocka_unit_test(three_runs_promise_no_interval_and_no_verdict),
		cmocka_unit_test(three_runs_each_show_what_is_plain),
		cmocka_unit_test(the_measure_that_decided_is_named),
		cmocka_unit_test(without_a_baseline_nothing_is_claimed),
		cmocka_unit_test(rounds_come_back_and_torn_lines_cost_only_themselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
