/* job_gate_test.c - which baseline is meant, what is measured and how often, what is remembered,
 * and when nothing is run at all. */
#include "job_fixture.h"

#include <errno.h>
#include <sys/stat.h>

#include "gate_parts.h"

static const struct job_host host = {.command = "gate"};

struct fixture {
	struct gate_job job;
	struct err err;
};

static void begin(struct fixture *f, const struct gate_job_options *options)
{
	f->err = (struct err){0};
	gate_job_open(&f->job, options, &host);
}

static int judge(struct fixture *f, const struct gate_job_options *options)
{
	begin(f, options);
	return gate_job_judge(&f->job, &f->err);
}

/* A stored benchmark of `true`, or of what `name` says. */
static void baseline_put(const char *path, const char *name, uint32_t count, double wall_ns)
{
	struct run *run = run_open();
	struct err err = {0};

	run->command = run_intern(run, "bench");
	runs_add(run, 1, name, count, wall_ns);
	job_take_fingerprint(run, &err);
	run_put(path, run);
	run_close(run);
}

static void expect_verdict(
	const struct fixture *f, enum gate_decision decision, const char *outcome)
{
	assert_int_equal(f->job.view.verdict.decision, decision);
	assert_string_equal(f->job.view.verdict.outcome, outcome);
}

/* ---- which baseline ---- */

static void a_plain_word_is_a_saved_name_and_the_rest_are_paths(void **state)
{
	const struct gate_job_options options = {0};
	struct fixture f;

	(void)state;
	assert_int_equal(mkdir(".assay", 0777), 0);
	baseline_put(".assay/main.assay", "saved", 2, 1e8);
	baseline_put("main.assay", "path", 3, 1e8);
	begin(&f, &options);
	assert_int_equal(gate_add_baseline(&f.job, "main", &f.err), 0);
	assert_int_equal(gate_add_baseline(&f.job, "main.assay", &f.err), 0);
	assert_int_equal(gate_add_baseline(&f.job, "./main.assay", &f.err), 0);
	assert_int_equal(f.job.views.count, 3);
	assert_string_equal(f.job.views.at[0]->commands[0].name, "saved");
	assert_string_equal(f.job.views.at[1]->commands[0].name, "path");
	assert_string_equal(f.job.views.at[2]->commands[0].name, "path");
	assert_string_equal(f.job.names.at[0], "main");
	gate_job_done(&f.job);
}

static void a_missing_baseline_is_an_error_or_passes_when_that_is_allowed(void **state)
{
	static const char *const names[] = {"main", NULL};
	struct gate_job_options options = {.baselines = names};
	struct fixture f;

	(void)state;
	assert_int_equal(judge(&f, &options), -ENOENT);
	assert_string_equal(f.err.text, "no baseline main: .assay/main.assay");
	gate_job_done(&f.job);
	options.missing_ok = true;
	assert_int_equal(judge(&f, &options), BENCH_DONE);
	expect_verdict(&f, GATE_PASS, "no_baseline");
	assert_true(run_notes(f.job.page_run, "no-baseline"));
	assert_null(f.job.bench.run);
	gate_job_done(&f.job);
}

static void a_baseline_without_a_good_run_is_refused(void **state)
{
	static const char *const names[] = {"empty.assay", NULL}, *const other[] = {
									  "none.assay", NULL};
	const struct gate_job_options empty = {.baselines = names}, none = {.baselines = other};
	struct run *run = run_open();
	struct fixture f;

	(void)state;
	baseline_put("none.assay", "true", 0, 1e8);
	run->command = run_intern(run, "record");
	run_put("empty.assay", run);
	run_close(run);
	assert_int_equal(judge(&f, &empty), -EINVAL);
	assert_string_equal(f.err.text, "empty.assay has no benchmark: assay record made it");
	gate_job_done(&f.job);
	assert_int_equal(judge(&f, &none), -EINVAL);
	assert_string_equal(f.err.text, "none.assay has no usable run");
	gate_job_done(&f.job);
}

/* ---- what is measured ---- */

static const char *const base[] = {"base.assay", NULL};

static void the_commands_of_the_baseline_run_again_as_often_as_then(void **state)
{
	const struct gate_job_options options = {.baselines = base};
	struct fixture f;

	(void)state;
	baseline_put("base.assay", "true 'a b'", 7, 1e10);
	assert_int_equal(judge(&f, &options), BENCH_DONE);
	assert_int_equal(f.job.bench.run->executions.count, 7);
	assert_string_equal(f.job.bench.commands.at[0].argv[1], "a b");
	assert_true(run_notes(f.job.page_run, "few-runs"));
	assert_int_equal(f.job.view.verdict.decision, GATE_PASS); /* faster than ten seconds */
	gate_job_done(&f.job);
}

