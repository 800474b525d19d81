/* job_bench_test.c - which commands are run how often, when the file is stored, and what is kept.
 */
#include "job_fixture.h"

#include <errno.h>
#include <sys/stat.h>

#include "job/bench.h"
#include "model/history.h"

static struct job_host host = {.command = "bench"};

/* A job that adds one command, `true`, unless the options name some. */
static void begin(struct bench_job *job, struct bench_job_options *options)
{
	static char program[] = "true";
	static char *texts[] = {program};

	if (!options->text_count) {
		options->texts = texts;
		options->text_count = 1;
	}
	bench_job_open(job, options, &host);
}

static int measure(struct bench_job *job, struct bench_job_options *options, struct err *err)
{
	begin(job, options);
	return bench_job_measure(job, err);
}

/* ---- when it is stored ---- */

static void the_first_time_is_due_at_once_and_its_cost_does_not_count(void **state)
{
	struct store_pace pace = {0};

	(void)state;
	assert_true(store_pace_is_due(&pace, 1000));
	store_pace_take(&pace, 1000, 9000);
	assert_true(store_pace_is_due(&pace, 9001));
}

static void storing_takes_a_twentieth_of_the_time(void **state)
{
	struct store_pace pace = {0};

	(void)state;
	store_pace_take(&pace, 1000, 9000);
	store_pace_take(&pace, 10000, 10100);
	assert_false(store_pace_is_due(&pace, 11999));
	assert_true(store_pace_is_due(&pace, 12000));
}

static void one_slow_time_does_not_make_the_next_ones_rare(void **state)
{
	struct store_pace pace = {0};

	(void)state;
	store_pace_take(&pace, 1000, 9000);
	store_pace_take(&pace, 10000, 10100);
	store_pace_take(&pace, 20000, 29000);
	assert_true(store_pace_is_due(&pace, 22000));
	store_pace_take(&pace, 30000, 30010);
	assert_true(store_pace_is_due(&pace, 30200));
}

/* ---- how often ---- */

static void counts_are_exact_or_within_bounds_for_a_time(void **state)
{
	static const struct {
		struct bench_counts counts;
		uint32_t min, max;
		uint64_t budget_ns;
	} cases[] = {
		{{0}, 10, BENCH_RUNS_MAX, 6000000000},
		{{.exact = 3}, 3, 3, 6000000000},
		{{.most = 4}, 4, 4, 6000000000},
		{{.least = 2, .budget_ns = 1}, 2, BENCH_RUNS_MAX, 2},
		{{.least = 2, .most = 5, .budget_ns = 7}, 2, 5, 14},
	};
	char program[] = "true", *texts[] = {program, program};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bench_job_options options = {.texts = texts,
			.text_count = 2,
			.counts = cases[i].counts,
			.runs = {.golden_path = "none"}};
		struct bench_job job;
		struct err err = {0};

		assert_true(measure(&job, &options, &err) < 0); /* for want of the golden file */
		assert_int_equal(job.runs.rounds_min, cases[i].min);
		assert_int_equal(job.runs.rounds_max, cases[i].max);
		assert_int_equal(job.runs.budget_ns, cases[i].budget_ns);
		assert_int_equal(job.run->executions.count, 0);
		bench_job_done(&job);
	}
}

static void options_that_contradict_are_refused_before_anything_runs(void **state)
{
	static const char *const files[] = {"x", NULL};
	const struct {
		struct bench_job_options options;
		const char *text;
	} cases[] = {
		{{.counts = {.exact = 3, .least = 2}}, "-n excludes --min-runs and --max-runs"},
		{{.counts = {.least = 3, .most = 2}}, "--max-runs is below --min-runs"},
		{{.cache = "warm", .runs = {.cold_files = files}},
			"--cache warm and --cold-file exclude each other"},
		{{.runs = {.golden_path = "a", .golden_save_path = "b"}},
			"--golden and --golden-save exclude each other"},
		{{.runs = {.golden_save_path = "b"}, .program_output = "inherit"},
			"output that is compared cannot go elsewhere"},
		{{.output = "a", .save = "b"}, "-o and --save exclude each other"},
		{{.save = "a/b"}, "invalid --save 'a/b'"},
		{{.save = ""}, "invalid --save ''"},
		{{.input = "missing"}, "cannot read missing: no such file or directory"},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bench_job_options options = cases[i].options;
		struct bench_job job;
		struct err err = {0};

		assert_true(measure(&job, &options, &err) < 0);
		assert_string_equal(err.text, cases[i].text);
		assert_int_equal(job.run->executions.count, 0);
		bench_job_done(&job);
	}
	assert_int_not_equal(access(BENCH_JOB_FOLDER, F_OK), 0);
}

