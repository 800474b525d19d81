/* gate_judge.c - see gate.h: the order of the steps, and the verdict. */
#include <errno.h>

#include "gate_parts.h"

enum { BLOCKS_DEFAULT = 3, RUNS_GOOD = 20 };

static bool has_commands(const struct gate_job *job)
{
	return job->options.bench.text_count || job->options.bench.program;
}

static int options_check(const struct gate_job *job, struct err *err)
{
	const struct gate_job_options *asked = &job->options;
	bool runs = has_commands(job);

	if (!asked->baselines && !asked->budgets)
		return err_refuse(err, "assay gate needs a baseline or budgets",
			"assay bench --save main 'COMMAND', later assay gate --baseline main");
	if (asked->candidate && runs)
		return err_refuse(
			err, "--candidate and a command exclude each other", "use one of them");
	if (asked->candidate && asked->confirm)
		return err_refuse(err, "--confirm measures again, which a stored run cannot",
			"use the command instead of --candidate");
	if (!asked->baselines && !runs && !asked->candidate)
		return err_refuse(err, "no command to compare with the budgets",
			"assay gate --budgets FILE -- COMMAND");
	if (asked->blocks)
		return err_refuse(err, "--blocks needs --envelope", "remove it");
	return 0;
}

/* A verdict without a judgement. */
static int gate_end(struct gate_job *job, enum gate_decision decision, const char *outcome)
{
	job->view.preset = job->preset;
	job->view.min_effect = gate_preset_least(&job->preset);
	job->view.fail_above = gate_preset_limit(&job->preset);
	gate_settle(&job->view, decision, outcome);
	return BENCH_DONE;
}

static bool is_refused(const struct gate_job *job)
{
	return job->machines.class == NOT_COMPARABLE && !job->options.allow_mismatch;
}

/* Again and again, until the failure is confirmed or is not. */
static int gate_confirm(struct gate_job *job, struct err *err)
{
	int end;

	if (!job->options.confirm || job->view.verdict.decision != GATE_FAIL)
		return BENCH_DONE;
	gate_confirm_begin(&job->view, job->options.confirm);
	for (;;) {
		struct gate_view again;

		end = gate_measure_again(job, &again, err);
		if (end != BENCH_DONE || gate_confirm_add(&job->view, &again))
			return end;
	}
}

/* Fewer runs than a test can do much with; told once. */
static void few_runs_note(struct gate_job *job, const struct gate_view *view, int end)
{
	for (uint32_t i = 0; i < view->command_count; i++) {
		const struct gate_command *one = &view->commands[i];
		uint32_t now = one->candidate->used_count, then = one->baseline_runs;

		if (then && end == BENCH_DONE && (now < RUNS_GOOD || then < RUNS_GOOD)) {
			run_add_note(job->page_run, "few-runs",
				arena_format(&job->arena,
					"%u runs then and %u now detect only large changes", then,
					now),
				"measure 20 or more of each: -n 30");
			return;
		}
	}
}

/* What the user should know beside the verdict. */
static void notes_add(struct gate_job *job, int end)
{
	const struct gate_view *view = &job->view;

	for (uint32_t i = 0; i < view->unmatched_count; i++)
		run_add_note(job->page_run, "no-baseline",
			arena_format(&job->arena, "'%s' has no baseline", view->unmatched[i]),
			"measure one: assay bench --save NAME");
	for (uint32_t i = 0; i < view->budget_count; i++)
		if (view->budgets[i].status == GATE_BUDGET_UNUSED)
			run_add_note(job->page_run, "unused-budget",
				arena_format(&job->arena, "line %u of %s: no command matches '%s'",
					view->budgets[i].budget->line, job->options.budgets,
					view->budgets[i].budget->pattern),
				"the header is the command as measured; * and ? match");
	few_runs_note(job, view, end);
	if (job->machines.class == ADVISORY && job->runs.count)
		run_add_note(job->page_run, "fingerprint-advisory",
			job->machines.known
				? "the machine differs a little from the baseline's"
				: "a side has no fingerprint, so the machines may differ",
			"compare with care, or run assay ab on both builds");
}

static int matches_check(const struct gate_view *view, struct err *err)
{
	if (!view->command_count)
		return err_refuse(err, "--only excludes every command",
			"it matches a part of the command line");
	if (view->unmatched_count != view->command_count)
		return 0;
	err_set(err, ERR_USAGE, EINVAL, "the baseline has no '%.200s'", view->unmatched[0]);
	return err_hint(
		err, "write the command as in the baseline, or use a baseline with one command");
}

