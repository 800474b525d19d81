/* job_stat_test.c - which events `assay stat` counts, and when there is no result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "folder.h"
#include "job/stat.h"
#include "job_host.h"
#include "model/run.h"

static char program_name[] = "true", *program[] = {program_name, NULL};

static bool has_event(const struct run *run, const char *name)
{
	vec_foreach (const struct event_row, event, &run->events)
		if (strncmp(run_text(run, event->name), name, strlen(name)) == 0)
			return true;
	return false;
}

static void events_sets_and_metrics_add_up_and_replace_the_default(void **state)
{
	const struct job_host host = host_of("stat", "true");
	const char *const events[] = {"task-clock", "page-faults", NULL}, *const none[] = {NULL};
	struct stat_options options = {.count.argv = program, .events = events};
	struct stat_job job;
	struct err err = {0};

	(void)state;
	assert_int_equal(stat_job_do(&job, &options, &host, &err), 0);
	assert_int_equal(job.run->events.count, 2);
	assert_true(has_event(job.run, "task-clock") && has_event(job.run, "page-faults"));
	stat_job_done(&job);
	options.events = NULL;
	assert_int_equal(stat_job_do(&job, &options, &host, &err), 0);
	assert_true(job.run->events.count > 2);
	assert_true(has_event(job.run, "context-switches"));
	stat_job_done(&job);
	options.metrics = none; /* asked for, and it needs no event */
	assert_int_equal(stat_job_do(&job, &options, &host, &err), 0);
	assert_int_equal(job.run->events.count, 0);
	stat_job_done(&job);
}

static bool has_twice(const struct event_list *list)
{
	for (uint32_t i = 0; i < list->specs.count; i++)
		for (uint32_t k = 0; k < i; k++)
			if (str_equal(list->specs.at[i].name, list->specs.at[k].name) &&
				str_same(list->specs.at[i].core, list->specs.at[k].core))
				return true;
	return false;
}

static void an_event_of_several_metrics_is_counted_once(void **state)
{
	const char *const metrics[] = {"ipc", "cpi", "branch_mpki", NULL};
	struct stat_job job = {.options.metrics = metrics};
	struct err err = {0};

	(void)state;
	assert_int_equal(metric_book_load(&job.book, &err), 0);
	assert_int_equal(stat_job_choose(&job, &err), 0);
	assert_true(job.events.specs.count >= 3);
	assert_false(has_twice(&job.events));
	stat_job_done(&job);
}

static void the_simulator_has_its_own_default_set(void **state)
{
	struct stat_job job = {.options.simulated = true};
	struct err err = {0};
	bool has_instructions = false;

	(void)state;
	assert_int_equal(metric_book_load(&job.book, &err), 0);
	assert_int_equal(stat_job_choose(&job, &err), 0);
	vec_foreach (const struct event_spec, spec, &job.events.specs)
		has_instructions |= strcmp(spec->name, "instructions") == 0;
	assert_true(has_instructions);
	stat_job_done(&job);
}

static void a_set_that_no_cpu_has_is_refused_before_anything_runs(void **state)
{
	const struct job_host host = host_of("stat", "true");
	const char *const sets[] = {"no_such_set", NULL};
	const struct stat_options options = {.count.argv = program, .sets = sets};
	struct stat_job job;
	struct err err = {0};

	(void)state;
	assert_true(stat_job_do(&job, &options, &host, &err) < 0);
	assert_non_null(strstr(err.text, "no_such_set"));
	assert_false(job.run->frozen); /* nothing to show */
	stat_job_done(&job);
}

static void the_run_says_what_was_measured_and_is_kept(void **state)
{
	const struct job_host host = host_of("stat", "the words of the target");
	const char *const events[] = {"task-clock", NULL};
	const struct stat_options options = {
		.count.argv = program, .events = events, .count.repeat = 2, .output = "run.assay"};
	run_auto struct run *kept = NULL;
	struct stat_job job;
	struct err err = {0};

	(void)state;
	assert_int_equal(stat_job_do(&job, &options, &host, &err), 0);
	assert_true(job.run->frozen && !job.run->partial);
	stat_job_done(&job);
	assert_int_equal(store_load("run.assay", &kept, &err), 0);
	assert_int_equal(kept->executions.count, 2);
	assert_string_equal(run_text(kept, kept->command), "stat");
	assert_string_equal(run_text(kept, kept->target), "the words of the target");
	assert_true(kept->fingerprint != 0);
}

static void without_events_and_usage_there_is_no_result(void **state)
{
	run_auto struct run *run = run_open();
	struct event_row missing = {.status = EVENT_NOT_SUPPORTED}, counted = {0};

	(void)state;
	counted.status = EVENT_COUNTED;
	run_add_execution(run, &(struct execution_row){.flags = EXECUTION_NO_USAGE});
	assert_true(stat_run_is_empty(run));
	assert_false(stat_run_misses_event(run));
	run_add_event(run, &missing);
	assert_true(stat_run_is_empty(run));
	assert_true(stat_run_misses_event(run));
	run_add_event(run, &counted);
	assert_false(stat_run_is_empty(run));
	assert_true(stat_run_misses_event(run));
}

static void the_usage_of_an_own_program_is_a_result(void **state)
{
	run_auto struct run *run = run_open();

	(void)state;
	run_add_execution(run, &(struct execution_row){0});
	assert_false(stat_run_is_empty(run));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_sets_and_metrics_add_up_and_replace_the_default),
		cmocka_unit_test(an_event_of_several_metrics_is_counted_once),
		cmocka_unit_test(the_simulator_has_its_own_default_set),
		cmocka_unit_test(a_set_that_no_cpu_has_is_refused_before_anything_runs),
		in_folder(the_run_says_what_was_measured_and_is_kept),
		cmocka_unit_test(without_events_and_usage_there_is_no_result),
		cmocka_unit_test(the_usage_of_an_own_program_is_a_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