/* ---- what is run ---- */

static const char *field(const struct run *run, const char *group, const char *name)
{
	vec_foreach (const struct field_row, row, &run->fields)
		if (strcmp(run_text(run, row->group), group) == 0 &&
			strcmp(run_text(run, row->name), name) == 0)
			return run_text(run, row->value);
	return "";
}

static void each_command_runs_with_each_combination_and_says_so(void **state)
{
	char text[] = "true {a}", program[] = "true", word[] = "x{a} y";
	char *texts[] = {text}, *words[] = {program, word, NULL};
	struct bench_job_options options = {
		.texts = texts, .text_count = 1, .program = words, .counts = {.exact = 2}};
	struct arena arena = {0};
	struct bench_job job;
	struct err err = {0};

	(void)state;
	assert_int_equal(parameters_add_list(&options.parameters, "a", "1,2", &arena, &err), 0);
	assert_int_equal(measure(&job, &options, &err), BENCH_DONE);
	assert_int_equal(job.run->commands.count, 4);
	assert_int_equal(job.run->executions.count, 8);
	assert_string_equal(
		run_text(job.run, job.run->target), "true 1; true 2; true 'x1 y'; true 'x2 y'");
	assert_string_equal(field(job.run, "parameter", "2.a"), "2");
	assert_string_equal(field(job.run, "parameter", "3.a"), "1");
	bench_job_done(&job);
	arena_done(&arena);
}

static void asides_have_the_parameters_and_the_same_text_runs_once(void **state)
{
	char text[] = "true {a} {b}", *texts[] = {text};
	struct bench_job_options options = {.texts = texts,
		.text_count = 1,
		.counts = {.exact = 2},
		.shell = true,
		.setup = "echo {a} >> setup",
		.prepare = "echo {a} >> prepare"};
	struct arena arena = {0};
	struct bench_job job;
	struct str lines = {0};
	struct err err = {0};

	(void)state;
	parameters_add_list(&options.parameters, "a", "1,2", &arena, &err);
	parameters_add_list(&options.parameters, "b", "1,2", &arena, &err);
	assert_int_equal(measure(&job, &options, &err), BENCH_DONE);
	assert_true(io_read("setup", 1000, &lines, &err) >= 0);
	assert_string_equal(str_text(&lines), "1\n2\n");
	str_done(&lines);
	assert_true(io_read("prepare", 1000, &lines, &err) >= 0);
	assert_int_equal(lines.len, 2 * 8); /* four commands, each twice */
	str_done(&lines);
	bench_job_done(&job);
	arena_done(&arena);
}

static void a_text_that_needs_a_shell_is_told_when_there_is_none(void **state)
{
	char text[] = "true > x", *texts[] = {text};
	struct bench_job_options options = {
		.texts = texts, .text_count = 1, .counts = {.exact = 1}};
	struct bench_job job;
	struct err err = {0};

	(void)state;
	assert_int_equal(measure(&job, &options, &err), BENCH_DONE);
	assert_true(run_notes(job.run, "no-shell"));
	assert_int_not_equal(access("x", F_OK), 0);
	bench_job_done(&job);
	options.shell = true;
	assert_int_equal(measure(&job, &options, &err), BENCH_DONE);
	assert_false(run_notes(job.run, "no-shell"));
	assert_int_equal(access("x", F_OK), 0);
	bench_job_done(&job);
}

/* ---- what is kept ---- */

