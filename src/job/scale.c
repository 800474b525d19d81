/* scale.c - see scale.h.
 *
 * One command per size, run in turns as `assay bench` does; the same over thread counts. */
#include "job/scale.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

enum { RUNS_MIN_DEFAULT = 7, RUNS_MIN_BUDGET = 1 };
#define BUDGET_DEFAULT_NS 10000000000
#define SIZES_DEFAULT "1,10,50,100,500,1000"

/* What the runtimes of languages and libraries read; set when nothing says how the count is told.
 */
static const char *const thread_variables[] = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
	"MKL_NUM_THREADS", "GOMAXPROCS", "RAYON_NUM_THREADS", "JULIA_NUM_THREADS", NULL};

void scale_job_open(
	struct scale_job *job, const struct scale_job_options *options, const struct job_host *host)
{
	*job = (struct scale_job){.options = *options};
	bench_job_open(&job->bench, &options->bench, host);
}

void scale_job_done(struct scale_job *job)
{
	bench_job_done(&job->bench);
}

static uint32_t cpus_allowed(void)
{
	cpu_set_t set;
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		return (uint32_t)CPU_COUNT(&set);
	return online > 0 ? (uint32_t)online : 1;
}

/* 1, 2, 4 ... up to the CPUs, the CPUs themselves and twice as many: at least three counts. */
static const char *threads_auto(struct arena *arena, uint32_t cpus)
{
	return arena_format(arena, "1..%ux2,%u,%u", cpus > 2 ? cpus : 2, cpus > 2 ? cpus : 2,
		cpus > 2 ? 2 * cpus : 4);
}

static bool has_place(const char *text)
{
	return strstr(text, "{n}") || strstr(text, "{t}");
}

static char *place_fill(struct arena *arena, const char *text, uint64_t size)
{
	str_auto struct str out = {0};

	while (*text)
		if (str_starts(text, "{n}") || str_starts(text, "{t}")) {
			str_add_number(&out, size, 10, 0);
			text += 3;
		} else {
			str_add_char(&out, *text++);
		}
	return arena_text(arena, str_text(&out), out.len);
}

static const char *fill(struct bench_job *job, uint32_t command, const char *text)
{
	const struct scale_job *scale = job->context;

	return place_fill(&job->arena, text, scale->sizes.at[command]);
}

static int sizes_choose(struct scale_job *scale, struct err *err)
{
	const struct scale_job_options *asked = &scale->options;
	const char *sizes = asked->threads ? asked->threads : asked->sizes;

	scale->how = (struct scale_options){.threads = asked->threads != NULL,
		.cpus = cpus_allowed(),
		.metric = asked->metric && str_equal(asked->metric, "cpu") ? SCALE_CPU : SCALE_WALL,
		.has_expected = asked->expect != NULL};
	if (asked->threads && (asked->sizes || asked->expect || asked->metric)) {
		err_set(err, ERR_USAGE, EINVAL, "--threads and --%s exclude each other",
			asked->sizes	? "sizes"
			: asked->expect ? "expect"
					: "metric");
		return err_hint(err, "scaling by size and by threads are two questions");
	}
	if (asked->expect && scale_law_parse(asked->expect, &scale->how.expected, err) < 0)
		return -EINVAL;
	if (asked->threads && str_equal(asked->threads, "auto"))
		sizes = threads_auto(&scale->bench.arena, scale->how.cpus);
	return scale_sizes_parse(
		sizes ? sizes : SIZES_DEFAULT, &scale->bench.arena, &scale->sizes, err);
}

/* The variables that hold the number, of one size. */
static char *const *variables_make(struct scale_job *scale, bool by_default, uint64_t size)
{
	const char *const *lists[] = {
		scale->options.variables, by_default ? thread_variables : NULL};
	struct arena *arena = &scale->bench.arena;
	uint32_t count = 0;
	char **found;

	for (unsigned list = 0; list < 2; list++)
		for (const char *const *name = lists[list]; name && *name; name++)
			count++;
	found = arena_take(arena, (count + 1) * sizeof(*found));
	count = 0;
	for (unsigned list = 0; list < 2; list++)
		for (const char *const *name = lists[list]; name && *name; name++)
			found[count++] =
				arena_format(arena, "%s=%llu", *name, (unsigned long long)size);
	return found;
}

/* The command as typed: one text, or words. */
static int command_words(
	struct scale_job *scale, char *const **ret_words, bool *ret_place, struct err *err)
{
	const struct bench_job_options *asked = &scale->options.bench;
	char *const *program = asked->program;
	const char *text = asked->text_count ? asked->texts[0] : program[1] ? NULL : program[0];
	str_auto struct str title = {0};

