/* ab_sides.c - what A and B are: the words of two programs, or two revisions of a repository.
 *
 *     assay ab --build 'make -j2' --run './program data' main -- HEAD */
#include "ab_parts.h"
#include "drive/revisions.h"

static void show_progress(void *context, const char *doing, const char *name)
{
	job_progress(*(const struct job_host **)context, "%s %s", doing, name);
}

static void submodules_note(struct ab_job *ab, const struct revision *one)
{
	str_auto struct str line = {0};

	if (!one->has_submodules)
		return;
	str_addf(&line, "the revision '%s' has submodules, which are empty in its directory",
		one->name);
	run_add_note(ab->job.run, "submodules", str_text(&line),
		"start --build with `git submodule update --init`");
}

static int revisions_add(struct ab_job *ab, struct err *err)
{
	const struct ab_job_options *asked = &ab->options;
	struct revisions_options options = {
		.names = {asked->bench.texts[0], asked->bench.program[0]},
		.build = asked->build,
		.interrupted = ab->job.host->interrupted,
		.progress = show_progress,
		.context = &ab->job.host,
	};
	str_auto struct str target = {0};
	int r = revisions_open(&options, &ab->revisions, &ab->build_log, err);

	job_progress(ab->job.host, NULL);
	if (ab->build_log.len && !str_ends(str_text(&ab->build_log), "\n"))
		str_add_char(&ab->build_log, '\n');
	for (unsigned i = 0; r >= 0 && i < REVISIONS; i++) {
		const struct revision *one = revisions_at(ab->revisions, i);

		ab->page.names[i] = one->name;
		ab->page.commits[i] = one->commit;
		submodules_note(ab, one);
		ab->job.folder = one->folder;
		r = bench_job_add(&ab->job, asked->run, err);
		str_addf(&target, "%s%s (%.12s): %s", i ? "; " : "", one->name, one->commit,
			asked->run);
	}
	ab->job.folder = NULL;
	if (r >= 0)
		ab->job.run->target = run_intern(ab->job.run, str_text(&target));
	return r;
}

/* One word is a command to split; several are its words. */
int ab_sides_add(struct ab_job *ab, struct err *err)
{
	const struct bench_job_options *asked = &ab->options.bench;
	char **words = arena_take(&ab->job.arena, (asked->text_count + 1) * sizeof(*words));
	char *const *sides[] = {words, asked->program};
	bool is_one_each = !sides[1][1] && asked->text_count == 1;
	int r = 0;

	if (ab->options.build && !ab->options.run)
		return err_refuse(err, "--build needs --run",
			"assay ab --build 'make' --run './program' main -- HEAD compares two "
			"revisions");
	if (ab->options.run && !is_one_each)
		return err_refuse(err, "with --run, A and B are one revision each",
			"assay ab --build 'make' --run './program data' main -- HEAD");
	if (ab->options.run)
		return revisions_add(ab, err);
	for (uint32_t i = 0; i < asked->text_count; i++)
		words[i] = asked->texts[i];
	for (unsigned i = 0; r >= 0 && i < 2; i++)
		r = sides[i][1] ? bench_job_add_words(&ab->job, sides[i], err)
				: bench_job_add(&ab->job, sides[i][0], err);
	return r;
}
