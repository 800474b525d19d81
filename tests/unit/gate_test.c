/* gate_test.c - what fails, what passes and what is left open, on numbers that are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/gate.h"
#include "base/io.h"
#include "model/history.h"
#include "model/run.h"
#include "render/export.h"
#include "render/markdown.h"

/* A baseline and a candidate with the command "prog", and what is asked of them. */
struct fixture {
	struct run *runs[2];
	struct bench_view views[2];
	const struct bench_view *baselines[1];
	struct arena arena;
	struct gate_input input;
	struct gate_view view;
	struct history history;
	struct budget_book book;
	struct err err;
};

static void begin(struct fixture *f)
{
	*f = (struct fixture){.runs = {run_open(), run_open()}};
	for (unsigned i = 0; i < 2; i++)
		run_add_command(f->runs[i], &(struct command_row){run_intern(f->runs[i], "prog")});
	f->baselines[0] = &f->views[0];
	f->input = (struct gate_input){
		.baselines = f->baselines,
		.baseline_count = 1,
		.candidate = &f->views[1],
		.fingerprint = "key",
		.judges = {true, true, true},
	};
	assert_int_equal(gate_preset_find(NULL, &f->arena, &f->input.preset, &f->err), 0);
}

static void end(struct fixture *f)
{
	run_close(f->runs[0]);
	run_close(f->runs[1]);
	history_done(&f->history);
	budget_book_done(&f->book);
	arena_done(&f->arena);
}

/* `count` runs around these centres, each a little different, without memory. */
static void add(struct fixture *f, unsigned side, unsigned count, double wall, double cpu)
{
	for (unsigned i = 0; i < count; i++) {
		double wobble = 1 + 0.001 * (i * 7 % 11);

		run_add_execution(f->runs[side], &(struct execution_row){.command = 1,
							 .wall_ns = (uint64_t)(wall * wobble),
							 .user_ns = (uint64_t)(cpu * wobble),
							 .max_rss_bytes = 4 << 20});
	}
}

static const struct gate_verdict *judge(struct fixture *f)
{
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(
			bench_view_make(f->runs[i], false, &f->arena, &f->views[i], &f->err), 0);
	assert_int_equal(gate_make(&f->input, &f->arena, &f->view, &f->err), 0);
	return &f->view.verdict;
}

static const struct gate_item *item(const struct fixture *f, enum gate_metric metric)
{
	for (uint32_t i = 0; i < f->view.commands[0].item_count; i++)
		if (f->view.commands[0].items[i].metric == metric)
			return &f->view.commands[0].items[i];
	fail_msg("%s was not judged", gate_metric_name(metric));
	return &f->view.commands[0].items[0];
}

static bool is_judged(const struct fixture *f, enum gate_metric metric)
{
	return !f->view.commands[0].unjudged[metric];
}

static void severity_follows_the_preset(void **state)
{
	arena_auto struct arena arena = {0};
	struct gate_preset preset;
	struct err err = {0};

	(void)state;
	assert_int_equal(gate_preset_find("perf-regression", &arena, &preset, &err), 0);
	assert_int_equal(gate_severity_of(&preset, 0.02), GATE_NONE);
	assert_int_equal(gate_severity_of(&preset, 0.021), GATE_MINOR);
	assert_int_equal(gate_severity_of(&preset, 0.051), GATE_MODERATE);
	assert_int_equal(gate_severity_of(&preset, 0.5), GATE_MAJOR);
	assert_int_equal(gate_severity_of(&preset, -0.5), GATE_NONE);
	assert_true(gate_preset_limit(&preset) == 0.05 && gate_preset_least(&preset) == 0.02);
	assert_int_equal(gate_preset_find("ci", &arena, &preset, &err), 0);
	assert_int_equal(gate_severity_of(&preset, 0.03), GATE_NONE);
	assert_int_equal(gate_severity_of(&preset, 0.09), GATE_MINOR);
	assert_int_equal(gate_severity_of(&preset, 0.11), GATE_MAJOR);
	assert_true(gate_preset_limit(&preset) == 0.1);
	assert_int_equal(gate_preset_find("soft", &arena, &preset, &err), -EINVAL);
	assert_non_null(strstr(err.hint, "perf-regression ci"));
}

static void the_same_numbers_pass_and_are_equivalent(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	add(&f, 0, 20, 1e7, 9e6);
	add(&f, 1, 20, 1e7, 9e6);
	assert_int_equal(judge(&f)->decision, GATE_PASS);
	assert_string_equal(f.view.verdict.outcome, "equivalent");
	assert_int_equal(f.view.verdict.severity, GATE_NONE);
	assert_int_equal(f.view.commands[0].item_count, 3);
	end(&f);
}

