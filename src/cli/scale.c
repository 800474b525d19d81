/* scale.c - `assay scale './sort_it {n}'`: how the time grows with the size of the input.
 *
 * One command per size, run in turns as `assay bench` does; the same over thread counts. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/scale.h"
#include "base/io.h"
#include "bench_options.h"
#include "render/compare_json.h"
#include "render/markdown.h"
#include "render/scale.h"
#include "render/svg.h"

enum { RUNS_MAX = 1000000, RUNS_MIN_DEFAULT = 7, RUNS_MIN_BUDGET = 1 };
#define BUDGET_DEFAULT_NS 10000000000
#define SIZES_DEFAULT "1,10,50,100,500,1000"

/* What the runtimes of languages and libraries read; set when nothing says how the count is told.
 */
static const char *const thread_variables[] = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
	"MKL_NUM_THREADS", "GOMAXPROCS", "RAYON_NUM_THREADS", "JULIA_NUM_THREADS", NULL};

struct scale_job {
	struct cli *cli;
	struct bench_job bench;
	struct scale_sizes sizes;
	struct scale_options options;
	const char *title;
};

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
	struct cli *cli = scale->cli;
	const char *sizes = cli_value(cli, "sizes"), *threads = cli_value(cli, "threads");
	const char *expect = cli_value(cli, "expect"), *metric = cli_value(cli, "metric");
	int r;

	scale->options.threads = threads != NULL;
	scale->options.cpus = cpus_allowed();
	scale->options.metric = metric && str_equal(metric, "cpu") ? SCALE_CPU : SCALE_WALL;
	scale->options.has_expected = expect != NULL;
	if (threads && (sizes || expect || metric)) {
		err_set(err, ERR_USAGE, EINVAL, "--threads goes without --%s",
			sizes	 ? "sizes"
			: expect ? "expect"
				 : "metric");
		err_hint(err, "laws of size and scaling over threads are two questions");
		return -EINVAL;
	}
	if (threads && str_equal(threads, "auto"))
		threads = threads_auto(&scale->bench.arena, scale->options.cpus);
	r = expect ? scale_law_parse(expect, &scale->options.expected, err) : 0;
	if (r >= 0)
		r = scale_sizes_parse(threads ? threads
				      : sizes ? sizes
					      : SIZES_DEFAULT,
			&scale->bench.arena, &scale->sizes, err);
	return r;
}

/* The variables that hold the number, of one size. */
static char *const *variables_make(struct scale_job *scale, bool by_default, uint64_t size)
{
	struct cli *cli = scale->cli;
	struct arena *arena = &scale->bench.arena;
	vec_of(char *) found = {0};
	char **kept;

	for (unsigned i = 0; cli_value_at(cli, "env", i); i++)
		vec_push(&found, arena_format(arena, "%s=%llu", cli_value_at(cli, "env", i),
					 (unsigned long long)size));
	for (unsigned i = 0; by_default && thread_variables[i]; i++)
		vec_push(&found, arena_format(arena, "%s=%llu", thread_variables[i],
					 (unsigned long long)size));
	kept = arena_take(arena, (found.count + 1) * sizeof(*kept));
	for (uint32_t i = 0; i < found.count; i++)
		kept[i] = found.at[i];
	vec_done(&found);
	return kept;
}

static int variables_check(const struct cli *cli, struct err *err)
{
	const char *name;

	for (unsigned i = 0; (name = cli_value_at(cli, "env", i)); i++)
		if (!*name || strchr(name, '=')) {
			err_set(err, ERR_USAGE, EINVAL, "--env cannot be '%s'", name);
			err_hint(err, "it is the name of a variable; its value is the size");
			return -EINVAL;
		}
	return 0;
}

/* The command as typed: one text, or words behind --. */
static int command_words(
	struct scale_job *scale, char ***ret_words, bool *ret_place, struct err *err)
{
	struct cli *cli = scale->cli;
	const char *text = cli->operands.count		      ? cli->operands.at[0]
			   : cli->program && !cli->program[1] ? cli->program[0]
							      : NULL;
	str_auto struct str title = {0};

