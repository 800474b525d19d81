/* job_run_test.c - the main job: which phases, with which words, and what came of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "code/binary.h"
#include "folder.h"
#include "job/status.h"
#include "job_host.h"
#include "profile_text.h"
#include "run_job.h"

#define S 1000000000ULL

struct fixture {
	void *folder;
	char *program[3];
	struct job_host host;
	struct run_result result;
	struct run_job job;
	struct err err;
};

/* A job as it is behind its first run, in a folder of its own. */
static int begin(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct run_job *job = &f->job;

	assert_int_equal(enter_folder(&f->folder), 0);
	f->program[0] = strdup("/proc/self/exe");
	f->program[1] = strdup("two words");
	f->host = host_of("run", "/proc/self/exe 'two words'");
	job->host = &f->host;
	job->options.program = f->program;
	job->result = &f->result;
	job->front = run_open();
	job->start_ns = clock_monotonic_ns();
	job->budget_ns = 60 * S;
	job->run_ns = S / 10;
	manifest_init(&job->manifest);
	manifest_init(&job->before);
	job->manifest.target = f->host.target;
	assert_int_equal(directory_create(&job->directory, "d", 1, &f->err), 0);
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;
	struct run_job *job = &f->job;

	for (unsigned i = 0; i < EVIDENCE_KINDS; i++)
		run_close(job->runs[i]);
	run_close(job->front);
	manifest_done(&job->manifest);
	manifest_done(&job->before);
	directory_done(&job->directory);
	arena_done(&job->arena);
	free(f->program[0]);
	free(f->program[1]);
	assert_int_equal(leave_folder(&f->folder), 0);
	free(f);
	return 0;
}

/* A run file of the directory. */
static void put_run(struct fixture *f, const char *name, struct run *run)
{
	run_put(directory_path(&f->job.directory, name), run);
	run_close(run);
}

static unsigned index_of(const struct fixture *f, const char *phase)
{
	unsigned i = 0;

	while (strcmp(f->job.planned[i].phase, phase) != 0)
		i++;
	return i;
}

/* The command of a phase, its words with blanks between them. */
static const char *words_of(struct fixture *f, const char *phase, struct plan_step plan)
{
	struct run_words words = {0};
	str_auto struct str text = {0};

	run_phase_words(&f->job, index_of(f, phase), &plan, &words);
	vec_foreach (const char *, word, &words.at)
		str_addf(&text, "%s%s", text.len ? " " : "", *word);
	vec_done(&words.at);
	return arena_text(&f->job.arena, str_text(&text), text.len);
}

/* ---- the plan ---- */

static uint32_t plan_shown;

static void plan_see(void *context, const struct plan_page *plan)
{
	(void)context;
	plan_shown = plan->count;
}

static void phases_run_in_an_order_that_gives_the_rest_to_the_baseline(void **state)
{
	static const char *const order[] = {"observed", "profile", "smaller", "smallest", "causal",
		"counters", "calls", "baseline", "events"};
	struct fixture *f = *state;

	f->job.options.show_plan = plan_see;
	plan_shown = 0;
	run_phases_plan(&f->job);
	assert_int_equal(plan_shown, RUN_PHASES);
	for (unsigned i = 0; i < RUN_PHASES; i++)
		assert_string_equal(f->job.planned[i].phase, order[i]);
	assert_true(f->job.manifest.planned_s > 0 && f->job.manifest.planned_s <= 60);
}

static void only_the_phases_that_were_asked_for_are_planned(void **state)
{
	struct fixture *f = *state;
	const struct plan_step *steps = f->job.planned;

	f->job.options.phases = "baseline,profile";
	f->job.options.skip = "profile";
	assert_int_equal(run_phases_check(&f->job, &f->err), 0);
	run_phases_plan(&f->job);
	for (unsigned i = 0; i < RUN_PHASES; i++)
		assert_int_equal(steps[i].skipped, strcmp(steps[i].phase, "baseline") != 0);
	assert_string_equal(steps[index_of(f, "profile")].reason, "skipped on request");
	assert_int_equal(f->job.step_count, 1);
}

