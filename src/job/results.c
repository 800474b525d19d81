/* results.c - see results.h. */
#include "job/results.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/words.h"
#include "code/binary.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "source/import.h"

enum { PROGRAMS_MAX = 64 }; /* looked at per file; more commands than that are no programs */

void results_open(struct results *results, const struct job_host *host)
{
	struct err ignored = {0};

	*results = (struct results){.host = host, .notes = run_open()};
	job_take_fingerprint(results->notes, &ignored);
}

void results_done(struct results *results)
{
	vec_foreach (struct run *, run, &results->runs)
		run_close(*run);
	vec_done(&results->runs);
	vec_done(&results->inputs);
	run_close(results->notes);
	arena_done(&results->arena);
}

static bool is_run_file(const char *path)
{
	static const char magic[] = "SQLite format 3";
	io_auto int fd = io_open_regular(AT_FDCWD, path, 0, NULL);
	char head[sizeof(magic)];

	return fd >= 0 && read(fd, head, sizeof(head)) == (ssize_t)sizeof(head) &&
	       memcmp(head, magic, sizeof(head)) == 0;
}

/* Another tool's file; a profile or counts are no results here. */
static int import_results(
	const struct job_host *host, const char *path, struct run **ret_run, struct err *err)
{
	run_auto struct run *run = run_open();
	struct quota quota = {
		.interrupted = host->interrupted, .seen = job_interrupted(host).count};
	struct ingest ingest = {.run = run, .quota = &quota};
	struct wire_sink sink = ingest_sink(&ingest);
	struct import_report report;
	int r = import_file(path, &quota, &sink, &report, err);

	ingest_done(&ingest);
	if (r < 0)
		return r;
	if (report.holds != IMPORT_BENCHMARK) {
		err_set(err, ERR_USAGE, EINVAL, "%s (%s) has no times of whole runs", path,
			report.kind);
		return err_hint(err,
			"use a run file of `assay bench -o`, or JSON of hyperfine or Google "
			"Benchmark");
	}
	run->partial = *report.damage || report.stopped || report.skipped[IMPORT_TRUNCATED];
	run->command = run_intern(run, "import");
	run_freeze(run);
	*ret_run = run;
	run = NULL;
	return 0;
}

/* Runs of `assay stat` have no commands: their executions are of one target. */
static int load_run_file(
	const struct job_host *host, const char *path, struct run **ret_run, struct err *err)
{
	run_auto struct run *run = NULL;
	int r = job_load_run(host, path, &run, err);

	if (r < 0)
		return r;
	if (!run->commands.count) {
		err_set(err, ERR_USAGE, EINVAL, "%s is a run of `assay %s` and has no benchmark",
			path, run->command ? run_text(run, run->command) : "?");
		return err_hint(err,
			"measure with `assay bench -o RUN CMD...` or `assay ab -o RUN A -- B`");
	}
	*ret_run = run;
	run = NULL;
	return 0;
}

/* The programs of a run that was measured here, as their files are now. */
static const struct binary_facts *const *programs_of(struct results *results, const struct run *run)
{
	const struct binary_options options = {.sha256 = true, .without_libraries = true};
	const struct binary_facts **programs;

	if (!run || !audit_is_same_machine(results->notes, run) ||
		run->commands.count > PROGRAMS_MAX)
		return NULL;
	programs = arena_take(&results->arena, (run->commands.count + 1) * sizeof(*programs));
	for (uint32_t i = 0; i < run->commands.count; i++) {
		struct binary_facts *facts = arena_take(&results->arena, sizeof(*facts));
		struct err ignored = {0};
		char **words;

		if (words_split(run_text(run, run->commands.at[i].argv), &results->arena, &words,
			    NULL, &ignored) >= 0 &&
			binary_inspect(words[0], &options, &results->arena, facts, &ignored) >= 0)
			programs[i] = facts;
	}
	return programs;
}

int results_add(struct results *results, const char *path, struct err *err)
{
	struct run *run = NULL;
	int r = is_run_file(path) ? load_run_file(results->host, path, &run, err)
				  : import_results(results->host, path, &run, err);

	if (r < 0)
		return r;
	vec_push(&results->runs, run);
	vec_push(&results->inputs,
		(struct audit_input){.name = arena_format(&results->arena, "%s", path),
			.run = run,
			.programs = programs_of(results, run)});
	return 0;
}

static int name_is_result(const struct dirent *entry)
{
	return entry->d_name[0] != '.' &&
	       (str_ends(entry->d_name, ".assay") || str_ends(entry->d_name, ".json"));
}

static int add_folder(struct results *results, const char *path, struct err *err)
{
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, name_is_result, alphasort);

	if (count < 0) {
		int code = errno;

		err_set(err, ERR_USAGE, code, "cannot read the directory %s: %s", path,
			err_words(code));
		return err_hint(err, "check its permissions, or name the files in it");
	}
	for (int i = 0; i < count; i++) {
		str_auto struct str file = {0};
		struct err why = {0};

		str_addf(&file, "%s/%s", path, entries[i]->d_name);
		if (results_add(results, file.at, &why) < 0)
			run_add_note(results->notes, "file-skipped", why.text, why.hint);
		free(entries[i]);
	}
	free(entries);
	if (results->inputs.count)
		return 0;
	err_set(err, ERR_USAGE, EINVAL, "the directory %s has no result files", path);
	return err_hint(
		err, "it needs run files (*.assay) or JSON of hyperfine or Google Benchmark");
}

int results_add_all(struct results *results, const char *path, struct err *err)
{
	struct stat stat_buf;

	if (stat(path, &stat_buf) == 0 && S_ISDIR(stat_buf.st_mode))
		return add_folder(results, path, err);
	return results_add(results, path, err);
}