	*ret_place = text && has_place(text);
	if (text) {
		char **words = NULL;
		int r = bench_job_split(&scale->bench, text, &words, err);

		scale->title = text;
		bench_job_note_shell(&scale->bench, text);
		*ret_words = words;
		return r;
	}
	for (char *const *word = program; *word; word++) {
		*ret_place |= has_place(*word);
		str_addf(&title, "%s%s", word == program ? "" : " ", *word);
	}
	scale->title = arena_text(&scale->bench.arena, str_text(&title), title.len);
	*ret_words = program;
	return 0;
}

/* Does anything say the size?  Then no variables are set by default. */
static int place_check(struct scale_job *scale, bool place, bool *ret_default, struct err *err)
{
	const struct bench_job_options *asked = &scale->options.bench;
	const char *const *name = scale->options.variables;

	*ret_default = false;
	for (; name && *name; name++)
		if (!**name || strchr(*name, '=')) {
			err_set(err, ERR_USAGE, EINVAL, "invalid --env '%s'", *name);
			return err_hint(
				err, "it is the name of a variable whose value is the size");
		}
	if (place || scale->options.variables || (asked->input && has_place(asked->input)) ||
		(asked->prepare && has_place(asked->prepare)))
		return 0;
	if (!scale->how.threads)
		return err_refuse(err, "the command has no {n} for the size",
			"write './program {n}', or --env NAME to pass it in a variable");
	*ret_default = true;
	run_add_note(scale->bench.run, "thread-count",
		"the command has no {t}: the count is passed in OMP_NUM_THREADS, GOMAXPROCS and "
		"the like",
		"--env NAME passes it in another variable");
	return 0;
}

static int commands_add(struct scale_job *scale, struct err *err)
{
	struct bench_job *job = &scale->bench;
	char *const *words = NULL;
	bool place = false, by_default = false;
	size_t count = 0;
	int r = command_words(scale, &words, &place, err);

	if (r >= 0)
		r = place_check(scale, place, &by_default, err);
	while (r >= 0 && words[count])
		count++;
	for (uint32_t i = 0; r >= 0 && i < scale->sizes.count; i++) {
		uint64_t size = scale->sizes.at[i];
		char **filled = arena_take(&job->arena, (count + 1) * sizeof(*filled));

		for (size_t k = 0; k < count; k++)
			filled[k] = place_fill(&job->arena, words[k], size);
		r = bench_job_add_words(job, filled, err);
		if (r >= 0)
			job->commands.at[i].variables = variables_make(scale, by_default, size);
	}
	if (r >= 0)
		job->run->target = run_intern(job->run, scale->title);
	if (r >= 0 && scale->sizes.repeated && !scale->how.threads)
		run_add_note(job->run, "repeated-sizes", "a duplicate size runs once",
			"-n N runs every size more often");
	return r;
}

int scale_job_plan(struct scale_job *scale, struct err *err)
{
	const struct bench_counts *counts = &scale->options.bench.counts;
	struct bench_options *runs = &scale->bench.runs;
	int r = sizes_choose(scale, err);

	runs->rounds_max = counts->exact ? counts->exact : BENCH_RUNS_MAX;
	runs->rounds_min = counts->exact       ? counts->exact
			   : counts->budget_ns ? RUNS_MIN_BUDGET
					       : RUNS_MIN_DEFAULT;
	runs->budget_ns = counts->budget_ns ? counts->budget_ns : BUDGET_DEFAULT_NS;
	scale->bench.fill = fill;
	scale->bench.context = scale;
	return r < 0 ? r : commands_add(scale, err);
}

static int view_make(struct scale_job *scale, struct err *err)
{
	struct arena *arena = &scale->bench.arena;
	struct bench_view *bench = arena_take(arena, sizeof(*bench));
	int r = bench_view_make(
		scale->bench.run, scale->options.bench.runs.ignore_failure, arena, bench, err);

	if (r >= 0)
		r = scale_view_make(bench, &scale->sizes, &scale->how, arena, &scale->view, err);
	scale->has_view = r >= 0;
	scale->view.title = scale->title;
	return r;
}

int scale_job_measure(struct scale_job *scale, struct err *err)
{
	struct err late = {0};
	int r = scale_job_plan(scale, err), end;

	if (r < 0)
		return r;
	end = bench_job_run(&scale->bench, err);
	if (end >= 0 || scale->bench.run->executions.count)
		r = view_make(scale, end < 0 ? &late : err);
	return end < 0 || r >= 0 ? end : r;
}