static void a_phase_that_does_not_exist_is_refused(void **state)
{
	struct fixture *f = *state;

	f->job.options.phases = "baseline,observed";
	assert_int_equal(run_phases_check(&f->job, &f->err), 0);
	f->job.options.skip = "causal,base";
	assert_int_equal(run_phases_check(&f->job, &f->err), -EINVAL);
	assert_non_null(strstr(f->err.text, "--skip"));
	assert_non_null(strstr(f->err.text, "'base'"));
}

/* ---- the words of a phase ---- */

static void the_baseline_compares_the_output_unless_it_varies(void **state)
{
	const struct plan_step step = {.runs = 12, .limit_ns = 3 * S};
	struct fixture *f = *state;

	run_phases_plan(&f->job);
	assert_string_equal(words_of(f, "baseline", step),
		"bench -n 12 --time-limit 3000ms -o d/baseline.assay -- /proc/self/exe two words");
	strcpy(f->job.golden_sha256, "0123");
	f->job.input_path = "in";
	assert_string_equal(words_of(f, "baseline", step),
		"bench -n 12 --time-limit 3000ms --golden d/golden/stdout --input in "
		"-o d/baseline.assay -- /proc/self/exe two words");
	f->job.output_varies = true;
	assert_null(strstr(words_of(f, "baseline", step), "--golden"));
}

static void one_word_alone_is_quoted_for_the_command_that_splits_it(void **state)
{
	struct fixture *f = *state;
	char *rest = f->program[1];

	run_phases_plan(&f->job);
	f->job.manifest.target = "'./my program'";
	f->program[1] = NULL;
	assert_non_null(
		strstr(words_of(f, "baseline", (struct plan_step){0}), "-- './my program'"));
	assert_non_null(
		strstr(words_of(f, "observed", (struct plan_step){0}), "-- /proc/self/exe"));
	f->program[1] = rest;
}

static void counters_are_counted_by_a_pmu_or_simulated_for_their_share_of_the_time(void **state)
{
	const struct plan_step step = {.share_ns = 7 * S};
	struct fixture *f = *state;

	run_phases_plan(&f->job);
	f->job.has_pmu = true;
	assert_non_null(
		strstr(words_of(f, "counters", step), "stat --set memory --set branches -o"));
	f->job.has_pmu = false;
	assert_non_null(
		strstr(words_of(f, "counters", step), "stat --engine sim --time-limit 7000ms -o"));
	f->job.has_pmu = true; /* which counts no calls */
	f->job.run_ns = S / 1000;
	assert_non_null(strstr(words_of(f, "calls", step),
		"stat --engine sim -e instructions,calls,loop-entries,loop-trips --time-limit "
		"7000ms -o"));
}

static void calls_are_counted_from_the_middle_of_a_run_that_is_too_long(void **state)
{
	const struct plan_step step = {.share_ns = 7 * S};
	struct fixture *f = *state;
	struct err err = {0};
	const char *vgdb;

	if (binary_find("vgdb", &f->job.arena, &vgdb, &err) < 0)
		skip();
	run_phases_plan(&f->job);
	f->job.run_ns = S;
	assert_non_null(strstr(
		words_of(f, "calls", step), "loop-trips --time-limit 7000ms --delay 750ms -o"));
	f->job.run_ns = 60 * S; /* half of its time, at most */
	assert_non_null(strstr(words_of(f, "calls", step), "--delay 3500ms -o"));
}

static void calls_are_counted_before_the_end_of_the_shortest_run(void **state)
{
	const struct plan_step step = {.share_ns = 9 * S};
	struct execution_row warm = {.wall_ns = 2 * S}, part = {.wall_ns = S};
	struct run *observed = run_open(), *profile = run_open();
	struct fixture *f = *state;
	struct err err = {0};
	const char *vgdb;

	if (binary_find("vgdb", &f->job.arena, &vgdb, &err) < 0)
		skip();
	run_phases_plan(&f->job);
	f->job.run_ns = 5 * S; /* its files had to be read from the disk */
	run_add_execution(observed, &warm);
	put_run(f, "observed.assay", observed);
	part.flags = EXECUTION_INTERRUPTED;
	run_add_execution(profile, &part);
	put_run(f, "profile.assay", profile);
	assert_non_null(strstr(words_of(f, "calls", step), "--delay 1500ms -o"));
}

