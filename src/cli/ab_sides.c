/* ab_sides.c - what A and B are: the words of two programs, or two revisions of a repository.
 *
 *     assay ab --build 'make -j2' --run './program data' main -- HEAD */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "ab_parts.h"
#include "base/io.h"

/* One word is a command to split; several are its words. */
static int side_add(struct bench_job *job, char **words, uint32_t count, struct err *err)
{
	char **copy;

	if (count == 1)
		return bench_job_add(job, words[0], err);
	copy = arena_take(&job->arena, (count + 1) * sizeof(*copy));
	for (uint32_t i = 0; i < count; i++)
		copy[i] = words[i];
	return bench_job_add_words(job, copy, err);
}

static uint32_t words_count(char **words)
{
	uint32_t count = 0;

	while (words[count])
		count++;
	return count;
}

static void show_progress(void *context, const char *doing, const char *name)
{
	cli_progress(context, "%s %s", doing, name);
}

/* What a build printed last stands before the sentence that it failed. */
static void log_show(const struct cli *cli, const struct str *log)
{
	cli_progress(cli, NULL);
	if (log->len)
		(void)io_write_all(STDERR_FILENO, log->at, log->len);
	if (log->len && log->at[log->len - 1] != '\n')
		(void)io_write_all(STDERR_FILENO, "\n", 1);
}

static void submodules_note(struct ab_job *ab, const struct revision *one)
{
	str_auto struct str line = {0};

	if (!one->has_submodules)
		return;
	str_addf(&line, "the revision '%s' has submodules, which are empty in its folder",
		one->name);
	run_add_note(ab->job.run, "submodules", str_text(&line),
		"begin --build with `git submodule update --init`");
}

static int revisions_add(struct ab_job *ab, struct err *err)
{
	struct cli *cli = ab->cli;
	struct revisions_options options = {
		.names = {cli->operands.at[0], cli->program[0]},
		.build = cli_value(cli, "build"),
		.interrupted = cli_interrupted,
		.progress = show_progress,
		.context = cli,
	};
	str_auto struct str log = {0}, target = {0};
	int r = revisions_open(&options, &ab->revisions, &log, err);

	log_show(cli, &log);
	for (unsigned i = 0; r >= 0 && i < REVISIONS; i++) {
		const struct revision *one = revisions_at(ab->revisions, i);

		ab->page.names[i] = one->name;
		ab->page.commits[i] = one->commit;
		submodules_note(ab, one);
		ab->job.folder = one->folder;
		r = bench_job_add(&ab->job, cli_value(cli, "run"), err);
		str_addf(&target, "%s%s (%.12s): %s", i ? "; " : "", one->name, one->commit,
			cli_value(cli, "run"));
	}
	ab->job.folder = NULL;
	if (r >= 0)
		ab->job.run->target = run_intern(ab->job.run, str_text(&target));
	return r;
}

int ab_sides_add(struct ab_job *ab, struct err *err)
{
	struct cli *cli = ab->cli;
	uint32_t count = words_count(cli->program);
	int r;

	if (cli_has(cli, "build") && !cli_has(cli, "run")) {
		err_set(err, ERR_USAGE, EINVAL, "--build without --run");
		err_hint(err, "assay ab --build 'make' --run './program' main -- HEAD compares two "
			      "revisions");
		return -EINVAL;
	}
	if (cli_has(cli, "run")) {
		if (cli->operands.count == 1 && count == 1)
			return revisions_add(ab, err);
		err_set(err, ERR_USAGE, EINVAL, "with --run A and B are one revision each");
		err_hint(err, "assay ab --build 'make' --run './program data' main -- HEAD");
		return -EINVAL;
	}
	r = side_add(&ab->job, cli->operands.at, cli->operands.count, err);
	return r < 0 ? r : side_add(&ab->job, cli->program, count, err);
}
