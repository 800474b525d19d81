/* job_ab_test.c - what A and B are, how often they run, and when the pairs are enough. */
#include "job_fixture.h"

#include <errno.h>

#include "ab_parts.h"

static const struct job_host host = {.command = "ab"};

struct fixture {
	struct ab_job ab;
	struct err err;
};

static void begin(struct fixture *f, struct ab_job_options options)
{
	f->err = (struct err){0};
	ab_job_open(&f->ab, &options, &host);
	ab_plan(&f->ab);
}

/* Pairs in turns; B takes `ratio` as long, and each pair `spread` more or less. */
static void pairs_add(struct fixture *f, uint32_t count, double ratio, double spread)
{
	for (uint32_t i = 0; i < count; i++) {
		runs_add(f->ab.job.run, 1, "old", 1, 1e8 * (1 + (i % 2 ? spread : -spread)));
		runs_add(
			f->ab.job.run, 2, "new", 1, 1e8 * ratio * (1 + (i % 3 ? spread : -spread)));
	}
}

static int look(struct fixture *f, uint32_t rounds, uint32_t due)
{
	const struct bench_progress progress = {
		.runs = 2 * rounds, .rounds = rounds, .rounds_due = due, .round_ended = true};
	int r = ab_look(&f->ab, &progress, &f->err);

	if (r < 0)
		fail_msg("%s", f->err.text);
	return r;
}

/* ---- how often ---- */

static void pairs_and_time_bound_each_other(void **state)
{
	static const struct {
		struct bench_counts counts;
		uint32_t min, max, looks;
		uint64_t budget_ns;
	} cases[] = {
		{{0}, COMPARE_BATCH, 1000, COMPARE_LOOKS_MAX, 60000000000},
		{{.budget_ns = 5}, 1, 1000, COMPARE_LOOKS_MAX, 5},
		{{.exact = 40}, 40, 40, 1, UINT64_MAX},
		{{.exact = 40, .budget_ns = 5}, 1, 40, 1, 5},
	};
	struct fixture f;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin(&f, (struct ab_job_options){.bench = {.counts = cases[i].counts}});
		assert_int_equal(f.ab.job.runs.rounds_min, cases[i].min);
		assert_int_equal(f.ab.job.runs.rounds_max, cases[i].max);
		assert_int_equal(f.ab.job.runs.budget_ns, cases[i].budget_ns);
		assert_int_equal(f.ab.looks, cases[i].looks);
		ab_job_done(&f.ab);
	}
}

/* ---- when it stops ---- */

static void a_clear_change_is_enough_at_the_first_look(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, (struct ab_job_options){0});
	pairs_add(&f, 10, 1.5, 0.01);
	assert_int_equal(look(&f, 10, 10), 1);
	ab_job_done(&f.ab);
}

static void a_plain_change_of_a_slow_program_is_enough_after_three_pairs(void **state)
{
	struct bench_progress progress = {
		.runs = 6, .rounds = 3, .rounds_due = 10, .round_ended = true};
	struct fixture f;

	(void)state;
	begin(&f, (struct ab_job_options){0});
	pairs_add(&f, 3, 0.5, 0.01);
	progress.elapsed_ns = 9000000000; /* ten pairs are not dear */
	assert_int_equal(ab_look(&f.ab, &progress, &f.err), 0);
	progress.elapsed_ns = 36000000000;
	assert_int_equal(ab_look(&f.ab, &progress, &f.err), 1);
	ab_job_done(&f.ab);
	begin(&f, (struct ab_job_options){0});
	pairs_add(&f, 3, 0.9, 0.01);
	assert_int_equal(ab_look(&f.ab, &progress, &f.err), 0);
	ab_job_done(&f.ab);
}

static void nothing_is_looked_at_between_two_batches(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, (struct ab_job_options){0});
	pairs_add(&f, 9, 1.5, 0.01);
	assert_int_equal(look(&f, 9, 10), 0);
	assert_false(f.ab.has_plan);
	ab_job_done(&f.ab);
}

static void an_exact_number_of_pairs_is_measured_whatever_they_say(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, (struct ab_job_options){.bench = {.counts = {.exact = 40}}});
	pairs_add(&f, 10, 1.5, 0.01);
	assert_int_equal(look(&f, 10, 40), 0);
	ab_job_done(&f.ab);
}

