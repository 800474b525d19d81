/* job_scale_test.c - one command becomes one per size: which sizes, which words, how often. */
#include "job_fixture.h"

#include <errno.h>

#include "job/scale.h"

static const struct job_host host = {.command = "scale"};

struct fixture {
	struct scale_job job;
	struct err err;
	char text[64];
	char *texts[1];
};

static int plan(struct fixture *f, const char *text, struct scale_job_options options)
{
	f->err = (struct err){0};
	snprintf(f->text, sizeof(f->text), "%s", text);
	f->texts[0] = f->text;
	options.bench.texts = f->texts;
	options.bench.text_count = 1;
	scale_job_open(&f->job, &options, &host);
	return scale_job_plan(&f->job, &f->err);
}

static void expect_word(const struct fixture *f, uint32_t command, uint32_t word, const char *text)
{
	assert_true(command < f->job.bench.commands.count);
	assert_string_equal(f->job.bench.commands.at[command].argv[word], text);
}

static void each_size_is_a_command_with_the_size_in_its_places(void **state)
{
	struct fixture f;

	(void)state;
	assert_int_equal(
		plan(&f, "true -n{n} {t}", (struct scale_job_options){.sizes = "4,1k"}), 0);
	assert_int_equal(f.job.bench.commands.count, 2);
	expect_word(&f, 0, 1, "-n4");
	expect_word(&f, 1, 1, "-n1000");
	expect_word(&f, 1, 2, "1000");
	assert_string_equal(run_text(f.job.bench.run, f.job.bench.run->target), "true -n{n} {t}");
	scale_job_done(&f.job);
	assert_int_equal(plan(&f, "true {n}", (struct scale_job_options){0}), 0);
	assert_int_equal(f.job.bench.commands.count, 6);
	expect_word(&f, 5, 1, "1000");
	scale_job_done(&f.job);
}

static void a_program_of_several_words_is_taken_as_it_is(void **state)
{
	char name[] = "true", word[] = "a b{n}", *words[] = {name, word, NULL};
	const struct scale_job_options options = {.sizes = "7", .bench = {.program = words}};
	struct fixture f = {0};

	(void)state;
	scale_job_open(&f.job, &options, &host);
	assert_int_equal(scale_job_plan(&f.job, &f.err), 0);
	expect_word(&f, 0, 1, "a b7");
	assert_string_equal(f.job.title, "true a b{n}");
	scale_job_done(&f.job);
}

static void variables_hold_the_size_and_those_of_threads_come_by_default(void **state)
{
	static const char *const names[] = {"SIZE", NULL};
	struct fixture f;

	(void)state;
	assert_int_equal(
		plan(&f, "true", (struct scale_job_options){.sizes = "1,8", .variables = names}),
		0);
	assert_string_equal(f.job.bench.commands.at[1].variables[0], "SIZE=8");
	assert_null(f.job.bench.commands.at[1].variables[1]);
	scale_job_done(&f.job);

	assert_int_equal(plan(&f, "true", (struct scale_job_options){.threads = "1,2"}), 0);
	assert_string_equal(f.job.bench.commands.at[1].variables[0], "OMP_NUM_THREADS=2");
	assert_true(run_notes(f.job.bench.run, "thread-count"));
	scale_job_done(&f.job);

	assert_int_equal(plan(&f, "true {t}", (struct scale_job_options){.threads = "1,2"}), 0);
	assert_null(f.job.bench.commands.at[1].variables[0]);
	scale_job_done(&f.job);
}

static void threads_by_themselves_go_from_one_to_twice_the_processors(void **state)
{
	struct fixture f;
	uint32_t cpus;

	(void)state;
	assert_int_equal(plan(&f, "true {t}", (struct scale_job_options){.threads = "auto"}), 0);
	cpus = f.job.how.cpus > 2 ? f.job.how.cpus : 2;
	assert_int_equal(f.job.sizes.at[0], 1);
	assert_int_equal(f.job.sizes.at[f.job.sizes.count - 1], 2 * cpus);
	assert_true(f.job.sizes.count >= 3);
	assert_false(run_notes(f.job.bench.run, "repeated-sizes"));
	scale_job_done(&f.job);
}

static void a_budget_or_a_count_takes_the_place_of_the_seven_runs(void **state)
{
	static const struct {
		struct bench_counts counts;
		uint32_t min, max;
		uint64_t budget_ns;
	} cases[] = {
		{{0}, 7, BENCH_RUNS_MAX, 10000000000},
		{{.budget_ns = 5}, 1, BENCH_RUNS_MAX, 5},
		{{.exact = 3}, 3, 3, 10000000000},
	};
	struct fixture f;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(
			plan(&f, "true {n}",
				(struct scale_job_options){.bench = {.counts = cases[i].counts}}),
			0);
		assert_int_equal(f.job.bench.runs.rounds_min, cases[i].min);
		assert_int_equal(f.job.bench.runs.rounds_max, cases[i].max);
		assert_int_equal(f.job.bench.runs.budget_ns, cases[i].budget_ns);
		scale_job_done(&f.job);
	}
}

static void what_cannot_be_scaled_is_refused_with_a_reason(void **state)
{
	static const char *const wrong_name[] = {"A=1", NULL};
	const struct {
		const char *command;
		struct scale_job_options options;
		const char *text;
	} cases[] = {
		{"true", {.sizes = NULL}, "the command has no {n} for the size"},
		{"true {n}", {.threads = "1", .expect = "O(n)"},
			"--threads and --expect exclude each other"},
		{"true {n}", {.threads = "1", .sizes = "1"},
			"--threads and --sizes exclude each other"},
		{"true {n}", {.threads = "1", .metric = "cpu"},
			"--threads and --metric exclude each other"},
		{"true {n}", {.variables = wrong_name}, "invalid --env 'A=1'"},
	};
	struct fixture f;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(plan(&f, cases[i].command, cases[i].options), -EINVAL);
		assert_string_equal(f.err.text, cases[i].text);
		scale_job_done(&f.job);
	}
	assert_int_equal(
		plan(&f, "true", (struct scale_job_options){.bench = {.input = "{n}"}}), 0);
	scale_job_done(&f.job);
}

static void a_measured_plan_has_a_view_of_every_size(void **state)
{
	const struct scale_job_options options = {
		.sizes = "1,2,2", .bench = {.counts = {.exact = 1}}};
	struct fixture f;

	(void)state;
	plan(&f, "true {n}", options);
	assert_true(run_notes(f.job.bench.run, "repeated-sizes"));
	scale_job_done(&f.job);
	{
		struct scale_job_options again = options;

		again.bench.texts = f.texts;
		again.bench.text_count = 1;
		scale_job_open(&f.job, &again, &host);
	}
	assert_int_equal(scale_job_measure(&f.job, &f.err), BENCH_DONE);
	assert_true(f.job.has_view);
	assert_int_equal(f.job.view.point_count, 2);
	assert_string_equal(f.job.view.title, "true {n}");
	scale_job_done(&f.job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_size_is_a_command_with_the_size_in_its_places),
		cmocka_unit_test(a_program_of_several_words_is_taken_as_it_is),
		cmocka_unit_test(variables_hold_the_size_and_those_of_threads_come_by_default),
		cmocka_unit_test(threads_by_themselves_go_from_one_to_twice_the_processors),
		cmocka_unit_test(a_budget_or_a_count_takes_the_place_of_the_seven_runs),
		cmocka_unit_test(what_cannot_be_scaled_is_refused_with_a_reason),
		cmocka_unit_test(a_measured_plan_has_a_view_of_every_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