static int gate_judge_all(struct gate_job *job, int end, struct err *err)
{
	int r = gate_judge(job, &job->candidate, &job->view, err);

	if (r >= 0 && end == BENCH_DONE)
		r = matches_check(&job->view, err);
	if (r >= 0 && job->views.count > 1) {
		job->page.envelope = &job->envelope;
		r = envelope_of_runs(
			job->views.at, job->views.count, &job->arena, &job->envelope, err);
	}
	if (r >= 0 && end == BENCH_DONE)
		r = end = gate_confirm(job, err);
	if (r < 0)
		return r;
	if (end != BENCH_DONE)
		gate_settle(&job->view, GATE_UNKNOWN,
			end == BENCH_FAILED ? "target_failed" : "interrupted");
	job->page_run->partial |= end != BENCH_DONE;
	notes_add(job, end);
	return end;
}

static int gate_run(struct gate_job *job, struct err *err)
{
	const char *const *name = job->options.baselines;
	int r = options_check(job, err), end;

	if (r >= 0)
		r = gate_read_rules(job, err);
	for (; r >= 0 && name && *name; name++)
		r = gate_add_baseline(job, *name, err);
	if (r < 0)
		return r;
	if (!job->runs.count &&
		!(job->options.budgets && (has_commands(job) || job->options.candidate)))
		return gate_end(job, GATE_PASS, "no_baseline");
	if (!job->options.candidate)
		r = gate_look_at_machines(job, err);
	if (r >= 0 && is_refused(job))
		return gate_end(job, GATE_REFUSED, "not_comparable");
	end = r < 0 ? r : gate_take_candidate(job, err);
	r = end < 0 ? end : gate_look_at_machines(job, err);
	if (r >= 0 && is_refused(job))
		return gate_end(job, GATE_REFUSED, "not_comparable");
	return r < 0 ? r : gate_judge_all(job, end, err);
}

static int envelope_check(const struct gate_job_options *asked, struct err *err)
{
	if (!asked->bench.text_count)
		return err_refuse(err, "--envelope needs a run",
			"assay gate --envelope A B C, or one run, which is split into blocks");
	if (asked->bench.program || asked->baselines || asked->candidate || asked->budgets)
		return err_refuse(err, "--envelope only compares baselines with each other",
			"assay gate --envelope A B C");
	return 0;
}

static int envelope_make(struct gate_job *job, struct err *err)
{
	uint32_t blocks = job->options.blocks ? job->options.blocks : BLOCKS_DEFAULT;
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < job->options.bench.text_count; i++)
		r = gate_add_baseline(job, job->options.bench.texts[i], err);
	if (r < 0)
		return r;
	if (!job->runs.count)
		return err_refuse(err, "none of the runs exists", "assay bench --save NAME");
	gate_compare_machines(&job->machines, (const struct run *const *)job->runs.at + 1,
		job->runs.count - 1, job->runs.at[0]);
	r = job->runs.count == 1
		    ? envelope_of_blocks(job->views.at[0], blocks, &job->arena, &job->envelope, err)
		    : envelope_of_runs(
			      job->views.at, job->views.count, &job->arena, &job->envelope, err);
	if (r >= 0 && !job->envelope.series_count)
		return err_refuse(err, "no command has enough runs in every repeat",
			"repeats measure the same commands; a block needs at least one run");
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
	int r = envelope_check(&job->options, err);

	if (r >= 0)
		r = gate_read_rules(job, err);
	if (r >= 0)
		r = envelope_make(job, err);
	if (r < 0)
		return r;
	job->page.envelope = &job->envelope;
	if (is_refused(job))
		return gate_end(job, GATE_REFUSED, "not_comparable");
	return gate_end(
		job, verdicts[job->envelope.class].decision, verdicts[job->envelope.class].outcome);
}

int gate_job_judge(struct gate_job *job, struct err *err)
{
	int end = job->options.envelope ? gate_run_envelope(job, err) : gate_run(job, err);

	job->page.view = &job->view;
	job->page.machines = &job->machines;
	job->page.baselines = job->names.at;
	job->page.baseline_count = job->names.count;
	job->page.candidate = job->options.candidate;
	job->page.budgets_path = job->options.budgets;
	job->page.mismatch_allowed = job->options.allow_mismatch;
	return end;
}
