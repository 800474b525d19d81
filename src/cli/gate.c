/* gate.c - `assay gate --baseline main`: may this change go in?
 *
 *     assay bench --save main './prog data'     on the old build
 *     assay gate --baseline main                on the new one: exit 1 when it is slower
 *
 * First the machines, then the commands again, then the judgement; what is not comparable is
 * refused before anything runs. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/io.h"
#include "base/words.h"
#include "gate_job.h"
#include "render/compare_json.h"
#include "render/export.h"
#include "render/gate.h"
#include "render/markdown.h"

enum {
	RUNS_GIVEN_MAX = 64,
	CONFIRM_MAX = 10,
	BLOCKS_MAX = 100,
	BLOCKS_DEFAULT = 3,
	RUNS_GOOD = 20
};

static int usage_refuse(struct err *err, const char *text, const char *hint)
{
	err_set(err, ERR_USAGE, EINVAL, "%s", text);
	err_hint(err, "%s", hint);
	return -EINVAL;
}

static int options_check(const struct cli *cli, struct err *err)
{
	bool runs = cli->operands.count || cli->program;

	if (!cli_has(cli, "baseline") && !cli_has(cli, "budgets"))
		return usage_refuse(err, "assay gate was given no baseline and no budgets",
			"assay bench --save main 'COMMAND', later assay gate --baseline main");
	if (cli_has(cli, "candidate") && runs)
		return usage_refuse(err, "--candidate and a command both say what is judged",
			"give one of them");
	if (cli_has(cli, "candidate") && cli_has(cli, "confirm"))
		return usage_refuse(err, "--confirm measures again, and a stored run cannot be",
			"give the command instead of --candidate");
	if (!cli_has(cli, "baseline") && !runs && !cli_has(cli, "candidate"))
		return usage_refuse(err, "there is no command to hold against the budgets",
			"assay gate --budgets FILE -- COMMAND");
	if (cli_has(cli, "blocks"))
		return usage_refuse(err, "--blocks belongs to --envelope", "leave it out");
	return 0;
}

static int baselines_load(struct gate_job *job, struct err *err)
{
	const char *name;
	int r = 0;

	for (unsigned i = 0; r >= 0 && (name = cli_value_at(job->cli, "baseline", i)); i++)
		r = gate_job_add_baseline(job, name, err);
	return r;
}

/* The command line, as a shell reads it back. */
static void reproduce_text(const struct cli *cli, struct str *out)
{
	str_add(out, "assay");
	for (char **word = cli->argv + 1; *cli->argv && *word; word++) {
		str_add_char(out, ' ');
		word_quote(*word, out);
	}
}

static int summary_append(const char *path, const struct str *text, struct err *err)
{
	io_auto int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	int r = fd < 0 ? -errno : io_write_all(fd, str_text(text), text->len);

	if (r < 0) {
		err_set(err, ERR_OUTPUT, -r, "cannot append to %s: %s", path, err_words(-r));
		err_hint(err, "GITHUB_STEP_SUMMARY names it; unset it to go without");
	}
	return r;
}

/* Markdown file, step summary and annotations, where they were asked for. */
static int extras_write(const struct cli *cli, const struct gate_page *page, struct err *err)
{
	const char *path = cli_value(cli, "markdown");
	const char *summary = cli_has(cli, "github") ? getenv("GITHUB_STEP_SUMMARY") : NULL;
	str_auto struct str text = {0}, lines = {0};
	int r = 0;

	gate_markdown(&text, page);
	if (path)
		r = io_replace(path, str_text(&text), text.len, err);
	if (r >= 0 && summary && *summary)
		r = summary_append(summary, &text, err);
	if (r < 0 || !cli_has(cli, "github"))
		return r;
	gate_github(&lines, page);
	/* The runner reads both; stdout may be one JSON document, or end with the next command. */
	r = io_write_all(
		cli->mode == CLI_TEXT ? STDOUT_FILENO : STDERR_FILENO, str_text(&lines), lines.len);
	if (r < 0) {
		err_set(err, ERR_OUTPUT, -r, "cannot write the annotations: %s", err_words(-r));
		err_hint(err, "leave --github out where nobody reads them");
	}
	return r;
}

