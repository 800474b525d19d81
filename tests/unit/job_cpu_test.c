/* job_cpu_test.c - PMU or simulator: the choice, what the PMU's self-test is worth, and what cache,
 * branches and topdown do with a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "folder.h"
#include "job/site.h"
#include "job_host.h"
#include "model/run.h"
#include "parts.h"
#include "topdown_parts.h"

static char program_name[] = "true", *program[] = {program_name, NULL};

/* A PATH that is this folder, with or without a valgrind in it; the one before comes back. */
static int choose_with(bool has_valgrind, enum job_engine wish, bool has_pmu, enum job_engine *ret,
	struct err *err)
{
	mem_auto char *folder = getcwd(NULL, 0);
	const char *path = getenv("PATH");
	char *before = strdup(path ? path : "");
	struct err no_pmu = {0}, ignored;
	int r;

	if (!has_pmu)
		err_set(&no_pmu, ERR_UNAVAILABLE, ENOENT, "there is no PMU");
	unlink("valgrind");
	if (has_valgrind) {
		assert_int_equal(io_replace("valgrind", IO_SHARED, "#!/bin/sh\n", 10, &ignored), 0);
		chmod("valgrind", 0755);
	}
	setenv("PATH", folder, 1);
	r = job_choose_engine(wish, &no_pmu, ret, err);
	setenv("PATH", before, 1);
	free(before);
	return r;
}

static void the_pmu_is_used_where_there_is_one_else_the_simulator(void **state)
{
	enum job_engine engine;
	struct err err = {0};

	(void)state;
	assert_int_equal(choose_with(false, ENGINE_AUTO, true, &engine, &err), 0);
	assert_int_equal(engine, ENGINE_PMU);
	assert_int_equal(choose_with(true, ENGINE_AUTO, false, &engine, &err), 0);
	assert_int_equal(engine, ENGINE_SIM);
	assert_int_equal(choose_with(true, ENGINE_SIM, true, &engine, &err), 0);
	assert_int_equal(engine, ENGINE_SIM);
}

static void an_engine_that_was_asked_for_is_not_replaced(void **state)
{
	enum job_engine engine;
	struct err err = {0};

	(void)state;
	assert_int_equal(choose_with(true, ENGINE_PMU, false, &engine, &err), -ENOENT);
	assert_string_equal(err.text, "there is no PMU");
	assert_int_equal(choose_with(false, ENGINE_SIM, true, &engine, &err), -ENOENT);
	assert_non_null(strstr(err.hint, "apt install valgrind"));
	assert_null(strstr(err.text, "PMU"));
}

static void where_both_are_missing_both_are_told(void **state)
{
	enum job_engine engine;
	struct err err = {0};

	(void)state;
	assert_true(choose_with(false, ENGINE_AUTO, false, &engine, &err) < 0);
	assert_non_null(strstr(err.text, "there is no PMU, and "));
	assert_non_null(strstr(err.text, "valgrind"));
	assert_int_equal(err.kind, ERR_UNAVAILABLE);
}

/* A PMU of one kind of core with these verdicts. */
static struct pmu_report report_of(
	enum pmu_verdict cycles, enum pmu_verdict instructions, enum pmu_verdict stalls)
{
	return (struct pmu_report){
		.present = true,
		.cores = 1,
		.core = {{.name = "cpu",
			.events = 3,
			.event = {{.name = "cycles", .verdict = cycles},
				{.name = "instructions", .verdict = instructions},
				{.name = "stalled-cycles-backend", .verdict = stalls}}}},
	};
}

static void one_basic_counter_that_can_be_believed_is_enough(void **state)
{
	struct pmu_report report = report_of(PMU_ZERO, PMU_TRUSTED, PMU_ABSENT);
	struct err err = {0};

	(void)state;
	assert_int_equal(topdown_pmu_check(&report, &err), 0);
	report = report_of(PMU_ZERO, PMU_IMPLAUSIBLE, PMU_TRUSTED);
	assert_int_equal(topdown_pmu_check(&report, &err), -ENODEV);
	assert_non_null(strstr(err.text, "neither cycles nor instructions"));
	report.present = false;
	assert_true(topdown_pmu_check(&report, &err) < 0);
	assert_int_equal(err.kind, ERR_UNAVAILABLE);
}

