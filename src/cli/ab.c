/* ab.c - `assay ab ./old data -- ./new data`: is B slower than A, faster, or the same?
 *
 * Runs A and B in turns (A B, B A, ...), looks for a change up to six times while the pairs grow,
 * and asks after each ten whether more of them would tell anything new. */
#include <errno.h>
#include <stdlib.h>

#include "ab_parts.h"
#include "analyze/bench.h"
#include "render/compare_json.h"

enum { PAIRS_MAX = 1000, PAIRS_EXACT_MAX = 100000 };
#define BUDGET_DEFAULT_NS 60000000000

static int counts_choose(struct ab_job *ab, struct err *err)
{
	const struct cli *cli = ab->cli;
	struct bench_options *options = &ab->job.runs;
	uint64_t pairs = 0;
	int r = cli_number(cli, "pairs", 1, PAIRS_EXACT_MAX, 0, &pairs, err);

	if (r >= 0)
		r = cli_duration(cli, "budget", pairs ? UINT64_MAX : BUDGET_DEFAULT_NS,
			&options->budget_ns, err);
	if (r >= 0)
		r = cli_share(cli, "min-effect", &ab->rule.min_effect, err);
	/* A slow program gets its ten pairs unless the time was said to matter more. */
	options->rounds_min = cli_has(cli, "budget") ? 1 : pairs ? (uint32_t)pairs : COMPARE_BATCH;
	options->rounds_max = pairs ? (uint32_t)pairs : PAIRS_MAX;
	ab->rule.looks = pairs ? 1 : COMPARE_LOOKS_MAX;
	return r;
}

static int view_make(
	struct ab_job *ab, struct arena *arena, struct ab_view *ret_view, struct err *err)
{
	struct bench_view *view = arena_take(arena, sizeof(*view));
	int r = bench_view_make(ab->job.run, cli_has(ab->cli, "ignore-failure"), arena, view, err);

	return r < 0 ? r : ab_view_make(view, &ab->rule, arena, ret_view, err);
}

static int ab_look(struct bench_job *job, const struct bench_progress *progress, struct err *err)
{
	struct ab_job *ab = job->context;
	arena_auto struct arena arena = {0};
	struct ab_view view;
	int r;

	if (ab->rule.looks == 1 || progress->rounds % COMPARE_BATCH)
		return 0;
	if (!ab->has_plan)
		ab->plan = compare_plan_make(progress->rounds_due);
	ab->has_plan = true;
	r = view_make(ab, &arena, &view, err);
	if (r < 0)
		return r;
	return ab_is_narrow(&view) ||
	       (compare_plan_looks_at(&ab->plan, progress->rounds) && ab_is_settled(&view));
}

static int ab_ready(struct bench_job *job, struct err *err)
{
	return ab_check(job->context, err);
}

static int ab_show(struct ab_job *ab, struct err *err)
{
	struct cli *cli = ab->cli;
	struct cli_page page = {.run = ab->job.run, .to_stderr = bench_job_shares_stdout(&ab->job)};

	while (cli_page_next(cli, &page)) {
		if (page.json)
			ab_json(page.json, &ab->page);
		else if (cli->mode == CLI_AGENT)
			ab_agent(page.paper, &ab->page);
		else
			ab_text(page.paper, &ab->page);
	}
	return cli_page_end(cli, &page, err);
}

/* Everything behind the last run: judge, explain, show. */
static int ab_conclude(struct ab_job *ab, bool whole, struct err *err)
{
	const struct ab_view *view = &ab->view;
	int r = view_make(ab, &ab->job.arena, &ab->view, err);

	ab->page.view = view;
	if (r >= 0 && whole)
		r = ab_explain_change(ab, view, err);
	if (cli_value(ab->cli, "save"))
		ab->page.artifact =
			arena_format(&ab->job.arena, ".assay/%s.assay", cli_value(ab->cli, "save"));
	else
		ab->page.artifact = cli_value(ab->cli, "output");
	if (r >= 0)
		ab_steps_multiply(ab, view);
	return r < 0 ? r : ab_show(ab, err);
}