static int gate_show(struct gate_job *job, struct gate_page *data, struct err *err)
{
	struct cli *cli = job->cli;
	struct cli_page page = {.run = job->page_run,
		.to_stderr = job->bench.run && bench_job_shares_stdout(&job->bench)};
	str_auto struct str reproduce = {0};
	struct err late = {0};
	int r, extra;

	reproduce_text(cli, &reproduce);
	data->reproduce = str_text(&reproduce);
	data->machines = &job->machines;
	data->baselines = job->names.at;
	data->baseline_count = job->names.count;
	data->candidate = cli_value(cli, "candidate");
	data->budgets_path = cli_value(cli, "budgets");
	data->mismatch_allowed = cli_has(cli, "allow-mismatch");
	while (cli_page_next(cli, &page)) {
		if (page.json)
			gate_json(page.json, data);
		else if (cli->mode == CLI_AGENT)
			gate_agent(page.paper, data);
		else
			gate_text(page.paper, data);
	}
	r = cli_page_end(cli, &page, err);
	extra = extras_write(cli, data, r < 0 ? &late : err);
	return r < 0 ? r : extra;
}

static int status_of(const struct cli *cli, const struct gate_view *view, int end)
{
	static const int statuses[] = {
		[GATE_PASS] = EXIT_DONE,
		[GATE_WARN] = EXIT_DONE,
		[GATE_UNKNOWN] = EXIT_INCONCLUSIVE,
		[GATE_FAIL] = EXIT_REGRESSION,
		[GATE_REFUSED] = EXIT_NOT_COMPARABLE,
	};

	if (end == BENCH_INTERRUPTED)
		return EXIT_INTERRUPTED;
	if (end == BENCH_FAILED)
		return EXIT_TARGET;
	if (view->verdict.decision == GATE_UNKNOWN && cli_has(cli, "allow-inconclusive"))
		return EXIT_DONE;
	return statuses[view->verdict.decision];
}

/* A verdict without a judgement. */
static int gate_end_early(
	struct gate_job *job, enum gate_decision decision, const char *outcome, struct err *err)
{
	struct gate_view view = {.preset = job->preset,
		.min_effect = gate_preset_least(&job->preset),
		.fail_above = gate_preset_limit(&job->preset)};
	struct gate_page page = {.view = &view};
	int r;

	gate_settle(&view, decision, outcome);
	r = gate_show(job, &page, err);
	return r < 0 ? r : status_of(job->cli, &view, BENCH_DONE);
}

static bool is_refused(const struct gate_job *job)
{
	return job->machines.class == NOT_COMPARABLE && !cli_has(job->cli, "allow-mismatch");
}

/* Again and again, until the failure is confirmed or is not. */
static int gate_confirm(struct gate_job *job, struct gate_view *view, struct err *err)
{
	uint64_t extra = 0;
	int r = cli_number(job->cli, "confirm", 1, CONFIRM_MAX, 0, &extra, err);

	if (r < 0 || !extra || view->verdict.decision != GATE_FAIL)
		return r;
	gate_confirm_begin(view, (uint32_t)extra);
	for (;;) {
		struct gate_view again;

		r = gate_job_measure_again(job, &again, err);
		if (r < 0)
			return r;
		job->end = r;
		if (r != BENCH_DONE || gate_confirm_add(view, &again))
			return 0;
	}
}

/* Fewer runs than a test can do much with; told once. */
static void few_runs_note(struct gate_job *job, const struct gate_view *view)
{
	for (uint32_t i = 0; i < view->command_count; i++) {
		const struct gate_command *one = &view->commands[i];
		uint32_t now = one->candidate->used_count, then = one->baseline_runs;

		if (then && job->end == BENCH_DONE && (now < RUNS_GOOD || then < RUNS_GOOD)) {
			run_add_note(job->page_run, "few-runs",
				arena_format(&job->arena,
					"%u runs then and %u now see only large changes", then,
					now),
				"measure 20 or more of each: -n 30");
			return;
		}
	}
}

/* What the user should know beside the verdict. */
static void notes_add(struct gate_job *job, const struct gate_view *view)
{
	for (uint32_t i = 0; i < view->unmatched_count; i++)
		run_add_note(job->page_run, "no-baseline",
			arena_format(&job->arena, "'%s' has no baseline", view->unmatched[i]),
			"measure it into one: assay bench --save NAME");
	for (uint32_t i = 0; i < view->budget_count; i++)
		if (view->budgets[i].status == GATE_BUDGET_UNUSED)
			run_add_note(job->page_run, "unused-budget",
				arena_format(&job->arena, "line %u of %s: no command is like '%s'",
					view->budgets[i].budget->line,
					cli_value(job->cli, "budgets"),
					view->budgets[i].budget->pattern),
				"its header is the command as it is measured; * and ? match");
	few_runs_note(job, view);
	if (job->machines.class == ADVISORY && job->runs.count)
		run_add_note(job->page_run, "fingerprint-advisory",
			job->machines.known ? "the machine is not quite as it was for the baseline"
					    : "a side has no fingerprint, so nobody knows whether "
					      "the machines are alike",
			"compare with care, or run assay ab on both builds");
}