static void noise_that_hides_the_answer_asks_for_more(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, (struct ab_job_options){0});
	pairs_add(&f, 10, 1.01, 0.3);
	assert_int_equal(look(&f, 10, 10), 0);
	ab_job_done(&f.ab);
}

static void the_same_on_both_sides_is_enough_once_the_interval_is_narrow(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, (struct ab_job_options){.min_effect = 0.05});
	pairs_add(&f, 20, 1, 0.001);
	assert_int_equal(look(&f, 20, 1000), 1);
	ab_job_done(&f.ab);
}

/* A verdict may be looked for six times only: with 1000 pairs due, not after the first ten. */
static void a_change_is_only_looked_for_when_the_plan_says(void **state)
{
	struct fixture f;
	uint32_t looked = 0;

	(void)state;
	begin(&f, (struct ab_job_options){0});
	pairs_add(&f, 10, 1.5, 0.12);
	for (uint32_t rounds = 10; rounds <= 1000; rounds += 10)
		looked += (uint32_t)look(&f, rounds, 1000);
	assert_in_range(looked, 1, COMPARE_LOOKS_MAX);
	ab_job_done(&f.ab);
}

/* ---- what A and B are ---- */

static int sides(struct fixture *f, struct ab_job_options options, char *const *a, char *const *b)
{
	options.bench.texts = a;
	while (a[options.bench.text_count])
		options.bench.text_count++;
	options.bench.program = b;
	begin(f, options);
	return ab_sides_add(&f->ab, &f->err);
}

static char true_text[] = "true", one[] = "true 'a b'", word[] = "c d";

static void one_word_is_split_and_several_are_words(void **state)
{
	char *a[] = {one, NULL}, *b[] = {true_text, word, NULL};
	struct fixture f;

	(void)state;
	assert_int_equal(sides(&f, (struct ab_job_options){0}, a, b), 0);
	assert_int_equal(f.ab.job.commands.count, 2);
	assert_string_equal(f.ab.job.commands.at[0].argv[1], "a b");
	assert_string_equal(f.ab.job.commands.at[1].argv[1], "c d");
	ab_job_done(&f.ab);
	assert_int_equal(sides(&f, (struct ab_job_options){0}, b, a), 0);
	assert_string_equal(f.ab.job.commands.at[0].argv[1], "c d");
	ab_job_done(&f.ab);
}

static void revisions_need_a_command_and_are_one_word_each(void **state)
{
	char *a[] = {true_text, NULL}, *b[] = {true_text, word, NULL};
	struct fixture f;

	(void)state;
	assert_int_equal(sides(&f, (struct ab_job_options){.build = "make"}, a, a), -EINVAL);
	assert_string_equal(f.err.text, "--build needs --run");
	ab_job_done(&f.ab);
	assert_int_equal(sides(&f, (struct ab_job_options){.run = "./p"}, a, b), -EINVAL);
	assert_string_equal(f.err.text, "with --run, A and B are one revision each");
	ab_job_done(&f.ab);
}

/* ---- before and after ---- */

static void an_output_that_differs_ends_it_before_the_first_pair(void **state)
{
	char a1[] = "echo x", b1[] = "echo y", *a[] = {a1, NULL}, *b[] = {b1, NULL};
	struct ab_job_options options = {.same_output = AB_YES,
		.bench = {.texts = a, .text_count = 1, .program = b, .counts = {.exact = 2}}};
	struct fixture f;

	(void)state;
	begin(&f, options);
	assert_int_equal(ab_job_measure(&f.ab, &f.err), -EILSEQ);
	assert_int_equal(f.ab.job.run->executions.count, 0);
	assert_null(f.ab.page.view);
	ab_job_done(&f.ab);
	options.same_output = AB_WHERE_USEFUL; /* two programs may do different things */
	begin(&f, options);
	assert_int_equal(ab_job_measure(&f.ab, &f.err), BENCH_DONE);
	assert_int_equal(f.ab.job.run->executions.count, 4);
	assert_ptr_equal(f.ab.page.view, &f.ab.view);
	assert_false(f.ab.page.same_output);
	ab_job_done(&f.ab);
}