static int ab_run_job(struct ab_job *ab, struct err *err)
{
	static const int statuses[] = {
		[COMPARE_INCONCLUSIVE] = EXIT_INCONCLUSIVE,
		[COMPARE_EQUIVALENT] = EXIT_DONE,
		[COMPARE_IMPROVED] = EXIT_DONE,
		[COMPARE_REGRESSED] = EXIT_REGRESSION,
	};
	struct err late = {0};
	int r = counts_choose(ab, err), end;

	if (r >= 0)
		r = ab_steps_load(ab, err);

	if (r >= 0)
		r = ab_sides_add(ab, err);
	if (r < 0)
		return r == -EINTR ? EXIT_INTERRUPTED : r;
	ab->job.ready = ab_ready;
	ab->job.look = ab_look;
	ab->job.context = ab;
	end = bench_job_run(&ab->job, err);
	if (end < 0 && !ab->job.run->executions.count)
		return end == -EINTR ? EXIT_INTERRUPTED : end;
	r = ab_conclude(ab, end == BENCH_DONE, end < 0 ? &late : err);
	if (end < 0 || r < 0)
		return end < 0 ? end : r;
	return end == BENCH_INTERRUPTED ? EXIT_INTERRUPTED
	       : end == BENCH_FAILED	? EXIT_TARGET
					: statuses[ab->view.verdict.outcome];
}

static int ab_run_command(struct cli *cli, struct err *err)
{
	struct ab_job ab = {.cli = cli};
	int r = bench_options_read(cli, &ab.options, err);

	if (r < 0)
		return r;
	bench_job_open(&ab.job, &ab.options, &cli->host);
	r = ab_run_job(&ab, err);
	revisions_close(ab.revisions);
	for (unsigned i = 0; i < 2; i++)
		run_close(ab.counted[i]);
	vec_foreach (struct run *, earlier, &ab.earlier_runs)
		run_close(*earlier);
	vec_done(&ab.earlier_runs);
	bench_job_done(&ab.job);
	return r;
}

static const struct option_spec options[] = {
	{"pairs", 'n', "PAIRS", false, NULL, "measure exactly that many pairs, then judge once"},
	{"budget", 0, "TIME", false, NULL, "stop after that time at the latest (default 60s)"},
	{"min-effect", 0, "SHARE", false, NULL, "the smallest change that matters (default 1%)"},
	{"run", 0, "CMD", false, NULL,
		"A and B are git revisions: check out each in a folder of its own and run this "
		"there; . is the tree as it stands"},
	{"build", 0, "CMD", false, NULL, "build each revision with this first (sh -c)"},
	{"same-output", 0, "yes|no", true, "yes|no",
		"run each once first and stop when they print different things; default for --run"},
	{"events", 0, "yes|no", true, "yes|no",
		"count events in five more runs of each, to explain a change; default where there "
		"is a PMU"},
	{"after", 0, "RUN", false, NULL,
		"an earlier `ab` that was kept with -o: its change and this one, multiplied; more "
		"than one adds up in order"},
	BENCH_OPTIONS{0},
};

static const char *const examples[] = {
	"assay ab ./old data -- ./new data",
	"is the new program slower, faster or the same?",
	"assay ab --min-effect 3% 'sort a.txt' -- 'sort --parallel=1 a.txt'",
	"changes below 3 % do not matter",
	"assay ab -n 40 -o ab.assay ./old -- ./new",
	"exactly 40 pairs, kept in a file",
	"assay ab --build 'make -j2' --run './program data' main -- .",
	"is the tree as it stands slower than main? Both are built in folders of their own",
	NULL,
};

const struct command ab_command = {
	.name = "ab",
	.summary = "is B slower than A, faster, or the same: interleaved runs",
	.usage = "[-n PAIRS] [--budget TIME] A -- B",
	.examples = examples,
	.details =
		"A and B are each one quoted command, or a program with its words: what stands "
		"before -- and what stands behind it. With --run they are two git revisions; your "
		"tree, index and branches are only read. The verdict is about B relative to A. "
		"Exit status: 0 equivalent or improved, 1 regressed, 3 inconclusive, 5 a build or "
		"a run failed or A and B print different things.",
	.options = options,
	.program = PROGRAM_PAIR,
	.operands_min = 1,
	.operands_max = 100000,
	.run = ab_run_command,
};
