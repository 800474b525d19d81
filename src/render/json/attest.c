/* attest.c - the attestation for programs; the same members are the document that is signed. */
#include "render/machine_json.h"

#include "render/attest.h"

static void item_json(struct jsonw *w, unsigned number, const struct attest_item *item)
{
	jsonw_begin_object(w);
	jsonw_put_u64(w, "number", number);
	jsonw_put_text(w, "key", item->key);
	jsonw_put_text(w, "question", item->question);
	jsonw_put_text(w, "answer", attest_answer_name(item->answer));
	jsonw_put_text_or(w, "reason", item->reason, "only a waiver has one");
	jsonw_put_text(w, "evidence", item->evidence);
	jsonw_put_text(w, "answered_by", item->by_tool ? "tool" : "attester");
	jsonw_end_object(w);
}

static void file_json(struct jsonw *w, const struct attest_file *file)
{
	jsonw_put_text(w, "path", file->path);
	jsonw_put_text(w, "sha256", file->sha256);
}

static void run_json(struct jsonw *w, const struct attest_document *document)
{
	const struct audit_view *audit = document->audit;

	jsonw_open_object(w, "run");
	file_json(w, &document->files[0]);
	jsonw_open_array(w, "commands");
	for (uint32_t i = 0; i < audit->command_count; i++)
		jsonw_text(w, audit->commands[i]->name);
	jsonw_end_array(w);
	jsonw_end_object(w);
	jsonw_open_array(w, "repeats");
	for (uint32_t i = 1; i < document->file_count; i++) {
		jsonw_begin_object(w);
		file_json(w, &document->files[i]);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void origin_json(struct jsonw *w, const struct attest_document *document)
{
	static const char none[] = "the run has no fingerprint";

	jsonw_open_object(w, "machine");
	jsonw_put_text_or(w, "key", str_or_null(document->fingerprint_key), none);
	jsonw_put_text_or(w, "sha256",
		*document->fingerprint_key ? document->fingerprint_sha256 : NULL, none);
	jsonw_end_object(w);
	jsonw_open_object(w, "git");
	jsonw_put_text_or(w, "commit", document->git_commit,
		"the working directory is not in a git work tree");
	if (document->git_known)
		jsonw_put_bool(w, "dirty", document->git_dirty);
	else
		jsonw_put_missing(w, "dirty", "git did not answer");
	jsonw_end_object(w);
	jsonw_open_object(w, "audit");
	jsonw_put_u64(w, "high", document->audit->counts[AUDIT_HIGH]);
	jsonw_put_u64(w, "medium", document->audit->counts[AUDIT_MEDIUM]);
	jsonw_put_u64(w, "low", document->audit->counts[AUDIT_LOW]);
	jsonw_put_text(w, "supports", document->audit->supports);
	jsonw_put_text(w, "does_not_support", document->audit->lacks);
	jsonw_end_object(w);
}

void attest_json(struct jsonw *w, const struct attest_document *document)
{
	const struct attest_view *view = document->view;

	jsonw_put_text(w, "attester", document->attester);
	jsonw_put_text(w, "time_utc", document->time_utc);
	jsonw_put_text(w, "verdict", view->fails ? "fail" : "pass");
	jsonw_put_u64(w, "passes", view->passes);
	jsonw_put_u64(w, "fails", view->fails);
	jsonw_put_u64(w, "waived", view->waived);
	run_json(w, document);
	origin_json(w, document);
	jsonw_open_array(w, "questions");
	for (unsigned i = 0; i < ATTEST_QUESTIONS; i++)
		item_json(w, i + 1, &view->items[i]);
	jsonw_end_array(w);
	if (document->digest)
		jsonw_put_text(w, "document_sha256", document->digest);
}

void attest_check_json(struct jsonw *w, const struct attest_check *check)
{
	jsonw_put_text(w, "document", check->path);
	jsonw_put_bool(w, "document_intact", check->document_intact);
	jsonw_put_text(w, "recorded_sha256", check->recorded);
	jsonw_put_text(w, "computed_sha256", check->computed);
	jsonw_put_text(w, "run", check->run_path);
	if (check->run_found)
		jsonw_put_bool(w, "run_intact", check->run_intact);
	else
		jsonw_put_missing(w, "run_intact", "the run file is missing");
	jsonw_put_text(w, "attester", check->attester);
	jsonw_put_text(w, "time_utc", check->time_utc);
	jsonw_put_u64(w, "fails", check->fails);
}