static void steps_before_are_multiplied_and_must_be_comparisons(void **state)
{
	static const char *const after[] = {"first.assay", NULL}, *const wrong[] = {
									  "one.assay", NULL};
	struct run *one_command = run_open();
	struct fixture f;

	(void)state;
	begin(&f, (struct ab_job_options){0});
	pairs_add(&f, 20, 0.5, 0.001);
	run_put("first.assay", f.ab.job.run);
	ab_job_done(&f.ab);
	runs_add(one_command, 1, "old", 3, 1e8);
	run_put("one.assay", one_command);
	run_close(one_command);

	begin(&f, (struct ab_job_options){.after = wrong});
	assert_int_equal(ab_steps_load(&f.ab, &f.err), -EINVAL);
	assert_string_equal(f.err.text, "one.assay has no comparison of two commands");
	ab_job_done(&f.ab);

	begin(&f, (struct ab_job_options){.after = after});
	assert_int_equal(ab_steps_load(&f.ab, &f.err), 0);
	f.ab.view = f.ab.earlier[0]; /* the same change once more */
	ab_steps_multiply(&f.ab);
	assert_int_equal(f.ab.page.step_count, 2);
	assert_string_equal(f.ab.page.steps[0].path, "first.assay");
	assert_null(f.ab.page.steps[1].path);
	assert_in_range((long)(-1000 * f.ab.page.steps[1].cumulative), 740, 760);
	ab_job_done(&f.ab);
}

/* Twenty pairs that are busy all the time; `queue_share` of it they waited for a CPU. */
static void busy_pairs_put(const char *path, double queue_share)
{
	struct fixture f;

	begin(&f, (struct ab_job_options){0});
	pairs_add(&f, 20, 0.5, 0.001);
	vec_foreach (struct execution_packed, run, &f.ab.job.run->executions) {
		run->user_ns =
			(uint64_t)((double)run->wall_ns * (1 - queue_share)) & ~UINT64_C(0) >> 8;
		run->queue_us = (uint32_t)((double)run->wall_ns * queue_share / 1000);
		run->flags |= EXECUTION_QUEUE;
	}
	run_put(path, f.ab.job.run);
	ab_job_done(&f.ab);
}

/* What the steps are multiplied by, when `this` comes after `before` and wall time decides. */
static void assert_step_metric(const char *before, const char *this, const char *name)
{
	const char *const after[] = {before, this, NULL};
	struct fixture f;

	begin(&f, (struct ab_job_options){.after = after});
	assert_int_equal(ab_steps_load(&f.ab, &f.err), 0);
	f.ab.view = f.ab.earlier[--f.ab.earlier_count];
	f.ab.view.verdict.by = &f.ab.view.metrics[AB_WALL];
	ab_steps_multiply(&f.ab);
	assert_string_equal(f.ab.page.step_metric, name);
	for (unsigned i = 0; i < 2; i++)
		assert_true(f.ab.page.steps[i].effect ==
			    ab_metric_named(i ? &f.ab.view : &f.ab.earlier[0], name)->effect);
	ab_job_done(&f.ab);
}

static void steps_are_multiplied_by_one_metric_that_all_have(void **state)
{
	(void)state;
	busy_pairs_put("crowded.assay", 0.3);
	busy_pairs_put("alone.assay", 0);
	assert_step_metric("crowded.assay", "crowded.assay", "corrected wall");
	assert_step_metric("alone.assay", "crowded.assay", "wall");
	assert_step_metric("crowded.assay", "alone.assay", "wall");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_and_time_bound_each_other),
		cmocka_unit_test(a_clear_change_is_enough_at_the_first_look),
		cmocka_unit_test(a_plain_change_of_a_slow_program_is_enough_after_three_pairs),
		cmocka_unit_test(nothing_is_looked_at_between_two_batches),
		cmocka_unit_test(an_exact_number_of_pairs_is_measured_whatever_they_say),
		cmocka_unit_test(noise_that_hides_the_answer_asks_for_more),
		cmocka_unit_test(the_same_on_both_sides_is_enough_once_the_interval_is_narrow),
		cmocka_unit_test(a_change_is_only_looked_for_when_the_plan_says),
		cmocka_unit_test(one_word_is_split_and_several_are_words),
		cmocka_unit_test(revisions_need_a_command_and_are_one_word_each),
		in_folder(an_output_that_differs_ends_it_before_the_first_pair),
		in_folder(steps_before_are_multiplied_and_must_be_comparisons),
		in_folder(steps_are_multiplied_by_one_metric_that_all_have),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
