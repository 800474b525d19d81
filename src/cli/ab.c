/* ab.c - `assay ab ./old data -- ./new data`: is B slower than A, faster, or the same?
 *
 * Runs A and B in turns (A B, B A, ...), looks at the pairs up to six times while they grow, and
 * stops as soon as the answer will not change. */
#include <errno.h>
#include <stdlib.h>

#include "analyze/bench.h"
#include "bench_job.h"
#include "render/bench.h"

enum { PAIRS_MAX = 1000, PAIRS_EXACT_MAX = 100000, BATCH_KNOWN_AFTER = 3 };
#define BUDGET_DEFAULT_NS 60000000000

/* What is looked at while it grows. */
struct ab_look {
	struct compare_rule rule;
	size_t batch; /* pairs between looks; 0: one look, at the end */
	unsigned looks;
};

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

static int sides_add(struct bench_job *job, struct err *err)
{
	struct cli *cli = job->cli;
	uint32_t count = 0;
	int r = side_add(job, cli->operands.at, cli->operands.count, err);

	while (cli->program[count])
		count++;
	return r < 0 ? r : side_add(job, cli->program, count, err);
}

/* "1%", "0.5 %" or "0.01": a fraction. */
static int effect_choose(const struct cli *cli, double *ret_effect, struct err *err)
{
	const char *text = cli_value(cli, "min-effect");
	char *end;
	double value;

	*ret_effect = 0;
	if (!text)
		return 0;
	value = strtod(text, &end);
	while (*end == ' ')
		end++;
	if (str_equal(end, "%"))
		value /= 100;
	if (end != text && (!*end || str_equal(end, "%")) && value > 0 && value < 1) {
		*ret_effect = value;
		return 0;
	}
	err_set(err, ERR_USAGE, EINVAL, "--min-effect cannot be '%s'", text);
	err_hint(err, "write the smallest change that matters: 1%% or 0.01");
	return -EINVAL;
}

static int counts_choose(
	struct bench_job *job, struct ab_look *look, struct bench_options *options, struct err *err)
{
	const struct cli *cli = job->cli;
	uint64_t pairs = 0;
	int r = cli_number(cli, "pairs", 1, PAIRS_EXACT_MAX, 0, &pairs, err);

	if (r >= 0)
		r = cli_duration(cli, "budget", pairs ? UINT64_MAX : BUDGET_DEFAULT_NS,
			&options->budget_ns, err);
	if (r >= 0)
		r = effect_choose(cli, &look->rule.min_effect, err);
	/* A slow program gets its ten pairs unless the time was said to matter more. */
	options->rounds_min = cli_has(cli, "budget") ? 1 : pairs ? (uint32_t)pairs : COMPARE_BATCH;
	options->rounds_max = pairs ? (uint32_t)pairs : PAIRS_MAX;
	look->rule.looks = pairs ? 1 : COMPARE_LOOKS_MAX;
	return r;
}

static int ab_view_make(struct bench_job *job, const struct compare_rule *rule, struct arena *arena,
	struct bench_ab *ret_ab, struct err *err)
{
	struct bench_view view;
	int r = bench_view_make(job->run, cli_has(job->cli, "ignore-failure"), arena, &view, err);

	return r < 0 ? r : bench_ab_make(&view, rule, arena, ret_ab, err);
}

static int ab_look(struct bench_job *job, const struct bench_progress *progress, struct err *err)
{
	struct ab_look *look = job->context;
	arena_auto struct arena arena = {0};
	struct bench_ab ab;
	int r;

	if (look->rule.looks == 1)
		return 0;
	if (progress->rounds == BATCH_KNOWN_AFTER)
		look->batch = compare_batch(progress->rounds_due);
	/* Large effects show in the first ten pairs; the last look is the one at the end.  With six
	 * looks, however they are spaced, chance alone passes p < 0.005 in at most 3 %. */
	if (!look->batch || look->looks + 1 >= look->rule.looks ||
		(progress->rounds != COMPARE_BATCH && progress->rounds % look->batch))
		return 0;
	look->looks++;
	r = ab_view_make(job, &look->rule, &arena, &ab, err);
	return r < 0 ? r : bench_ab_is_settled(&ab);
}