static void more_cpu_and_wall_time_fails_and_less_is_an_improvement(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	add(&f, 0, 20, 1e7, 9e6);
	add(&f, 1, 20, 1.3e7, 1.2e7);
	assert_int_equal(judge(&f)->decision, GATE_FAIL);
	assert_string_equal(f.view.verdict.outcome, "regressed");
	assert_int_equal(f.view.verdict.severity, GATE_MAJOR);
	assert_true(f.view.verdict.item->clear);
	end(&f);
	begin(&f);
	add(&f, 0, 20, 1.3e7, 1.2e7);
	add(&f, 1, 20, 1e7, 9e6);
	assert_int_equal(judge(&f)->decision, GATE_PASS);
	assert_string_equal(f.view.verdict.outcome, "improved");
	end(&f);
}

static void a_small_slowdown_warns_until_fail_on_asks_for_it(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	add(&f, 0, 20, 1e7, 9e6);
	add(&f, 1, 20, 1.035e7, 9.3e6);
	assert_int_equal(judge(&f)->decision, GATE_WARN);
	assert_int_equal(f.view.verdict.severity, GATE_MINOR);
	f.input.preset.fail_on = GATE_MINOR;
	assert_int_equal(judge(&f)->decision, GATE_FAIL);
	end(&f);
}

static void wall_time_alone_needs_a_quiet_machine(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	add(&f, 0, 20, 1e7, 9e6);
	add(&f, 1, 20, 1.052e7, 9e6); /* 5.2 %, its interval reaches below the failing 5 % */
	f.input.preset.fail_on = GATE_MODERATE;
	assert_int_equal(judge(&f)->decision, GATE_UNKNOWN);
	assert_false(item(&f, GATE_WALL)->clear);
	f.input.noise = GATE_QUIET;
	assert_int_equal(judge(&f)->decision, GATE_FAIL);
	assert_int_equal(f.view.verdict.note, COMPARE_NOTE_WALL_ONLY);
	end(&f);
	begin(&f);
	add(&f, 0, 20, 1e7, 9e6);
	add(&f, 1, 20, 1.5e7, 9e6);
	assert_int_equal(judge(&f)->decision, GATE_FAIL); /* nobody knows how loud it was */
	f.input.noise = GATE_LOUD;
	assert_int_equal(judge(&f)->decision, GATE_UNKNOWN);
	end(&f);
	begin(&f);
	add(&f, 0, 20, 1e7, 9e6);
	add(&f, 1, 20, 2.1e7, 9e6); /* twice the time is beyond doubt anywhere */
	f.input.noise = GATE_LOUD;
	assert_int_equal(judge(&f)->decision, GATE_FAIL);
	end(&f);
}

static void machines_that_differ_make_a_change_advice(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	add(&f, 0, 20, 1e7, 9e6);
	add(&f, 1, 20, 2e7, 2e7);
	f.input.advisory = true;
	assert_int_equal(judge(&f)->decision, GATE_UNKNOWN);
	assert_string_equal(f.view.verdict.outcome, "regressed");
	end(&f);
}

/* That it takes twice the time is plain; three runs of another day are no reason to fail. */
static void too_few_runs_fail_no_change(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	add(&f, 0, 3, 1e7, 9e6);
	add(&f, 1, 3, 2e7, 2e7);
	assert_int_equal(judge(&f)->decision, GATE_UNKNOWN);
	assert_string_equal(f.view.verdict.outcome, "regressed");
	end(&f);
}

static void what_was_not_measured_is_not_judged(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	add(&f, 0, 20, 1e7, 0);
	add(&f, 1, 20, 1e7, 9e6);
	f.input.judges[GATE_RSS] = false;
	judge(&f);
	assert_false(is_judged(&f, GATE_CPU));
	assert_false(is_judged(&f, GATE_RSS));
	assert_true(is_judged(&f, GATE_WALL));
	assert_int_equal(f.view.commands[0].item_count, 1);
	end(&f);
}

static void read_budgets(struct fixture *f, const char *text)
{
	assert_int_equal(
		budget_book_read(&f->book, text, strlen(text), "perf.budgets", &f->err), 0);
	f->input.budgets = &f->book;
}

