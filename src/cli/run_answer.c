/* run_answer.c - what the phases left: joined, judged, written into the directory, shown. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "analyze/bench.h"
#include "analyze/hypothesis.h"
#include "render/answer.h"
#include "render/answer_json.h"
#include "render/job.h"
#include "render/markdown.h"
#include "render/round.h"
#include "run_job.h"

/* Everything that is shown. */
struct run_result {
	struct signals signals;
	struct hypothesis_book *book;
	struct ledger_view ledger;
	struct answer_view answer;
	struct answer_page page;
	struct fingerprint_comparison comparison;
	struct round_view round;
	bool has_round;
	struct job_view job;
};

static void result_done(struct run_result *result)
{
	signals_done(&result->signals);
	hypothesis_book_close(result->book);
	fingerprint_comparison_done(&result->comparison);
}

static int result_make(struct run_job *job, struct run_result *result, struct err *err)
{
	int r = hypothesis_book_load(&result->book, err);

	if (r < 0)
		return r;
	job->evidence.target = job->manifest.target;
	job->evidence.directory = job->directory.path;
	job->evidence.input = job->input_path;
	evidence_view_causal(&job->evidence, &job->arena);
	signals_collect(&job->evidence, &job->arena, &result->signals);
	ledger_evaluate(result->book, &result->signals, &job->arena, &result->ledger);
	answer_make(
		&job->evidence, &result->signals, &result->ledger, &job->arena, &result->answer);
	result->page = (struct answer_page){
		.view = &result->answer,
		.evidence = &job->evidence,
		.target = job->manifest.target,
		.directory = job->directory.path,
		.run_id = job->manifest.run_id,
		.partial = job->front->partial,
	};
	return 0;
}

static void promise_keep(struct run_job *job, const struct answer_view *answer)
{
	const struct hotspot *first = answer->first;

	job->manifest.promise = (struct manifest_promise){
		.location = first ? first->location : "",
		.function = first ? first->function : "",
		.sentence = answer->sentence ? answer->sentence : "",
		.gain = answer->gain,
		.lo = answer->gain_lo,
		.hi = answer->gain_hi,
		.at = answer->gain_at,
		.score = first ? first->score : (double)NAN,
	};
}

/* BASELINE.md, and the median that the next round compares with. */
static int baseline_write(struct run_job *job, struct err *err)
{
	const struct evidence_piece *piece = &job->evidence.piece[EVIDENCE_BASELINE];
	const struct manifest_phase *row = run_step_find(job, "baseline");
	str_auto struct str text = {0};
	struct bench_view view;
	struct baseline_page page = {
		.command = row ? row->command : "",
		.reason = piece->reason,
		.fix = piece->fix,
		.fingerprint = job->manifest.fingerprint,
		.output_sha256 = job->manifest.output_sha256,
	};
	int r = piece->run ? bench_view_make(piece->run, false, &job->arena, &view, err) : 0;

	if (r < 0)
		return r;
	if (piece->run && view.command_count && view.commands[0].used_count) {
		page.view = &view;
		job->manifest.median_ns = view.commands[0].wall.median;
	}
	baseline_markdown(&text, &page);
	return run_job_write(job, "BASELINE.md", &text, err);
}

static int flame_draw(struct run_job *job, struct err *err)
{
	struct run_step step = {.name = "flame", .file = "flame.svg", .planned_s = (double)NAN};
	int r;

	if (!job->evidence.piece[EVIDENCE_PROFILE].run || job->unwritten.code) {
		run_step_skip(job, "flame", "there is no profile to draw", "");
		return 0;
	}
	run_words_add(&step.words, "flame");
	run_words_add(&step.words, directory_path(&job->directory, "profile.assay"));
	run_words_add(&step.words, "-o");
	run_words_add(&step.words, directory_path(&job->directory, "flame.svg"));
	r = run_step_do(job, &step, err);
	return r < 0 ? r : 0;
}

static int golden_write(struct run_job *job, struct err *err)
{
	str_auto struct str text = {0};

	if (!*job->golden_sha256)
		return 0;
	str_addf(&text, "%s  " RUN_GOLDEN "\n", job->golden_sha256);
	return run_job_write(job, "golden_checksums.txt", &text, err);
}

static int pages_write(struct run_job *job, struct run_result *result, struct err *err)
{
	str_auto struct str table = {0}, report = {0};
	int r;

	hotspot_markdown(&table, &result->page);
	answer_markdown(&report, &result->page);
	if (result->has_round)
		round_markdown(&report, &result->round);
	r = run_job_write(job, "hotspot_table.md", &table, err);
	if (r >= 0)
		r = run_job_write(job, "report.md", &report, err);
	return r;
}

static void document_put(struct jsonw *w, struct run_job *job, const struct run_result *result)
{
	struct plan_page plan = {.steps = job->planned, .count = job->has_plan ? RUN_PHASES : 0};

	answer_json(w, &result->page);
	plan_json(w, &plan);
	job_json(w, &result->job);
}