static void a_count_and_a_command_take_the_place_of_those_of_the_baseline(void **state)
{
	char text[] = "true x", *texts[] = {text};
	const struct gate_job_options options = {.baselines = base,
		.bench = {.texts = texts, .text_count = 1, .counts = {.exact = 2}}};
	struct fixture f;

	(void)state;
	baseline_put("base.assay", "true", 7, 1e10);
	assert_int_equal(judge(&f, &options), BENCH_DONE);
	assert_int_equal(f.job.bench.run->executions.count, 2);
	assert_string_equal(f.job.bench.commands.at[0].argv[1], "x");
	gate_job_done(&f.job);
}

static void only_leaves_out_commands_before_they_run(void **state)
{
	struct gate_job_options options = {
		.baselines = base, .only = "two", .bench = {.counts = {.exact = 1}}};
	struct run *run = run_open();
	struct fixture f;

	(void)state;
	runs_add(run, 1, "true one", 3, 1e10);
	runs_add(run, 2, "true two", 3, 1e10);
	run_put("base.assay", run);
	run_close(run);
	assert_int_equal(judge(&f, &options), BENCH_DONE);
	assert_int_equal(f.job.bench.run->commands.count, 1);
	gate_job_done(&f.job);
	options.only = "three";
	assert_int_equal(judge(&f, &options), -EINVAL);
	assert_string_equal(f.err.text, "no command of the baseline contains 'three'");
	gate_job_done(&f.job);
}

static void a_stored_candidate_is_judged_and_nothing_runs(void **state)
{
	struct gate_job_options options = {.baselines = base, .candidate = "new.assay"};
	struct fixture f;

	(void)state;
	baseline_put("base.assay", "true", 20, 1e8);
	baseline_put("new.assay", "true", 20, 3e8);
	assert_int_equal(judge(&f, &options), BENCH_DONE);
	expect_verdict(&f, GATE_FAIL, "regressed");
	assert_null(f.job.bench.run);
	gate_job_done(&f.job);
	options.confirm = 1;
	assert_int_equal(judge(&f, &options), -EINVAL);
	gate_job_done(&f.job);
}

static void another_machine_is_refused_before_anything_runs(void **state)
{
	struct gate_job_options options = {.baselines = base, .bench = {.counts = {.exact = 1}}};
	struct run *run = run_open();
	struct fixture f;
	struct err err = {0};

	(void)state;
	runs_add(run, 1, "true", 3, 1e10);
	job_take_fingerprint(run, &err);
	vec_foreach (struct field_row, field, &run->fields)
		if (field->state == FIELD_VALUE)
			field->value = run_intern(run, "other");
	run_put("base.assay", run);
	run_close(run);
	assert_int_equal(judge(&f, &options), BENCH_DONE);
	expect_verdict(&f, GATE_REFUSED, "not_comparable");
	assert_null(f.job.bench.run);
	gate_job_done(&f.job);
	options.allow_mismatch = true;
	assert_int_equal(judge(&f, &options), BENCH_DONE);
	assert_int_equal(f.job.bench.run->executions.count, 1);
	gate_job_done(&f.job);
}

/* ---- a failure once more ---- */

static void a_failure_is_measured_again_and_only_then(void **state)
{
	struct gate_job_options options = {
		.baselines = base, .confirm = 2, .bench = {.counts = {.exact = 20}}};
	struct fixture f;

	(void)state;
	baseline_put("base.assay", "sleep 0.01", 20, 1000);
	assert_int_equal(judge(&f, &options), BENCH_DONE);
	expect_verdict(&f, GATE_FAIL, "regressed");
	assert_int_equal(f.job.view.confirm.failed, 2);
	assert_int_equal(f.job.view.confirm.rounds, 2);
	assert_int_equal(f.job.bench.run->executions.count, 20); /* the others are not kept */
	gate_job_done(&f.job);
	baseline_put("base.assay", "true", 20, 1e10);
	assert_int_equal(judge(&f, &options), BENCH_DONE);
	assert_int_equal(f.job.view.confirm.rounds, 0);
	gate_job_done(&f.job);
}

static void a_command_that_fails_gives_no_verdict(void **state)
{
	const struct gate_job_options options = {.baselines = base, .confirm = 2};
	struct fixture f;

	(void)state;
	baseline_put("base.assay", "false", 5, 1e8);
	assert_int_equal(judge(&f, &options), BENCH_FAILED);
	expect_verdict(&f, GATE_UNKNOWN, "target_failed");
	assert_true(f.job.page_run->partial);
	gate_job_done(&f.job);
}

/* ---- history ---- */

static void what_is_measured_is_remembered_where_there_is_a_folder(void **state)
{
	struct gate_job_options options = {.baselines = base, .bench = {.counts = {.exact = 1}}};
	struct history history = {0};
	struct fixture f;

	(void)state;
	baseline_put("base.assay", "true", 3, 1e10);
	assert_int_equal(judge(&f, &options), BENCH_DONE);
	assert_int_not_equal(access(".assay", F_OK), 0);
	gate_job_done(&f.job);
	assert_int_equal(mkdir(".assay", 0777), 0);
	assert_int_equal(judge(&f, &options), BENCH_DONE);
	gate_job_done(&f.job);
	options.bench.no_history = true;
	assert_int_equal(judge(&f, &options), BENCH_DONE);
	assert_int_equal(f.job.history.rows.count, 1); /* as it was before this one */
	gate_job_done(&f.job);
	assert_true(history_load(&history, BENCH_JOB_HISTORY, &f.err) >= 0);
	assert_int_equal(history.rows.count, 1);
	history_done(&history);
}

