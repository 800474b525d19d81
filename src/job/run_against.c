/* run_against.c - the run before this one, and what is kept across runs: history and ledger. */
#include <errno.h>
#include <math.h>

#include "analyze/ledger_history.h"
#include "base/io.h"
#include "model/ledger.h"
#include "model/rounds.h"
#include "model/store.h"
#include "render/markdown.h"
#include "run_job.h"

int run_against_open(struct run_job *job, struct err *err)
{
	const char *name = job->options.against;
	int r;

	if (!name)
		return 0;
	r = directory_resolve(name, &job->arena, &job->against_path, err);
	if (r >= 0)
		r = directory_load(job->against_path, &job->before, err);
	if (r < 0)
		return r;
	if (job->before.state == MANIFEST_RUNNING) {
		err_set(err, ERR_USAGE, EINVAL,
			"%s is partial: the run that wrote it did not finish", name);
		err_hint(err, "name another with --against DIR; ls " DIRECTORY_ROOT " lists them");
		return -EINVAL;
	}
	return 0;
}

/* A run file of the directory before; NULL: it is not there. */
static struct run *before_load(struct run_job *job, const char *name)
{
	struct run *run = NULL;
	struct err ignored = {0};

	(void)job_load_run(job->host, arena_format(&job->arena, "%s/%s", job->against_path, name),
		&run, &ignored);
	return run;
}

/* What became of the promised place, and what was promised for that. */
static void place_find(struct run_job *job, struct round_input *input, struct causal_gain *reached)
{
	run_auto struct run *profile = before_load(job, "profile.assay"),
			    *causal = before_load(job, "causal.assay");
	struct round_evidence evidence = {
		.before_profile = profile,
		.before_causal = causal,
		.after_profile = job->evidence.piece[EVIDENCE_PROFILE].run,
		.others_share = input->others_share,
	};
	enum round_place place = round_place(&evidence, &job->before.promise, &job->arena, reached);

	input->is_place_unchanged = place == ROUND_PLACE_UNCHANGED;
	input->reached = place == ROUND_PLACE_FASTER ? reached : NULL;
}

static double others_most(struct run_job *job)
{
	run_auto struct run *before = before_load(job, "observed.assay");

	return fmax(run_others_share(before),
		run_others_share(job->evidence.piece[EVIDENCE_OBSERVED].run));
}

int run_against_compare(struct run_job *job, struct err *err)
{
	struct causal_gain reached;
	struct round_input input = {
		.before = &job->before,
		.after = &job->manifest,
		.after_run = job->evidence.piece[EVIDENCE_BASELINE].run,
		.next_score = job->manifest.promise.score,
		.next_gain_lo =
			job->answer.first ? hotspot_proven_gain(job->answer.first) : (double)NAN,
	};

	job->before_run = before_load(job, "baseline.assay");
	input.before_run = job->before_run;
	input.others_share = others_most(job);
	place_find(job, &input, &reached);
	return round_make(&input, &job->comparison, &job->arena, &job->round, err);
}

static int history_show(const struct rounds *rounds, const char *path, struct err *err)
{
	arena_auto struct arena arena = {0};
	struct round_line_view *lines =
		arena_take(&arena, (rounds->rows.count + 1) * sizeof(*lines));
	str_auto struct str text = {0};

	for (uint32_t i = 0; i < rounds->rows.count; i++)
		lines[i] = round_line_of(&rounds->rows.at[i]);
	history_markdown(&text, lines, rounds->rows.count);
	return io_replace(path, IO_PRIVATE, str_text(&text), text.len, err);
}

/* The rounds of this chain go into the directory, those of all programs beside it. */
static int history_of_root(struct run_job *job, const struct round_row *row, struct err *err)
{
	const char *root = job->directory.root;
	const char *path = arena_format(&job->arena, "%s/" ROUNDS_FILE, root ? root : "");
	rounds_auto struct rounds all = {0};
	struct err unread = {0};
	int r;

	if (!root)
		return 0;
	r = round_append(path, row, err);
	if (r < 0)
		return r;
	if (rounds_load(&all, path, &unread) < 0) {
		run_add_note(job->front, "history-unread", unread.text, unread.hint);
		return 0;
	}
	return history_show(&all, arena_format(&job->arena, "%s/HISTORY.md", root), err);
}

int run_history_keep(struct run_job *job, struct err *err)
{
	const struct hotspot *first = job->answer.first;
	struct round_row row = round_row_of(
		&job->manifest, job->has_round ? &job->round : NULL, first ? first->location : "");
	rounds_auto struct rounds chain = {0};
	str_auto struct str lines = {0};
	struct err ignored = {0};
	int r;

	if (job->has_round)
		(void)rounds_load(&chain,
			arena_format(&job->arena, "%s/" ROUNDS_FILE, job->against_path), &ignored);
	vec_push(&chain.rows, row);
	vec_foreach (const struct round_row, each, &chain.rows)
		round_line(each, &lines);
	r = run_job_write(job, ROUNDS_FILE, &lines, err);
	if (r >= 0)
		r = history_show(&chain, directory_path(&job->directory, "HISTORY.md"), err);
	return r < 0 ? r : history_of_root(job, &row, err);
}

/* The verdicts of this run in hypothesis.md, and in the ledger that is kept across runs. */
int run_ledger_keep(struct run_job *job, struct err *err)
{
	const char *root = job->directory.root ? job->directory.root : job->directory.path;
	const char *path = arena_format(&job->arena, "%s/" LEDGER_FILE, root);
	struct ledger_entry shared = {
		.time_ns = job->manifest.time_ns,
		.run_id = job->manifest.run_id,
		.fingerprint = job->manifest.fingerprint,
		.target = job->manifest.target,
	};
	struct ledger_query query = {.run_id = job->manifest.run_id};
	struct ledger_history history = {0};
	ledger_auto struct ledger ledger = {0};
	str_auto struct str text = {0};
	struct ledger_entry *entries;
	struct err unread = {0};
	uint32_t count;
	int r;

	ledger_entries_make(&job->ledger, &shared, &job->arena, &entries, &count);
	r = ledger_append(path, entries, count, err);
	if (r < 0)
		return r;
	if (ledger_load(&ledger, path, &unread) < 0) /* the runs before, no part of this one */
		run_add_note(job->front, "ledger-unread", unread.text, unread.hint);
	ledger_history_make(&ledger, &query, &job->arena, &history);
	ledger_markdown(&text, &job->ledger, history.count ? history.runs : NULL);
	return run_job_write(job, "hypothesis.md", &text, err);
}