static void add_fact(struct run *run, const char *name, double value)
{
	run_add_fact(run, &(struct fact_row){.name = run_intern(run, name), .value = value});
}

static void threads_that_live_shortly_are_sampled_more_often(void **state)
{
	struct fixture *f = *state;
	struct run *observed = run_open();

	run_phases_plan(&f->job);
	assert_non_null(strstr(words_of(f, "profile", (struct plan_step){.rate_hz = 997}),
		"record -F 997 -o d/profile.assay"));
	add_fact(observed, "threads_seen", 15);
	add_fact(observed, "threads_most", 4);
	put_run(f, "observed.assay", observed);
	assert_non_null(strstr(words_of(f, "profile", (struct plan_step){.rate_hz = 997}), "997 "));
	run_close(f->job.runs[EVIDENCE_OBSERVED]);
	f->job.runs[EVIDENCE_OBSERVED] = NULL;
	observed = run_open();
	add_fact(observed, "threads_seen", 16);
	add_fact(observed, "threads_most", 4);
	put_run(f, "observed.assay", observed);
	assert_non_null(strstr(words_of(f, "profile", (struct plan_step){.rate_hz = 997}), "9973"));
}

static void experiments_are_made_on_hot_functions_that_the_program_has(void **state)
{
	struct fixture *f = *state;
	const char *words;

	run_phases_plan(&f->job);
	words = words_of(f, "causal", (struct plan_step){.share_ns = 9 * S});
	assert_non_null(strstr(words, "causal --progress auto --speedup 50 --speedup 100"));
	assert_non_null(strstr(words, "--budget 9000ms"));
	assert_null(strstr(words, " -f ")); /* no profile yet */
	put_run(f, "profile.assay",
		profile_text_run(
			"event cpu-clock ns\nthread 1 1 prog\nperiod 1000000\n"
			"50 main;index_of\n30 main;not_of_this_program\n2 main;words_of\n"));
	words = words_of(f, "causal", (struct plan_step){.share_ns = 9 * S});
	assert_non_null(strstr(words, " -f index_of "));
	assert_null(strstr(words, "not_of_this_program"));
	assert_null(strstr(words, " -f words_of ")); /* 2.4 % */
	/* The answer can say why there is no experiment on the second one. */
	assert_int_equal(f->job.evidence.untried_count, 1);
	assert_string_equal(f->job.evidence.untried[0].function, "not_of_this_program");
	assert_non_null(strstr(f->job.evidence.untried[0].reason, "not_of_this_program"));
}

/* Most of it is in the allocator, so it has little time of its own, and is first all the same. */
static void the_place_that_the_samples_name_first_is_tried_first(void **state)
{
	struct fixture *f = *state;
	const char *words;

	run_phases_plan(&f->job);
	put_run(f, "profile.assay",
		profile_text_run("event cpu-clock ns\nthread 1 1 prog\nperiod 1000000\n"
				 "26 main;words_of\n20 main;put_run\n"
				 "4 main;index_of\n50 main;index_of;malloc@libc.so.6\n"));
	words = words_of(f, "causal", (struct plan_step){.share_ns = 9 * S});
	assert_non_null(strstr(words, " -f index_of -f words_of -f put_run "));
}

/* ---- what came of a phase ---- */

static struct manifest_phase *finish(
	struct fixture *f, struct run_step step, struct phase_result result)
{
	step.name = "profile";
	run_step_begin(&f->job, &step, NULL);
	run_step_finish(&f->job, &step, &result);
	return &f->job.manifest.phases.at[f->job.manifest.phases.count - 1];
}

static void a_phase_is_done_when_its_command_says_so_and_its_file_is_there(void **state)
{
	struct fixture *f = *state;
	const struct run_step step = {.file = "x.assay"};
	struct manifest_phase *row = finish(f, step, (struct phase_result){0});

	assert_int_equal(row->outcome, PHASE_FAILED); /* no file */
	assert_non_null(strstr(row->reason, "status 0"));
	assert_int_equal(io_replace("d/x.assay", IO_SHARED, "", 0, &f->err), 0);
	assert_int_equal(finish(f, step, (struct phase_result){0})->outcome, PHASE_FAILED);
	assert_int_equal(io_replace("d/x.assay", IO_SHARED, "x", 1, &f->err), 0);
	row = finish(f, step, (struct phase_result){.wall_ns = S / 2});
	assert_int_equal(row->outcome, PHASE_DONE);
	assert_string_equal(row->reason, "");
	assert_true(row->seconds == 0.5);
	row = finish(
		f, (struct run_step){.file = "x.assay", .watches = true}, (struct phase_result){0});
	assert_int_equal(row->outcome, PHASE_WATCHED);
	row = finish(f, step, (struct phase_result){.status = 130, .limited = true});
	assert_int_equal(row->outcome, PHASE_WATCHED);
	assert_non_null(strstr(row->reason, "this phase's time"));
}

