/* ab_check.c - before anything is measured: were A and B built alike, and do they print the same?
 *
 * A build that differs is a warning, because it may be the question; an output that differs ends
 * it, because two programs that do different things have no common speed. */
#include <errno.h>

#include "ab_parts.h"
#include "code/binary.h"
#include "drive/outputs.h"

static bool outputs_wanted(const struct ab_job *ab)
{
	enum ab_wish wish = ab->options.same_output;

	return wish == AB_YES || (wish == AB_WHERE_USEFUL && ab->revisions);
}

static void builds_check(struct ab_job *ab)
{
	const struct binary_options how = {.without_libraries = true};
	struct arena *arena = &ab->job.arena;
	struct ab_build_difference *found =
		arena_take(arena, AB_BUILD_DIFFERENCES * sizeof(*found));
	struct binary_facts facts[2];
	struct err ignored;

	/* A file that cannot be understood says nothing; starting it will tell more. */
	for (unsigned i = 0; i < 2; i++)
		if (binary_inspect(
			    ab->job.runs.commands[i].path, &how, arena, &facts[i], &ignored) < 0)
			return;
	ab->page.builds = found;
	ab->page.build_count = ab_builds_differ(&facts[0], &facts[1], found);
	for (uint32_t i = 0; i < ab->page.build_count; i++) {
		str_auto struct str line = {0};

		str_addf(&line, "A and B were built differently: %s is %s in A and %s in B",
			found[i].what, found[i].a, found[i].b);
		run_add_note(ab->job.run, "build-differs", str_text(&line),
			"build both the same way, unless the build is what you compare");
	}
}

static int outputs_check(struct ab_job *ab, struct err *err)
{
	const struct bench_options *options = &ab->job.runs;
	const struct outputs_options how = {
		.commands = options->commands,
		.prepare_at = options->prepare_at,
		.ignore_failure = options->ignore_failure,
		.input_path = options->input_path,
		.limit_ns = options->limit_ns,
		.interrupted = ab->job.host->interrupted,
	};
	struct outputs outputs;
	int r;

	job_progress(ab->job.host, "comparing the outputs");
	r = outputs_compare(&how, &outputs, err);
	job_progress(ab->job.host, NULL);
	if (r < 0)
		return r;
	ab->page.same_output = outputs.same;
	ab->page.output_bytes = outputs.bytes[0];
	if (outputs.same)
		return 0;
	err_set(err, ERR_TARGET, EILSEQ,
		"the outputs of A and B differ: line %llu is '%s' in A and '%s' in B",
		(unsigned long long)outputs.line, outputs.text[0], outputs.text[1]);
	return err_hint(err, "--same-output=no measures them anyway");
}

/* Who asks for fewer pairs than can decide is told before they run. */
static void pairs_check(struct ab_job *ab)
{
	static const char hint[] = "use -n 3 or more, or omit -n";
	uint32_t exact = ab->options.bench.counts.exact;
	str_auto struct str line = {0};

	if (!exact || exact >= COMPARE_PAIRS_MIN)
		return;
	str_addf(&line,
		"%u pair%s cannot tell a change from chance: the verdict will be "
		"inconclusive",
		exact, exact == 1 ? "" : "s");
	run_add_note(ab->job.run, AB_TOLD, str_text(&line), hint);
	str_addf(&line, " (%s)", hint);
	job_tell(ab->job.host, str_text(&line));
}

int ab_check(struct ab_job *ab, struct err *err)
{
	pairs_check(ab);
	builds_check(ab);
	return outputs_wanted(ab) ? outputs_check(ab, err) : 0;
}
