/* run_answer.c - what the phases left: joined, judged, written into the directory. */
#include <math.h>

#include "analyze/bench.h"
#include "analyze/hypothesis.h"
#include "base/clock.h"
#include "base/io.h"
#include "job/code_look.h"
#include "job/status.h"
#include "render/answer_json.h"
#include "render/flame.h"
#include "render/markdown.h"
#include "run_job.h"

static int result_make(struct run_job *job, struct err *err)
{
	int r = hypothesis_book_load(&job->book, err);

	if (r < 0)
		return r;
	job->evidence.target = job->manifest.target;
	job->evidence.directory = job->directory.path;
	job->evidence.against = job->against_path;
	job->evidence.input = job->input_path;
	job->evidence.code = code_look_take(job->evidence.piece[EVIDENCE_PROFILE].run, &job->arena);
	evidence_view_causal(&job->evidence, &job->arena);
	evidence_view_algorithm(&job->evidence, &job->arena);
	signals_collect(&job->evidence, &job->arena, &job->signals);
	ledger_evaluate(job->book, &job->signals, &job->arena, &job->ledger);
	answer_make(&job->evidence, &job->signals, &job->ledger, &job->arena, &job->answer);
	job->result->answer = (struct answer_page){
		.view = &job->answer,
		.evidence = &job->evidence,
		.target = job->manifest.target,
		.directory = job->directory.path,
		.run_id = job->manifest.run_id,
		.partial = job->front->partial,
	};
	return 0;
}

static void promise_keep(struct run_job *job)
{
	const struct answer_view *answer = &job->answer;
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

static int flame_write(struct run_job *job, const struct run *profile, struct err *err)
{
	call_tree_auto struct call_tree tree = {0};
	flame_view_auto struct flame_view view = {0};
	struct io_writer writer;
	struct stream out = {.write = io_writer_write, .context = &writer};
	int r = call_tree_make(
		profile, &(struct call_tree_options){.nodes = FLAME_NODES}, &tree, err);

	if (r >= 0)
		r = io_writer_open(
			&writer, directory_path(&job->directory, "flame.svg"), IO_PRIVATE, err);
	if (r < 0)
		return r;
	call_tree_sort(&tree, CALL_TREE_BY_NAME);
	flame_view_make(&tree, &(struct flame_view_options){0}, &view);
	flame_svg(&out, &view, &(struct flame_options){.target = job->manifest.target});
	return io_writer_close(&writer, stream_end(&out), err);
}

/* What `assay flame` would draw, of the profile that is loaded already. */
static int flame_draw(struct run_job *job, struct err *err)
{
	const struct run *profile = job->evidence.piece[EVIDENCE_PROFILE].run;
	struct run_step step = {.name = "flame", .file = "flame.svg"};
	uint64_t start_ns = clock_monotonic_ns();
	struct phase_result result = {0};

	(void)err;
	if (!profile || job->unwritten.code) {
		run_step_skip(job, "flame", "no profile to draw", "");
		return 0;
	}
	run_words_add(&step.words, "flame", directory_path(&job->directory, "profile.assay"), "-o",
		directory_path(&job->directory, "flame.svg"));
	run_step_begin(job, &step, NULL);
	if (flame_write(job, profile, &result.failure) < 0)
		result.status = result.failure.kind == ERR_OUTPUT ? EXIT_NOT_WRITTEN : EXIT_USAGE;
	result.wall_ns = clock_monotonic_ns() - start_ns;
	run_step_finish(job, &step, &result);
	vec_done(&step.words.at);
	return 0;
}

static int golden_write(struct run_job *job, struct err *err)
{
	str_auto struct str text = {0};

	if (!*job->golden_sha256)
		return 0;
	str_addf(&text, "%s  " RUN_GOLDEN "\n", job->golden_sha256);
	return run_job_write(job, "golden_checksums.txt", &text, err);
}

static int pages_write(struct run_job *job, struct err *err)
{
	str_auto struct str table = {0}, report = {0}, queries = {0};
	struct answer_page page = job->result->answer;
	int r;

	page.round = job->has_round ? &job->round : NULL;
	hotspot_markdown(&table, &page);
	answer_markdown(&report, &page);
	queries_sql(&queries, &page);
	r = run_job_write(job, "hotspot_table.md", &table, err);
	if (r >= 0)
		r = run_job_write(job, "report.md", &report, err);
	if (r >= 0)
		r = run_job_write(job, "queries.sql", &queries, err);
	return r;
}

void run_result_json(struct jsonw *w, const struct run_result *result)
{
	answer_json(w, &result->answer);
	plan_json(w, &result->plan);
	job_json(w, &result->summary);
}

/* report.json is what --json prints. */
static int document_write(struct run_job *job, struct err *err)
{
	str_auto struct str text = {0};
	struct jsonw w = {.out = &text};

	job_begin_document(job->host, job->front, &w);
	run_result_json(&w, job->result);
	job_end_document(&w);
	return run_job_write(job, "report.json", &text, err);
}

static int round_take(struct run_job *job, struct err *err)
{
	int r;

	job->manifest.compounded = 1;
	if (!job->against_path)
		return 0;
	r = run_against_compare(job, err);
	if (r < 0)
		return r;
	job->has_round = true;
	job->manifest.round = job->round.round;
	job->manifest.against = job->round.before_id;
	job->manifest.compounded = job->round.compounded;
	if (job->round.output_changed)
		run_add_note(job->front, "output-changed",
			"the output differs from the earlier run",
			"check that the change kept the program's behaviour");
	return 0;
}

static void job_summarize(struct run_job *job)
{
	job_view_make(&job->manifest, job->directory.path, &job->arena, &job->result->summary);
	job->result->summary.round = job->has_round ? &job->round : NULL;
}

static int directory_finish(struct run_job *job, struct err *err)
{
	int (*const steps[])(struct run_job *, struct err *) = {
		round_take,
		golden_write,
		flame_draw,
		pages_write,
		run_ledger_keep,
		run_history_keep,
	};
	int r = baseline_write(job, err);

	promise_keep(job);
	for (unsigned i = 0; r >= 0 && i < sizeof(steps) / sizeof(*steps); i++)
		r = steps[i](job, err);
	if (r >= 0)
		r = directory_hash(&job->directory, &job->manifest, err);
	job->manifest.seconds = (double)run_job_spent_ns(job) / 1e9;
	job->manifest.state = job->front->partial ? MANIFEST_PARTIAL : MANIFEST_COMPLETE;
	job_summarize(job);
	if (r >= 0)
		r = document_write(job, err);
	if (r >= 0)
		r = directory_hash(&job->directory, &job->manifest, err);
	if (r >= 0)
		r = run_job_keep(job, err);
	return r < 0 ? r : directory_set_latest(&job->directory, err);
}

int run_answer(struct run_job *job, struct err *err)
{
	int r;

	run_phases_load(job);
	run_step_note_outputs(job);
	job->front->partial = job->stopped || job->unwritten.code;
	r = result_make(job, err);
	if (r < 0)
		return r;
	r = directory_finish(job, err);
	job->result->is_answered = true; /* it is shown also when it could not be written */
	if (r >= 0 && job->unwritten.code) {
		*err = job->unwritten;
		r = -err->code;
	}
	return r;
}