/* report.json is what --json prints. */
static int document_write(struct run_job *job, const struct run_result *result, struct err *err)
{
	struct cli file = *job->cli;
	struct cli_page page = {.run = job->front};
	const struct option_spec *json = common_options;
	int r;

	while (!str_equal(json->name, "json"))
		json++;
	file.mode = CLI_JSON;
	file.options.at = NULL;
	file.options.count = file.options.room = 0;
	vec_push(&file.options,
		(struct cli_option){json, directory_path(&job->directory, "report.json")});
	while (cli_page_next(&file, &page))
		document_put(page.json, job, result);
	r = cli_page_end(&file, &page, err);
	vec_done(&file.options);
	return r;
}

static int result_show(struct run_job *job, const struct run_result *result, struct err *err)
{
	struct cli *cli = job->cli;
	struct cli_page page = {.run = job->front};

	while (cli_page_next(cli, &page)) {
		if (page.json) {
			document_put(page.json, job, result);
		} else if (cli->mode == CLI_AGENT) {
			job_agent(page.paper, &result->job);
			if (result->has_round)
				round_agent(page.paper, &result->round);
			answer_agent(page.paper, &result->page);
		} else {
			if (result->has_round)
				round_text(page.paper, &result->round);
			answer_text(page.paper, &result->page);
			job_text(page.paper, &result->job);
		}
	}
	return cli_page_end(cli, &page, err);
}

static int round_take(struct run_job *job, struct run_result *result, struct err *err)
{
	int r;

	job->manifest.compounded = 1;
	if (!job->against_path)
		return 0;
	r = run_against_compare(
		job, &result->comparison, job->manifest.promise.score, &result->round, err);
	if (r < 0)
		return r;
	result->has_round = true;
	job->manifest.round = result->round.round;
	job->manifest.against = result->round.before_id;
	job->manifest.compounded = result->round.compounded;
	if (result->round.output_changed)
		run_add_note(job->front, "output-changed",
			"the program prints something else than in the run before",
			"see whether the change kept its behaviour");
	return 0;
}

static int directory_finish(struct run_job *job, struct run_result *result, struct err *err)
{
	const struct hotspot *first = result->answer.first;
	int r = baseline_write(job, err);

	promise_keep(job, &result->answer);
	if (r >= 0)
		r = round_take(job, result, err);
	if (r >= 0)
		r = golden_write(job, err);
	if (r >= 0)
		r = flame_draw(job, err);
	if (r >= 0)
		r = pages_write(job, result, err);
	if (r >= 0)
		r = run_ledger_keep(job, &result->ledger, err);
	if (r >= 0)
		r = run_history_keep(job, result->has_round ? &result->round : NULL,
			first ? first->location : "", err);
	if (r >= 0)
		r = directory_hash(&job->directory, &job->manifest, err);
	job->manifest.seconds = (double)run_job_spent_ns(job) / 1e9;
	job->manifest.state = job->front->partial ? MANIFEST_PARTIAL : MANIFEST_COMPLETE;
	job_view_make(&job->manifest, job->directory.path, &job->arena, &result->job);
	result->job.round = result->has_round ? &result->round : NULL;
	if (r >= 0)
		r = document_write(job, result, err);
	if (r >= 0)
		r = directory_hash(&job->directory, &job->manifest, err);
	if (r >= 0)
		r = run_job_keep(job, err);
	return r < 0 ? r : directory_set_latest(&job->directory, err);
}

static int status_of(const struct run_job *job, const struct run_result *result)
{
	if (job->stopped)
		return EXIT_INTERRUPTED;
	if (result->has_round && result->round.has_baselines) {
		if (result->round.class == NOT_COMPARABLE)
			return EXIT_NOT_COMPARABLE;
		if (result->round.verdict.outcome == COMPARE_REGRESSED)
			return EXIT_REGRESSION;
	}
	return result->answer.kind == ANSWER_NOT_MEASURED ? EXIT_INCONCLUSIVE : EXIT_DONE;
}

int run_answer(struct run_job *job, struct err *err)
{
	__attribute__((cleanup(result_done))) struct run_result result = {0};
	struct err late = {0};
	int r, kept, shown;

	run_phases_load(job);
	run_step_note_outputs(job);
	job->front->partial = job->stopped || job->unwritten.code;
	r = result_make(job, &result, err);
	if (r < 0)
		return r;
	kept = directory_finish(job, &result, err);
	if (kept < 0) /* it is shown all the same */
		job_view_make(&job->manifest, job->directory.path, &job->arena, &result.job);
	shown = result_show(job, &result, kept < 0 ? &late : err);
	if (kept < 0 || shown < 0)
		return kept < 0 ? kept : shown;
	if (job->unwritten.code) {
		*err = job->unwritten;
		return -err->code;
	}
	return status_of(job, &result);
}