static int matches_check(const struct gate_view *view, struct err *err)
{
	if (!view->command_count)
		return usage_refuse(err, "--only leaves no command to judge",
			"it takes a part of the command line");
	if (view->unmatched_count != view->command_count)
		return 0;
	err_set(err, ERR_USAGE, EINVAL, "the baseline does not hold '%.200s'", view->unmatched[0]);
	err_hint(err, "give the command as it stands there, or a baseline with one command only");
	return -EINVAL;
}

static int envelope_find(struct gate_job *job, struct envelope_view *envelope,
	struct gate_page *page, struct err *err)
{
	if (job->views.count < 2)
		return 0;
	page->envelope = envelope;
	return envelope_of_runs(job->views.at, job->views.count, &job->arena, envelope, err);
}

static int gate_judge(struct gate_job *job, struct err *err)
{
	struct gate_view view;
	struct envelope_view envelope;
	struct gate_page page = {.view = &view};
	int r = gate_job_judge(job, NULL, &view, err);

	if (r >= 0 && job->end == BENCH_DONE)
		r = matches_check(&view, err);
	if (r >= 0)
		r = envelope_find(job, &envelope, &page, err);
	if (r >= 0 && job->end == BENCH_DONE)
		r = gate_confirm(job, &view, err);
	if (r < 0)
		return r;
	if (job->end != BENCH_DONE)
		gate_settle(&view, GATE_UNKNOWN,
			job->end == BENCH_FAILED ? "target_failed" : "interrupted");
	job->page_run->partial |= job->end != BENCH_DONE;
	notes_add(job, &view);
	r = gate_show(job, &page, err);
	return r < 0 ? r : status_of(job->cli, &view, job->end);
}

static int gate_run_job(struct gate_job *job, struct err *err)
{
	struct cli *cli = job->cli;
	int r = options_check(cli, err);

	if (r >= 0)
		r = gate_job_read_rules(job, err);
	if (r >= 0)
		r = baselines_load(job, err);
	if (r < 0)
		return r;
	if (!job->runs.count && !(cli_has(cli, "budgets") && (cli->operands.count || cli->program ||
								     cli_has(cli, "candidate"))))
		return gate_end_early(job, GATE_PASS, "no_baseline", err);
	if (gate_job_measures(job)) {
		r = gate_job_compare_machines(job, err);
		if (r < 0 || is_refused(job))
			return r < 0 ? r : gate_end_early(job, GATE_REFUSED, "not_comparable", err);
	}
	r = gate_job_take_candidate(job, err);
	if (r >= 0)
		r = gate_job_compare_machines(job, err);
	if (r < 0 || is_refused(job))
		return r < 0 ? r : gate_end_early(job, GATE_REFUSED, "not_comparable", err);
	return gate_judge(job, err);
}

static int envelope_check(const struct cli *cli, struct err *err)
{
	if (!cli->operands.count)
		return usage_refuse(err, "--envelope was given no run",
			"assay gate --envelope A B C, or one run, which is cut into blocks");
	if (cli->program || cli_has(cli, "baseline") || cli_has(cli, "candidate") ||
		cli_has(cli, "budgets"))
		return usage_refuse(err, "--envelope judges baselines among themselves alone",
			"assay gate --envelope A B C");
	return 0;
}

static int envelope_judge_runs(
	struct gate_job *job, struct envelope_view *ret_view, struct err *err)
{
	uint64_t blocks = 0;
	int r = cli_number(job->cli, "blocks", 2, BLOCKS_MAX, BLOCKS_DEFAULT, &blocks, err);

	for (uint32_t i = 0; r >= 0 && i < job->cli->operands.count; i++)
		r = gate_job_add_baseline(job, job->cli->operands.at[i], err);
	if (r < 0)
		return r;
	if (!job->runs.count)
		return usage_refuse(err, "none of the runs is there", "assay bench --save NAME");
	gate_compare_machines(&job->machines, (const struct run *const *)job->runs.at + 1,
		job->runs.count - 1, job->runs.at[0]);
	r = job->runs.count == 1
		    ? envelope_of_blocks(
			      job->views.at[0], (uint32_t)blocks, &job->arena, ret_view, err)
		    : envelope_of_runs(job->views.at, job->views.count, &job->arena, ret_view, err);
	if (r >= 0 && !ret_view->series_count)
		return usage_refuse(err, "no command has enough runs in every repeat",
			"repeats measure the same commands; a block takes a run at least");
	return r;
}