static void a_broken_budget_fails_by_itself(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	add(&f, 0, 20, 1e7, 9e6);
	add(&f, 1, 20, 1e7, 9e6);
	read_budgets(&f, "[prog]\nwall <= 5ms # too slow for the page\ncpu p95 <= 1s +5%\n"
			 "max_rss max <= 64MiB\n[other]\nwall <= 1ms\n");
	assert_int_equal(judge(&f)->decision, GATE_FAIL);
	assert_string_equal(f.view.verdict.outcome, "budget_broken");
	assert_string_equal(f.view.verdict.budget->budget->note, "too slow for the page");
	assert_int_equal(f.view.budget_count, 5);
	assert_int_equal(f.view.budgets[1].status, GATE_BUDGET_KEPT);
	assert_int_equal(f.view.budgets[2].status, GATE_BUDGET_KEPT);
	assert_true(f.view.budgets[2].relative);
	assert_int_equal(f.view.budgets[3].status, GATE_BUDGET_KEPT);
	assert_int_equal(f.view.budgets[4].status, GATE_BUDGET_UNUSED);
	end(&f);
}

static void a_budget_that_cannot_be_judged_is_not_kept(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	add(&f, 1, 20, 1e7, 0);
	f.input.baseline_count = 0;
	read_budgets(&f, "[*]\ncpu <= 1s\nwall <= +5%\n");
	assert_int_equal(judge(&f)->decision, GATE_UNKNOWN);
	assert_int_equal(f.view.budgets[0].status, GATE_BUDGET_UNKNOWN);
	assert_int_equal(f.view.budgets[1].status, GATE_BUDGET_UNKNOWN);
	assert_true(*f.view.budgets[1].reason);
	end(&f);
}

static void a_median_whose_interval_reaches_below_the_budget_is_unclear(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	add(&f, 1, 20, 1e7, 9e6); /* median about 10.05 ms, the smallest runs are 10 ms */
	f.input.baseline_count = 0;
	read_budgets(&f, "[prog]\nwall <= 10045us\n");
	assert_int_equal(judge(&f)->decision, GATE_UNKNOWN);
	assert_int_equal(f.view.budgets[0].status, GATE_BUDGET_UNCLEAR);
	end(&f);
}

static void a_wrong_budget_is_named_by_file_and_line(void **state)
{
	static const struct {
		const char *text, *at;
	} wrong[] = {
		{"wall <= 1ms\n", "perf.budgets:1: "},
		{"[a]\n\nwal <= 1ms\n", "perf.budgets:3: "},
		{"[a]\nwall p50 <= 1ms\n", ":2: "},
		{"[a]\nwall 1ms\n", ":2: "},
		{"[a]\nwall <=\n", ":2: "},
		{"[a]\nwall <= 1\n", ":2: "},
		{"[a]\nwall <= 64MiB\n", ":2: "},
		{"[a]\nmax_rss <= 1ms\n", ":2: "},
		{"[a]\nwall <= 1ms 2ms\n", ":2: "},
		{"[a]\nwall <= 5%\n", ":2: "},
		{"[a]\nwall <= -100%\n", ":2: "},
		{"[a]\nwall <= +nan%\n", ":2: "},
		{"[a]\nwall <= 1ms\nwall median <= 2ms\n", ":3: "},
		{"[a\nwall <= 1ms\n", ":1: "},
		{"[]\n", ":1: "},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		budget_book_auto struct budget_book book = {0};
		struct err err = {0};

		assert_int_equal(budget_book_read(&book, wrong[i].text, strlen(wrong[i].text),
					 "perf.budgets", &err),
			-EINVAL);
		assert_non_null(strstr(err.text, wrong[i].at));
		assert_non_null(strstr(err.hint, "expected "));
	}
}

static void a_failure_must_come_again(void **state)
{
	struct gate_view fail = {.verdict.decision = GATE_FAIL};
	struct gate_view pass = {.verdict.decision = GATE_PASS};
	struct gate_view open = {.verdict.decision = GATE_UNKNOWN};
	struct gate_view view = fail;

	(void)state;
	gate_confirm_begin(&view, 2);
	assert_true(gate_confirm_add(&view, &fail)); /* two of three */
	assert_int_equal(view.verdict.decision, GATE_FAIL);
	view = fail;
	gate_confirm_begin(&view, 2);
	assert_false(gate_confirm_add(&view, &pass));
	assert_true(gate_confirm_add(&view, &pass));
	assert_int_equal(view.verdict.decision, GATE_WARN);
	assert_string_equal(view.verdict.outcome, "not_confirmed");
	view = fail;
	gate_confirm_begin(&view, 4);
	assert_false(gate_confirm_add(&view, &fail));
	assert_false(gate_confirm_add(&view, &open));
	assert_false(gate_confirm_add(&view, &pass));
	assert_true(gate_confirm_add(&view, &open)); /* neither three of five */
	assert_int_equal(view.verdict.decision, GATE_UNKNOWN);
}