	*ret_place = text && has_place(text);
	if (cli->operands.count + (cli->program != NULL) != 1) {
		err_set(err, ERR_USAGE, EINVAL, "assay scale takes one command");
		err_hint(err, "usage: assay scale %s", cli->command->usage);
		return -EINVAL;
	}
	if (text) {
		scale->title = text;
		bench_job_note_shell(&scale->bench, text);
		return bench_job_split(&scale->bench, text, ret_words, err);
	}
	for (char **word = cli->program; word && *word; word++) {
		*ret_place |= has_place(*word);
		str_addf(&title, "%s%s", word == cli->program ? "" : " ", *word);
	}
	scale->title = arena_text(&scale->bench.arena, str_text(&title), title.len);
	*ret_words = cli->program;
	return 0;
}

static int place_check(struct scale_job *scale, bool place, bool *ret_default, struct err *err)
{
	struct bench_job *job = &scale->bench;
	const char *input = cli_value(scale->cli, "input"),
		   *prepare = cli_value(scale->cli, "prepare");
	int r = variables_check(scale->cli, err);

	*ret_default = false;
	place |= (input && has_place(input)) || (prepare && has_place(prepare));
	if (r < 0 || place || cli_has(scale->cli, "env"))
		return r;
	if (scale->options.threads) {
		*ret_default = true;
		run_add_note(job->run, "thread-count",
			"the command has no {t}: the count is in OMP_NUM_THREADS, GOMAXPROCS and "
			"their like",
			"--env NAME puts it elsewhere");
		return 0;
	}
	err_set(err, ERR_USAGE, EINVAL, "the command has no {n} for the size");
	err_hint(err, "write './program {n}', or --env NAME to pass it in a variable");
	return -EINVAL;
}

static int commands_add(struct scale_job *scale, struct err *err)
{
	struct bench_job *job = &scale->bench;
	char **words = NULL;
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
	if (r >= 0 && scale->sizes.repeated && !cli_has(scale->cli, "threads"))
		run_add_note(job->run, "repeated-sizes",
			"a size that stands there twice is run once",
			"-n N gives every size more runs");
	return r;
}

static int counts_choose(struct scale_job *scale, struct err *err)
{
	const struct cli *cli = scale->cli;
	struct bench_options *options = &scale->bench.runs;
	uint64_t exact = 0;
	int r = cli_number(cli, "runs", 1, RUNS_MAX, 0, &exact, err);

	if (r >= 0)
		r = cli_duration(cli, "budget", BUDGET_DEFAULT_NS, &options->budget_ns, err);
	options->rounds_max = exact ? (uint32_t)exact : RUNS_MAX;
	options->rounds_min = exact		       ? (uint32_t)exact
			      : cli_has(cli, "budget") ? RUNS_MIN_BUDGET
						       : RUNS_MIN_DEFAULT;
	return r;
}

static int files_write(const struct cli *cli, const struct scale_view *view, struct err *err)
{
	static const struct {
		const char *option;
		void (*write)(struct str *out, const struct scale_view *view);
	} files[] = {{"svg", scale_svg}, {"export-markdown", scale_markdown}};
	int r = 0;

	for (unsigned i = 0; r >= 0 && i < sizeof(files) / sizeof(*files); i++) {
		const char *path = cli_value(cli, files[i].option);
		str_auto struct str text = {0};

		if (!path)
			continue;
		files[i].write(&text, view);
		r = io_replace(path, str_text(&text), text.len, err);
	}
	return r;
}

/* The terminal's own encoding, by the variables that every program goes by. */
static bool terminal_is_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (unsigned i = 0; i < 3; i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strstr(value, "UTF-8") || strstr(value, "utf8") ||
			       strstr(value, "UTF8") || strstr(value, "utf-8");
	}
	return false;
}

static int scale_show(struct scale_job *scale, struct scale_view *view, struct err *err)
{
	struct cli *cli = scale->cli;
	struct cli_page page = {
		.run = scale->bench.run, .to_stderr = bench_job_shares_stdout(&scale->bench)};
	struct bench_view *bench = arena_take(&scale->bench.arena, sizeof(*bench));
	struct err late = {0};
	int r = bench_view_make(
		scale->bench.run, cli_has(cli, "ignore-failure"), &scale->bench.arena, bench, err);
	int written;

	if (r >= 0)
		r = scale_view_make(
			bench, &scale->sizes, &scale->options, &scale->bench.arena, view, err);
	if (r < 0)
		return r;
	view->title = scale->title;
	written = files_write(cli, view, err);
	while (cli_page_next(cli, &page)) {
		if (page.paper)
			page.paper->ascii |= !terminal_is_utf8();
		if (page.json)
			scale_json(page.json, view);
		else if (cli->mode == CLI_AGENT)
			scale_agent(page.paper, view);
		else
			scale_text(page.paper, view);
	}
	r = cli_page_end(cli, &page, written < 0 ? &late : err);
	return written < 0 ? written : r;
}