static int gate_run_envelope(struct gate_job *job, struct err *err)
{
	static const struct {
		enum gate_decision decision;
		const char *outcome;
	} verdicts[] = {
		[ENVELOPE_STABLE] = {GATE_PASS, "stable"},
		[ENVELOPE_NOISE] = {GATE_PASS, "noise"},
		[ENVELOPE_INVESTIGATE] = {GATE_UNKNOWN, "investigate"},
		[ENVELOPE_ESCALATE] = {GATE_FAIL, "escalate"},
	};
	struct envelope_view envelope;
	struct gate_view view = {0};
	struct gate_page page = {.view = &view, .envelope = &envelope};
	int r = envelope_check(job->cli, err);

	if (r >= 0)
		r = gate_job_read_rules(job, err);
	if (r >= 0)
		r = envelope_judge_runs(job, &envelope, err);
	if (r < 0)
		return r;
	view.preset = job->preset;
	view.min_effect = gate_preset_least(&job->preset);
	view.fail_above = gate_preset_limit(&job->preset);
	if (is_refused(job))
		gate_settle(&view, GATE_REFUSED, "not_comparable");
	else
		gate_settle(
			&view, verdicts[envelope.class].decision, verdicts[envelope.class].outcome);
	r = gate_show(job, &page, err);
	return r < 0 ? r : status_of(job->cli, &view, BENCH_DONE);
}

static int gate_run(struct cli *cli, struct err *err)
{
	struct gate_job job;
	int r;

	gate_job_open(&job, cli);
	r = bench_options_read(cli, &job.options, err);
	if (r >= 0)
		r = cli_has(cli, "envelope") ? gate_run_envelope(&job, err)
					     : gate_run_job(&job, err);
	gate_job_done(&job);
	return r;
}

static const struct option_spec options[] = {
	{"baseline", 'b', "NAME|RUN", false, NULL,
		"what to hold it against: a name of --save or a run file; may be repeated"},
	{"candidate", 0, "NAME|RUN", false, NULL, "judge this stored run; nothing is run"},
	{"budgets", 0, "FILE", false, NULL, "what the commands may take at most"},
	{"preset", 0, "NAME", false, NULL, "how bad a change is: perf-regression (default) or ci"},
	{"fail-on", 0, "SEVERITY", false, "minor|moderate|major",
		"fail from this severity on (default: the preset's)"},
	{"min-effect", 0, "SHARE", false, NULL,
		"the smallest change that matters (default: the preset's)"},
	{"metrics", 0, "LIST", false, NULL, "what is judged (default wall,cpu,max_rss)"},
	{"only", 0, "TEXT", false, NULL, "only commands that hold this text"},
	{"runs", 'n', "N", false, NULL, "run each command N times (default: as the baseline)"},
	{"confirm", 0, "N", false, NULL,
		"measure a failure up to N times again: most of them must fail"},
	{"allow-mismatch", 0, NULL, false, NULL,
		"judge across machines that differ, as advice only"},
	{"allow-inconclusive", 0, NULL, false, NULL, "exit 0, not 3, when the data cannot tell"},
	{"missing-ok", 0, NULL, false, NULL, "a baseline that is not there is a warning"},
	{"envelope", 0, NULL, false, NULL, "do repeated baselines agree among themselves?"},
	{"blocks", 0, "N", false, NULL, "with --envelope of one run: cut it in N (default 3)"},
	{"markdown", 0, "FILE", false, NULL, "write a comment for a pull request"},
	{"github", 0, NULL, false, NULL, "print annotations, fill the step summary"},
	{"no-history", 0, NULL, false, NULL, "leave .assay/history.ndjson as it is"},
	BENCH_OPTIONS{0},
};

static const char *const examples[] = {
	"assay gate --baseline main",
	"run the commands of `assay bench --save main` again: are they slower?",
	"assay gate --baseline main --budgets perf.budgets -- ./build/prog data",
	"another build against the baseline and the budgets",
	"assay gate --baseline main --confirm 2 --markdown gate.md --github",
	"for CI: a failure must show in two of three measurements",
	"assay gate --envelope main1 main2 main3",
	"do three baselines of one build agree?",
	NULL,
};

const struct command gate_command = {
	.name = "gate",
	.summary = "may this change go in: against a baseline and budgets",
	.usage = "--baseline NAME|RUN [--budgets FILE] [--candidate NAME|RUN | -- CMD]",
	.examples = examples,
	.details =
		"Without a candidate the commands of the baseline are run again, as often as then. "
		"A change counts only with a test (p < 0.01, corrected), an interval and a size. "
		"Exit status: 0 pass or warn, 1 slower or a budget broken, 3 inconclusive, 4 the "
		"machines must not be compared, 5 a command failed.",
	.options = options,
	.program = PROGRAM_OPTIONAL,
	.operands_max = RUNS_GIVEN_MAX,
	.run = gate_run,
};
