/* job_attest_test.c - which files are results, and what an attestation knows besides them. */
#include "job_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/words.h"
#include "job/attest_facts.h"
#include "job/results.h"

static const struct job_host host = {.command = "attest"};

static void a_file_is_known_by_its_digest_and_one_that_is_not_there_is_named(void **state)
{
	struct arena arena = {0};
	struct err err = {0};

	(void)state;
	file_put("data", "abc");
	assert_string_equal(attest_file_hash("data", &arena, &err),
		"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	assert_null(attest_file_hash("none", &arena, &err));
	assert_string_equal(err.text, "cannot read none: no such file or directory");
	arena_done(&arena);
}

static void fixtures_are_the_plain_files_behind_the_program(void **state)
{
	struct bench_command command = {0};
	const struct bench_command *commands[] = {&command, &command};
	const struct audit_view audit = {.commands = commands, .command_count = 2};
	const struct timespec times[2] = {{.tv_sec = 50}, {.tv_sec = 50}};
	const struct attest_fixture *fixtures;
	struct run *run = run_open();
	struct arena arena = {0};
	char **argv;

	(void)state;
	words_split("prog old folder new --flag", &arena, &argv, NULL, &(struct err){0});
	command.argv = argv;
	file_put("prog", "a program is no fixture");
	file_put("old", "1");
	file_put("new", "2");
	assert_int_equal(mkdir("folder", 0777), 0);
	assert_int_equal(utimensat(AT_FDCWD, "old", times, 0), 0);
	run->started_ns = 100 * UINT64_C(1000000000);
	assert_int_equal(attest_fixtures(&audit, run, &arena, &fixtures), 4);
	assert_string_equal(fixtures[0].path, "old");
	assert_false(fixtures[0].changed_since);
	assert_string_equal(fixtures[1].path, "new");
	assert_true(fixtures[1].changed_since);
	assert_int_equal(fixtures[1].command, 0);
	assert_int_equal(fixtures[2].command, 1);
	run_close(run);
	arena_done(&arena);
}

static void of_a_folder_what_holds_no_results_is_named_and_the_rest_taken(void **state)
{
	struct results results;
	struct run *run = run_open(), *empty = run_open();
	struct err err = {0};

	(void)state;
	runs_add(run, 1, "./prog", 3, 1e8);
	run_put("good.assay", run);
	run_put("empty.assay", empty);
	file_put("notes.txt", "not looked at");
	results_open(&results, &host);
	assert_int_equal(results_add_all(&results, ".", &err), 0);
	assert_int_equal(results.runs.count, 1);
	assert_string_equal(results.inputs.at[0].name, "./good.assay");
	assert_true(run_notes(results.notes, "file-skipped"));
	results_done(&results);
	run_close(run);
	run_close(empty);
}

static void a_folder_without_results_is_refused(void **state)
{
	struct results results;
	struct err err = {0};

	(void)state;
	results_open(&results, &host);
	assert_int_equal(results_add_all(&results, ".", &err), -EINVAL);
	assert_string_equal(err.text, "the directory . has no result files");
	results_done(&results);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_folder(a_file_is_known_by_its_digest_and_one_that_is_not_there_is_named),
		in_folder(fixtures_are_the_plain_files_behind_the_program),
		in_folder(of_a_folder_what_holds_no_results_is_named_and_the_rest_taken),
		in_folder(a_folder_without_results_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