static void why_a_phase_failed_is_what_its_command_told(void **state)
{
	struct fixture *f = *state;
	struct phase_result result = {.status = 5};
	const struct run_step step = {.file = "none.assay"};
	struct manifest_phase *row;

	row = finish(f, step, result);
	assert_string_equal(row->reason, "the command exited with status 5; see log/profile.txt");
	result.limited = true;
	assert_string_equal(finish(f, step, result)->fix, "use a longer --budget");
	err_set(&result.failure, ERR_TARGET, ECANCELED, "it needs root");
	err_hint(&result.failure, "sudo");
	row = finish(f, step, result);
	assert_string_equal(row->reason, "it needs root");
	assert_string_equal(row->fix, "sudo");
	result.killed = true;
	assert_non_null(strstr(finish(f, step, result)->reason, "killed"));
	assert_false(f->job.stopped);
	result.interrupted = true;
	row = finish(f, step, result);
	assert_int_equal(row->outcome, PHASE_INTERRUPTED);
	assert_string_equal(row->reason, "stopped by the user");
	assert_true(f->job.stopped);
}

static void a_result_that_could_not_be_written_ends_the_job(void **state)
{
	struct fixture *f = *state;
	struct phase_result result = {.status = EXIT_NOT_WRITTEN};

	err_set(&result.failure, ERR_TARGET, ECANCELED, "no space left");
	finish(f, (struct run_step){.file = "none.assay"}, result);
	assert_int_equal(f->job.unwritten.kind, ERR_OUTPUT);
	assert_string_equal(f->job.unwritten.text, "cannot write the phase profile: no space left");
	assert_int_equal(run_phases_do(&f->job, &f->err), 0);
	assert_int_equal(f->job.manifest.phases.count, 1 + RUN_PHASES);
	vec_foreach (const struct manifest_phase, row, &f->job.manifest.phases)
		assert_true(row->outcome == PHASE_FAILED || row->outcome == PHASE_SKIPPED);
}

static void a_baseline_is_repeated_when_an_output_was_another(void **state)
{
	struct fixture *f = *state;
	struct run *run = run_open();

	assert_false(run_baseline_varies(&f->job)); /* it failed in another way: no file */
	run_add_execution(run, &(struct execution_row){0});
	put_run(f, "baseline.assay", run);
	assert_false(run_baseline_varies(&f->job));
	run_close(f->job.runs[EVIDENCE_BASELINE]);
	f->job.runs[EVIDENCE_BASELINE] = NULL;
	run = run_open();
	run_add_execution(run, &(struct execution_row){0});
	run_add_execution(run, &(struct execution_row){.flags = EXECUTION_WRONG_OUTPUT});
	put_run(f, "baseline.assay", run);
	assert_true(run_baseline_varies(&f->job));
}

/* ---- what they left ---- */

static void row_add(struct fixture *f, const char *name, enum phase_outcome outcome, int status)
{
	vec_push(&f->job.manifest.phases, (struct manifest_phase){.name = name,
						  .command = "",
						  .file = "",
						  .reason = outcome == PHASE_FAILED ? "told" : "",
						  .fix = "",
						  .outcome = outcome,
						  .status = status});
}