static enum envelope_class class_of(double *values, uint32_t count)
{
	double drifts[8];
	struct envelope_series series = {.command = "prog",
		.metric = "wall",
		.statistic = "median",
		.values = values,
		.drifts = drifts,
		.count = count};
	struct err err = {0};

	assert_int_equal(envelope_judge(&series, &err), 0);
	return series.class;
}

static void the_envelope_has_four_classes(void **state)
{
	(void)state;
	assert_int_equal(class_of((double[]){100, 105, 96}, 3), ENVELOPE_STABLE);
	assert_int_equal(class_of((double[]){100, 110, 100}, 3), ENVELOPE_NOISE);
	assert_int_equal(class_of((double[]){100, 111, 100}, 3), ENVELOPE_INVESTIGATE);
	assert_int_equal(class_of((double[]){100, 120, 100}, 3), ENVELOPE_INVESTIGATE);
	assert_int_equal(class_of((double[]){100, 121, 100}, 3), ENVELOPE_ESCALATE);
	assert_int_equal(
		class_of((double[]){100, 100, 100, 100, 115, 115, 115}, 7), ENVELOPE_ESCALATE);
	assert_int_equal(
		class_of((double[]){115, 100, 100, 115, 115, 100, 100}, 7), ENVELOPE_INVESTIGATE);
	assert_int_equal(class_of((double[]){0, 0, 0}, 3), ENVELOPE_STABLE);
}

static void a_median_of_zero_with_a_run_that_is_not_is_an_error(void **state)
{
	double values[] = {0, 0, 5}, drifts[3];
	struct envelope_series series = {.command = "prog",
		.metric = "cpu",
		.statistic = "p95",
		.values = values,
		.drifts = drifts,
		.count = 3};
	struct err err = {0};

	(void)state;
	assert_int_equal(envelope_judge(&series, &err), -EINVAL);
	assert_non_null(strstr(err.text, "cpu p95 of prog"));
}

static void blocks_of_one_run_show_a_drift_inside_it(void **state)
{
	struct fixture f;
	struct envelope_view view;

	(void)state;
	begin(&f);
	add(&f, 0, 20, 1e7, 9e6);
	add(&f, 0, 20, 1e7, 9e6);
	add(&f, 0, 20, 1.5e7, 9e6);
	assert_int_equal(bench_view_make(f.runs[0], false, &f.arena, &f.views[0], &f.err), 0);
	assert_int_equal(envelope_of_blocks(&f.views[0], 3, &f.arena, &view, &f.err), 0);
	assert_int_equal(view.class, ENVELOPE_ESCALATE);
	assert_string_equal(view.by->metric, "wall");
	assert_int_equal(view.by->worst, 2);
	assert_int_equal(view.series[2].class, ENVELOPE_STABLE); /* cpu median */
	end(&f);
}

static void add_history(struct history *history, const char *command, const char *key, double wall)
{
	struct history_row row = {.by = "bench",
		.command = command,
		.fingerprint = key,
		.git = "",
		.wall_ns = wall,
		.cpu_ns = (double)NAN,
		.max_rss_bytes = (double)NAN};

	vec_push(&history->rows, row);
}

static void noise_is_learned_from_eight_entries_of_the_same_machine_and_command(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	assert_true(gate_history_noise(&f.history, "prog", "key", GATE_WALL).iqr == 0);
	for (unsigned i = 0; i < 7; i++)
		add_history(&f.history, "prog", "key", i % 2 ? 1.1e7 : 1e7);
	add_history(&f.history, "prog", "other", 5e7);
	add_history(&f.history, "else", "key", 5e7);
	assert_true(gate_history_noise(&f.history, "prog", "key", GATE_WALL).iqr == 0);
	add_history(&f.history, "prog", "key", 1.1e7);
	assert_int_equal(gate_history_noise(&f.history, "prog", "key", GATE_WALL).entries, 8);
	/* Steps of ln 1.1 up and down: the quartiles are one of each. */
	assert_true(fabs(gate_history_noise(&f.history, "prog", "key", GATE_WALL).iqr -
			    2 * log(1.1)) < 1e-9);
	assert_true(gate_history_noise(&f.history, "prog", "key", GATE_CPU).iqr == 0);
	assert_true(gate_history_noise(&f.history, "prog", "", GATE_WALL).iqr == 0);
	/* A benchmark that moves that much cannot show 8 %. */
	add(&f, 0, 20, 1e7, 9e6);
	add(&f, 1, 20, 1.08e7, 9e6);
	f.input.noise = GATE_QUIET;
	assert_int_equal(judge(&f)->decision, GATE_FAIL);
	f.input.history = &f.history;
	assert_int_equal(judge(&f)->decision, GATE_PASS);
	assert_true(item(&f, GATE_WALL)->comparison.min_effect > 0.3);
	end(&f);
}