static uint32_t history_rows(void)
{
	struct history history = {0};
	struct err err = {0};
	uint32_t count;

	assert_true(history_load(&history, BENCH_JOB_HISTORY, &err) >= 0);
	count = history.rows.count;
	history_done(&history);
	return count;
}

static void a_name_keeps_the_runs_and_remembers_them(void **state)
{
	struct bench_job_options options = {.counts = {.exact = 2}, .save = "main", .input = "in"};
	struct bench_job job;
	struct run *run = NULL;
	struct err err = {0};

	(void)state;
	file_put("in", "x");
	assert_int_equal(measure(&job, &options, &err), BENCH_DONE);
	bench_job_done(&job);
	assert_int_equal(job_load_run(&host, BENCH_JOB_FOLDER "/main.assay", &run, &err), 0);
	assert_int_equal(run->executions.count, 2);
	assert_false(run->partial);
	assert_true(*run_text(run, run->fingerprint));
	assert_string_equal(field(run, "job", "input"), "in");
	assert_int_equal(history_rows(), 1);
	run_close(run);

	options.no_history = true;
	assert_int_equal(measure(&job, &options, &err), BENCH_DONE);
	assert_int_equal(history_rows(), 1);
	bench_job_done(&job);
}

static void runs_besides_are_neither_stored_nor_remembered(void **state)
{
	struct bench_job_options options = {.counts = {.exact = 1}, .save = "main"};
	struct bench_job job;
	struct err err = {0};

	(void)state;
	assert_int_equal(mkdir(BENCH_JOB_FOLDER, 0777), 0);
	begin(&job, &options);
	job.is_extra = true;
	assert_int_equal(bench_job_measure(&job, &err), BENCH_DONE);
	assert_int_equal(job.run->executions.count, 1);
	assert_int_not_equal(access(BENCH_JOB_FOLDER "/main.assay", F_OK), 0);
	assert_int_not_equal(access(BENCH_JOB_HISTORY, F_OK), 0);
	bench_job_done(&job);
}

static int enough_after_three(
	struct bench_job *job, const struct bench_progress *progress, struct err *err)
{
	(void)job;
	(void)err;
	return progress->rounds == 3;
}

static void the_look_after_each_round_ends_it(void **state)
{
	struct bench_job_options options = {.counts = {.exact = 50}};
	struct bench_job job;
	struct err err = {0};

	(void)state;
	begin(&job, &options);
	job.look = enough_after_three;
	assert_int_equal(bench_job_measure(&job, &err), BENCH_DONE);
	assert_int_equal(job.run->executions.count, 3);
	bench_job_done(&job);
}

static void a_run_that_fails_ends_it_and_is_not_remembered(void **state)
{
	char text[] = "false", *texts[] = {text};
	struct bench_job_options options = {
		.texts = texts, .text_count = 1, .counts = {.exact = 5}, .save = "main"};
	struct bench_job job;
	struct err err = {0};

	(void)state;
	assert_int_equal(measure(&job, &options, &err), BENCH_FAILED);
	assert_int_equal(job.run->executions.count, 1);
	assert_true(job.run->partial);
	assert_int_equal(access(BENCH_JOB_FOLDER "/main.assay", F_OK), 0);
	assert_int_not_equal(access(BENCH_JOB_HISTORY, F_OK), 0);
	bench_job_done(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_time_is_due_at_once_and_its_cost_does_not_count),
		cmocka_unit_test(storing_takes_a_twentieth_of_the_time),
		cmocka_unit_test(one_slow_time_does_not_make_the_next_ones_rare),
		in_folder(counts_are_exact_or_within_bounds_for_a_time),
		in_folder(options_that_contradict_are_refused_before_anything_runs),
		in_folder(each_command_runs_with_each_combination_and_says_so),
		in_folder(asides_have_the_parameters_and_the_same_text_runs_once),
		in_folder(a_text_that_needs_a_shell_is_told_when_there_is_none),
		in_folder(a_name_keeps_the_runs_and_remembers_them),
		in_folder(runs_besides_are_neither_stored_nor_remembered),
		in_folder(the_look_after_each_round_ends_it),
		in_folder(a_run_that_fails_ends_it_and_is_not_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