static void what_a_phase_left_is_evidence_and_what_not_has_its_reason(void **state)
{
	struct fixture *f = *state;
	const struct evidence_piece *piece = f->job.evidence.piece;
	struct run *causal = run_open();

	run_add_note(causal, "no-progress", "nothing is repeated", "name it");
	put_run(f, "causal.assay", causal);
	put_run(f, "profile.assay", profile_text_run("note short-lived-tasks|most are missed|\n"));
	put_run(f, "observed.assay", run_open());
	row_add(f, "profile", PHASE_DONE, 0);
	row_add(f, "observed", PHASE_FAILED, 5);
	row_add(f, "counters", PHASE_DONE, 0);
	row_add(f, "causal", PHASE_FAILED, EXIT_INCONCLUSIVE);
	run_phases_load(&f->job);
	assert_non_null(piece[EVIDENCE_PROFILE].run);
	assert_int_equal(f->job.front->notes.count, 1); /* short-lived tasks */
	assert_null(piece[EVIDENCE_OBSERVED].run);	/* its file is not trusted */
	assert_string_equal(piece[EVIDENCE_OBSERVED].reason, "told");
	assert_null(piece[EVIDENCE_COUNTERS].run);
	assert_non_null(strstr(piece[EVIDENCE_COUNTERS].reason, "counters.assay"));
	assert_null(piece[EVIDENCE_CAUSAL].run);
	assert_string_equal(piece[EVIDENCE_CAUSAL].reason, "nothing is repeated");
	assert_string_equal(piece[EVIDENCE_CAUSAL].fix, "name it");
	assert_true(f->job.evidence.no_experiments);
	assert_string_equal(piece[EVIDENCE_EVENTS].reason, "the run ended before this phase");
}

static void a_run_file_is_loaded_once(void **state)
{
	struct fixture *f = *state;
	const struct run *first;

	assert_null(run_phase_file(&f->job, EVIDENCE_PROFILE, &f->err));
	put_run(f, "profile.assay", profile_text_run("event cpu-clock ns\n"));
	first = run_phase_file(&f->job, EVIDENCE_PROFILE, &f->err);
	assert_non_null(first);
	assert_ptr_equal(run_phase_file(&f->job, EVIDENCE_PROFILE, &f->err), first);
	row_add(f, "profile", PHASE_DONE, 0);
	run_phases_load(&f->job);
	assert_ptr_equal(f->job.evidence.piece[EVIDENCE_PROFILE].run, first);
}

/* ---- the whole ---- */

static void what_is_wrong_is_told_before_anything_is_made(void **state)
{
	struct fixture *f = *state;
	struct run_options options[] = {
		{.program = f->program, .output = "made", .budget_ns = 4 * S},
		{.program = f->program, .output = "made", .phases = "profil"},
		{.program = f->program, .output = "made", .input = "nowhere"},
		{.program = f->program, .output = "made", .golden = "d"},
		{.program = f->program, .output = "made", .against = "nowhere"},
	};

	for (unsigned i = 0; i < sizeof(options) / sizeof(*options); i++) {
		struct run_result result;
		struct err err = {0};

		assert_true(run_job_do(&options[i], &f->host, &result, &err) < 0);
		assert_int_equal(err.kind, ERR_USAGE);
		assert_true(err.hint[0]);
		assert_false(result.is_answered);
		assert_int_equal(access("made", F_OK), -1);
		run_result_done(&result);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(phases_run_in_an_order_that_gives_the_rest_to_the_baseline),
		TEST(only_the_phases_that_were_asked_for_are_planned),
		TEST(a_phase_that_does_not_exist_is_refused),
		TEST(the_baseline_compares_the_output_unless_it_varies),
		TEST(one_word_alone_is_quoted_for_the_command_that_splits_it),
		TEST(counters_are_counted_by_a_pmu_or_simulated_for_their_share_of_the_time),
		TEST(calls_are_counted_from_the_middle_of_a_run_that_is_too_long),
		TEST(calls_are_counted_before_the_end_of_the_shortest_run),
		TEST(threads_that_live_shortly_are_sampled_more_often),
		TEST(experiments_are_made_on_hot_functions_that_the_program_has),
		TEST(the_place_that_the_samples_name_first_is_tried_first),
		TEST(a_phase_is_done_when_its_command_says_so_and_its_file_is_there),
		TEST(why_a_phase_failed_is_what_its_command_told),
		TEST(a_result_that_could_not_be_written_ends_the_job),
		TEST(a_baseline_is_repeated_when_an_output_was_another),
		TEST(what_a_phase_left_is_evidence_and_what_not_has_its_reason),
		TEST(a_run_file_is_loaded_once),
		TEST(what_is_wrong_is_told_before_anything_is_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