static void a_pmu_is_cut_down_by_zeros_and_by_gaps_among_the_basic_events(void **state)
{
	arena_auto struct arena arena = {0};
	struct topdown_facts facts = {0};
	struct pmu_report report = report_of(PMU_TRUSTED, PMU_TRUSTED, PMU_ABSENT);

	(void)state;
	topdown_tier_find(&report, &arena, &facts); /* many sound machines lack stalls */
	assert_int_equal(facts.tier, TOPDOWN_FULL);
	assert_string_equal(facts.tier_reason, "");
	report = report_of(PMU_TRUSTED, PMU_TRUSTED, PMU_ZERO);
	topdown_tier_find(&report, &arena, &facts);
	assert_int_equal(facts.tier, TOPDOWN_CUT_DOWN);
	assert_string_equal(facts.tier_reason, "not counted here: stalled-cycles-backend (zero)");
	report = report_of(PMU_TRUSTED, PMU_ABSENT, PMU_TRUSTED);
	topdown_tier_find(&report, &arena, &facts);
	assert_int_equal(facts.tier, TOPDOWN_CUT_DOWN);
	report.cores = 2;
	report.core[1] = report.core[0];
	strcpy(report.core[1].name, "cpu_atom");
	topdown_tier_find(&report, &arena, &facts);
	assert_string_equal(facts.tier_reason,
		"not counted here: instructions on cpu (absent), instructions on cpu_atom (absent)");
}

static void options_of_the_counters_are_told_to_the_simulators_user(void **state)
{
	str_auto struct str words = {0};

	(void)state;
	topdown_unused(&(struct topdown_options){.quick = true, .limit_ns = 1}, &words);
	assert_int_equal(words.len, 0);
	topdown_unused(&(struct topdown_options){.level = 1, .rounds = 2, .once = true}, &words);
	assert_string_equal(words.at, "--level, --repeat, --once");
}

/* The advice about memory is to run `assay cache`: not for who does that. */
static void nobody_is_sent_where_he_is(void **state)
{
	const struct job_host here = host_of("cache", "true"), there = host_of("branches", "true");
	struct cache_job whole = {.site.run = run_open()};
	struct site_job *job = &whole.site;
	struct err err = {0};

	(void)state;
	assert_int_equal(advice_book_load(&job->advice, &err), 0);
	job->options.program = program;
	job_begin_run(&here, job->run);
	for (unsigned i = 0; i < 2; i++) {
		job->host = i ? &there : &here;
		job->summary.verdict = verdict_none();
		job->summary.verdict.category = VERDICT_MEMORY_LATENCY;
		site_job_advise(job);
		assert_string_equal(job->summary.verdict.next,
			i ? "assay cache -- true" : "assay record -o run.assay -- true");
	}
	cache_job_done(&whole);
}

static void a_stored_run_is_looked_at_without_running_anything(void **state)
{
	const struct job_host host = host_of("branches", NULL);
	const struct site_options options = {.run_path = "run.assay"};
	run_auto struct run *run = run_open();
	struct branches_job branches = {0};
	struct cache_job cache = {0};
	struct err err = {0};

	(void)state;
	run_put("run.assay", run);
	assert_int_equal(cache_job_do(&cache, &options, false, &host, &err), 0);
	assert_string_equal(cache.site.summary.engine, "none");
	assert_string_equal(job_subject(run, NULL, &cache.site.arena).program, "PROGRAM");
	cache_job_done(&cache);
	assert_int_equal(branches_job_do(&branches, &options, NULL, &host, &err), 0);
	assert_int_equal(branches.view.witness, BRANCHES_UNSEEN);
	branches_job_done(&branches);
	branches = (struct branches_job){0};
	assert_int_equal(branches_job_do(&branches, &options, "sideways", &host, &err), -EINVAL);
	assert_non_null(strstr(err.text, "sideways"));
	branches_job_done(&branches);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_folder(the_pmu_is_used_where_there_is_one_else_the_simulator),
		in_folder(an_engine_that_was_asked_for_is_not_replaced),
		in_folder(where_both_are_missing_both_are_told),
		cmocka_unit_test(one_basic_counter_that_can_be_believed_is_enough),
		cmocka_unit_test(a_pmu_is_cut_down_by_zeros_and_by_gaps_among_the_basic_events),
		cmocka_unit_test(options_of_the_counters_are_told_to_the_simulators_user),
		cmocka_unit_test(nobody_is_sent_where_he_is),
		in_folder(a_stored_run_is_looked_at_without_running_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