static int status_of(const struct scale_view *view)
{
	switch (view->expectation) {
	case SCALE_MET:
		return EXIT_DONE;
	case SCALE_WORSE:
		return EXIT_REGRESSION;
	case SCALE_UNDECIDED:
		return EXIT_INCONCLUSIVE;
	case SCALE_NOT_ASKED:
		break;
	}
	return view->doubt == SCALE_SURE ? EXIT_DONE : EXIT_INCONCLUSIVE;
}

static int scale_run_job(struct scale_job *scale, struct err *err)
{
	struct scale_view view;
	struct err late = {0};
	int r = sizes_choose(scale, err), end;

	if (r >= 0)
		r = commands_add(scale, err);
	if (r >= 0)
		r = counts_choose(scale, err);
	if (r < 0)
		return r;
	scale->bench.fill = fill;
	scale->bench.context = scale;
	end = bench_job_run(&scale->bench, err);
	if (end < 0 && !scale->bench.run->executions.count)
		return end;
	r = scale_show(scale, &view, end < 0 ? &late : err);
	if (end < 0 || r < 0)
		return end < 0 ? end : r;
	return end == BENCH_INTERRUPTED ? EXIT_INTERRUPTED
	       : end == BENCH_FAILED	? EXIT_TARGET
					: status_of(&view);
}

static int scale_run_command(struct cli *cli, struct err *err)
{
	struct scale_job scale = {.cli = cli};
	struct bench_job_options common;
	int r = bench_options_read(cli, &common, err);

	if (r < 0)
		return r;
	bench_job_open(&scale.bench, &common, &cli->host);
	r = scale_run_job(&scale, err);
	bench_job_done(&scale.bench);
	return r;
}

static const struct option_spec options[] = {
	{"sizes", 0, "LIST", false, NULL,
		"1k,10k,100k or 1..64x2 or 10..50+10 (default 1,10,50,100,500,1000)"},
	{"threads", 0, "LIST", false, NULL,
		"scale over threads instead: 1,2,4, or auto for what this machine has"},
	{"env", 0, "NAME", false, NULL,
		"put the size or count in this variable too (may be given again)"},
	{"metric", 0, "METRIC", false, "wall|cpu", "what is fitted (default wall)"},
	{"expect", 0, "LAW", false, NULL, "exit 1 when it grows faster than this: 'O(n log n)'"},
	{"runs", 'n', "N", false, NULL, "run each size exactly N times"},
	{"budget", 0, "TIME", false, NULL,
		"measure about that long in all (default 10s, and 7 runs of each size)"},
	{"svg", 0, "FILE", false, NULL, "the chart as a picture"},
	{"export-markdown", 0, "FILE", false, NULL, "verdict and table"},
	BENCH_OPTIONS{0},
};

static const char *const examples[] = {
	"assay scale './sort_it {n}'",
	"how the time grows with n = 1, 10, 50, 100, 500, 1000",
	"assay scale --sizes 1k..1Mx10 --expect 'O(n log n)' --metric cpu './sort_it {n}'",
	"a gate: exit status 1 when it is worse than n log n",
	"assay scale --threads auto './work -t {t}'",
	"what more threads bring, and where it ends",
	NULL,
};

const struct command scale_command = {
	.name = "scale",
	.summary = "how time grows with the size of the input, throughput with threads",
	.usage = "[--sizes LIST | --threads LIST] [--expect LAW] 'CMD {n}'",
	.examples = examples,
	.details =
		"{n} in the command, in --prepare and in --input is replaced by the size ({t} is the "
		"same). Sizes are run in turns, every other round backwards. The laws are O(1), "
		"O(log n), O(n), O(n log n) and O(n^2), each with a start-up cost. Exit status: 0 "
		"one law stands out, 3 none does, 1 worse than --expect.",
	.options = options,
	.program = PROGRAM_OPTIONAL,
	.operands_max = 1,
	.run = scale_run_command,
};