static void one_real_change_in_the_history_is_no_noise(void **state)
{
	struct history history = {0};

	(void)state;
	for (unsigned i = 0; i < 20; i++)
		add_history(&history, "prog", "key", i < 10 ? 1e7 : 2e7);
	assert_true(gate_history_noise(&history, "prog", "key", GATE_WALL).iqr == 0);
	history_done(&history);
}

static void a_history_reads_back_and_skips_what_is_none(void **state)
{
	char path[] = "/tmp/assay-history-XXXXXX";
	int fd = mkstemp(path);
	struct history_row row = {.time_ns = 1700000000000000000,
		.by = "gate",
		.command = "./prog 'a\nb'",
		.fingerprint = "key",
		.git = "abc",
		.runs = 20,
		.wall_ns = 123,
		.wall_p95_ns = 150.5,
		.cpu_ns = (double)NAN,
		.cpu_p95_ns = (double)NAN,
		.max_rss_bytes = 4096};
	struct history history = {0};
	struct err err = {0};

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(history_append(path, &row, 1, &err), 0);
	assert_int_equal(lseek(fd, 0, SEEK_END) > 0, 1);
	assert_int_equal(io_write_all(fd, "{\"torn", 6), 0);
	close(fd);
	assert_int_equal(history_append(path, &row, 1, &err), 0);
	assert_int_equal(history_load(&history, path, &err), 0);
	unlink(path);
	assert_int_equal(history.rows.count, 2);
	assert_int_equal(history.skipped, 1);
	assert_string_equal(history.rows.at[1].command, row.command);
	assert_true(history.rows.at[1].wall_p95_ns == 150.5 && isnan(history.rows.at[1].cpu_ns));
	assert_int_equal(history_load(&history, "/nonexistent/history", &err), 0);
	assert_int_equal(history_append("/nonexistent/history", &row, 1, &err), -ENOENT);
	history_done(&history);
}

static void what_strangers_wrote_cannot_leave_its_place(void **state)
{
	str_auto struct str text = {0};

	(void)state;
	github_escape(&text, "100%\r\na:b,c", false);
	assert_string_equal(str_text(&text), "100%25%0D%0Aa:b,c");
	str_clear(&text);
	github_escape(&text, "a:b,c%", true);
	assert_string_equal(str_text(&text), "a%3Ab%2Cc%25");
	str_clear(&text);
	markdown_code(&text, "a|b ``` c\n`", true);
	assert_string_equal(str_text(&text), "```` a\\|b ``` c ` ````");
	str_clear(&text);
	markdown_code(&text, "plain", false);
	assert_string_equal(str_text(&text), "`plain`");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(severity_follows_the_preset),
		cmocka_unit_test(the_same_numbers_pass_and_are_equivalent),
		cmocka_unit_test(more_cpu_and_wall_time_fails_and_less_is_an_improvement),
		cmocka_unit_test(a_small_slowdown_warns_until_fail_on_asks_for_it),
		cmocka_unit_test(wall_time_alone_needs_a_quiet_machine),
		cmocka_unit_test(machines_that_differ_make_a_change_advice),
		cmocka_unit_test(too_few_runs_fail_no_change),
		cmocka_unit_test(what_was_not_measured_is_not_judged),
		cmocka_unit_test(a_broken_budget_fails_by_itself),
		cmocka_unit_test(a_budget_that_cannot_be_judged_is_not_kept),
		cmocka_unit_test(a_median_whose_interval_reaches_below_the_budget_is_unclear),
		cmocka_unit_test(a_wrong_budget_is_named_by_file_and_line),
		cmocka_unit_test(a_failure_must_come_again),
		cmocka_unit_test(the_envelope_has_four_classes),
		cmocka_unit_test(a_median_of_zero_with_a_run_that_is_not_is_an_error),
		cmocka_unit_test(blocks_of_one_run_show_a_drift_inside_it),
		cmocka_unit_test(
			noise_is_learned_from_eight_entries_of_the_same_machine_and_command),
		cmocka_unit_test(one_real_change_in_the_history_is_no_noise),
		cmocka_unit_test(a_history_reads_back_and_skips_what_is_none),
		cmocka_unit_test(what_strangers_wrote_cannot_leave_its_place),
	};

	return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
