/* run_ledger.c - the verdicts of this run in hypothesis.md, and in the ledger that is kept across
 * runs.
 */
#include "analyze/ledger_history.h"
#include "model/ledger.h"
#include "render/markdown.h"
#include "run_job.h"

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