static int ab_show(struct bench_job *job, const struct compare_rule *rule, struct bench_ab *ret_ab,
	struct err *err)
{
	struct cli *cli = job->cli;
	struct cli_page page = {.run = job->run, .to_stderr = bench_job_shares_stdout(job)};
	int r = ab_view_make(job, rule, &job->arena, ret_ab, err);

	if (r < 0)
		return r;
	while (cli_page_next(cli, &page)) {
		if (page.json)
			ab_json(page.json, ret_ab);
		else if (cli->mode == CLI_AGENT)
			ab_agent(page.paper, ret_ab);
		else
			ab_text(page.paper, ret_ab);
	}
	return cli_page_end(cli, &page, err);
}

static int ab_run_job(struct bench_job *job, struct ab_look *look, struct err *err)
{
	static const int statuses[] = {
		[COMPARE_INCONCLUSIVE] = EXIT_INCONCLUSIVE,
		[COMPARE_EQUIVALENT] = EXIT_DONE,
		[COMPARE_IMPROVED] = EXIT_DONE,
		[COMPARE_REGRESSED] = EXIT_REGRESSION,
	};
	struct bench_options options = {0};
	struct bench_ab ab;
	struct err late = {0};
	int r = sides_add(job, err), end;

	if (r >= 0)
		r = counts_choose(job, look, &options, err);
	if (r < 0)
		return r;
	job->look = ab_look;
	job->context = look;
	end = bench_job_run(job, &options, err);
	if (end < 0 && !job->run->executions.count)
		return end;
	r = ab_show(job, &look->rule, &ab, end < 0 ? &late : err);
	if (end < 0 || r < 0)
		return end < 0 ? end : r;
	return end == BENCH_INTERRUPTED ? EXIT_INTERRUPTED
	       : end == BENCH_FAILED	? EXIT_TARGET
					: statuses[ab.verdict.outcome];
}

static int ab_run_command(struct cli *cli, struct err *err)
{
	struct ab_look look = {0};
	struct bench_job job;
	int r;

	bench_job_open(&job, cli);
	r = ab_run_job(&job, &look, err);
	bench_job_done(&job);
	return r;
}

static const struct option_spec options[] = {
	{"pairs", 'n', "PAIRS", false, NULL, "measure exactly that many pairs, then judge once"},
	{"budget", 0, "TIME", false, NULL, "stop after that time at the latest (default 60s)"},
	{"min-effect", 0, "SHARE", false, NULL, "the smallest change that matters (default 1%)"},
	BENCH_JOB_OPTIONS{0},
};

static const char *const examples[] = {
	"assay ab ./old data -- ./new data",
	"is the new program slower, faster or the same?",
	"assay ab --min-effect 3% 'sort a.txt' -- 'sort --parallel=1 a.txt'",
	"changes below 3 % do not matter",
	"assay ab -n 40 -o ab.assay ./old -- ./new",
	"exactly 40 pairs, kept in a file",
	NULL,
};

const struct command ab_command = {
	.name = "ab",
	.summary = "is B slower than A, faster, or the same: interleaved runs",
	.usage = "[-n PAIRS] [--budget TIME] A -- B",
	.examples = examples,
	.details =
		"A and B are each one quoted command, or a program with its words: what stands "
		"before -- and what stands behind it. The verdict is about B relative to A. Exit "
		"status: 0 equivalent or improved, 1 regressed, 3 inconclusive.",
	.options = options,
	.program = PROGRAM_PAIR,
	.operands_min = 1,
	.operands_max = 100000,
	.run = ab_run_command,
};
