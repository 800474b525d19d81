/* document.c - the envelope of every JSON document: what made it, of what, and what to mind. */
#include <stdio.h>

#include "base/jsonw.h"
#include "job/host.h"
#include "model/run.h"

void job_begin_document(const struct job_host *host, const struct run *run, struct jsonw *w)
{
	char schema[64];

	snprintf(schema, sizeof(schema), "assay.%s/1", host->command);
	jsonw_begin_object(w);
	jsonw_put_text(w, "schema", schema);
	jsonw_open_object(w, "tool");
	jsonw_put_text(w, "name", "assay");
	jsonw_put_text(w, "version", ASSAY_VERSION);
	jsonw_end_object(w);
	jsonw_open_array(w, "argv");
	for (char **word = host->argv; *word; word++)
		jsonw_text(w, *word);
	jsonw_end_array(w);
	jsonw_put_bool(w, "partial", run && run->partial);
	jsonw_open_object(w, "fingerprint");
	if (run && run->fingerprint)
		jsonw_put_text(w, "key", run_text(run, run->fingerprint));
	else
		jsonw_put_missing(w, "key", "no fingerprint was taken");
	jsonw_end_object(w);
	jsonw_open_array(w, "warnings");
	for (uint32_t i = 0; run && i < run->notes.count; i++) {
		const struct note_row *note = &run->notes.at[i];

		jsonw_begin_object(w);
		jsonw_put_text(w, "code", run_text(run, note->code));
		jsonw_put_text(w, "text", run_text(run, note->text));
		jsonw_put_text(w, "hint", run_text(run, note->hint));
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
	jsonw_open_object(w, "data");
}

void job_end_document(struct jsonw *w)
{
	jsonw_end_object(w);
	jsonw_end_object(w);
	str_add_char(w->out, '\n');
}