static void lines_of_the_history_that_are_none_are_told(void **state)
{
	const struct gate_job_options options = {.baselines = base, .candidate = "base.assay"};
	struct fixture f;

	(void)state;
	assert_int_equal(mkdir(".assay", 0777), 0);
	file_put(BENCH_JOB_HISTORY, "nonsense\n");
	baseline_put("base.assay", "true", 3, 1e8);
	assert_int_equal(judge(&f, &options), BENCH_DONE);
	assert_true(run_notes(f.job.page_run, "history"));
	gate_job_done(&f.job);
}

/* ---- baselines among themselves ---- */

static void repeats_that_agree_are_stable_and_one_that_does_not_escalates(void **state)
{
	char a[] = "a.assay", b[] = "b.assay", c[] = "c.assay", *texts[] = {a, b, c};
	const struct gate_job_options options = {
		.envelope = true, .bench = {.texts = texts, .text_count = 3}};
	struct fixture f;

	(void)state;
	baseline_put(a, "true", 20, 1e8);
	baseline_put(b, "true", 20, 1e8);
	baseline_put(c, "true", 20, 1e8);
	assert_int_equal(judge(&f, &options), BENCH_DONE);
	expect_verdict(&f, GATE_PASS, "stable");
	assert_ptr_equal(f.job.page.envelope, &f.job.envelope);
	assert_int_equal(f.job.page.baseline_count, 3);
	gate_job_done(&f.job);
	baseline_put(c, "true", 20, 2e8);
	assert_int_equal(judge(&f, &options), BENCH_DONE);
	expect_verdict(&f, GATE_FAIL, "escalate");
	gate_job_done(&f.job);
}

static void one_run_is_cut_into_blocks(void **state)
{
	char a[] = "a.assay", *texts[] = {a};
	struct gate_job_options options = {
		.envelope = true, .bench = {.texts = texts, .text_count = 1}};
	struct fixture f;

	(void)state;
	baseline_put(a, "true", 20, 1e8);
	assert_int_equal(judge(&f, &options), BENCH_DONE);
	assert_int_equal(f.job.envelope.repeats, 3);
	gate_job_done(&f.job);
	options.blocks = 5;
	assert_int_equal(judge(&f, &options), BENCH_DONE);
	assert_int_equal(f.job.envelope.repeats, 5);
	gate_job_done(&f.job);
}

static void options_that_do_not_go_together_are_refused(void **state)
{
	char text[] = "true", *texts[] = {text};
	const struct bench_job_options command = {.texts = texts, .text_count = 1};
	const struct {
		struct gate_job_options options;
		const char *text;
	} cases[] = {
		{{.preset = NULL}, "assay gate needs a baseline or budgets"},
		{{.baselines = base, .candidate = "x", .bench = command},
			"--candidate and a command exclude each other"},
		{{.budgets = "b"}, "no command to compare with the budgets"},
		{{.baselines = base, .blocks = 2}, "--blocks needs --envelope"},
		{{.baselines = base, .metrics = "wall,x"}, "invalid --metrics 'wall,x'"},
		{{.envelope = true}, "--envelope needs a run"},
		{{.envelope = true, .baselines = base, .bench = command},
			"--envelope only compares baselines with each other"},
	};
	struct fixture f;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(judge(&f, &cases[i].options), -EINVAL);
		assert_string_equal(f.err.text, cases[i].text);
		gate_job_done(&f.job);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_folder(a_plain_word_is_a_saved_name_and_the_rest_are_paths),
		in_folder(a_missing_baseline_is_an_error_or_passes_when_that_is_allowed),
		in_folder(a_baseline_without_a_good_run_is_refused),
		in_folder(the_commands_of_the_baseline_run_again_as_often_as_then),
		in_folder(a_count_and_a_command_take_the_place_of_those_of_the_baseline),
		in_folder(only_leaves_out_commands_before_they_run),
		in_folder(a_stored_candidate_is_judged_and_nothing_runs),
		in_folder(another_machine_is_refused_before_anything_runs),
		in_folder(a_failure_is_measured_again_and_only_then),
		in_folder(a_command_that_fails_gives_no_verdict),
		in_folder(what_is_measured_is_remembered_where_there_is_a_folder),
		in_folder(lines_of_the_history_that_are_none_are_told),
		in_folder(repeats_that_agree_are_stable_and_one_that_does_not_escalates),
		in_folder(one_run_is_cut_into_blocks),
		in_folder(options_that_do_not_go_together_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
