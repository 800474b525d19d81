/* doctor.c - "data" of `assay doctor --json`; docs/commands/doctor.md describes each member. */
#include "render/machine_json.h"

#include <string.h>

#include "analyze/doctor.h"

static void row_json(struct jsonw *w, const struct doctor_row *row)
{
	const char *at = row->commands;

	jsonw_begin_object(w);
	jsonw_put_text(w, "name", row->name);
	jsonw_put_text(w, "status", doctor_status_name(row->status));
	jsonw_put_text(w, "reason", row->reason);
	jsonw_put_text(w, "fix", str_or_null(row->fix));
	jsonw_put_text(w, "purpose", row->purpose);
	jsonw_open_array(w, "commands");
	while (*at) {
		size_t len = strcspn(at, " ");

		jsonw_text_bytes(w, at, len);
		at += len + strspn(at + len, " ");
	}
	jsonw_end_array(w);
	jsonw_end_object(w);
}

void doctor_json(struct jsonw *w, const struct doctor_view *view)
{
	jsonw_open_array(w, "capabilities");
	vec_foreach (const struct doctor_row, row, &view->rows)
		row_json(w, row);
	jsonw_end_array(w);
	jsonw_open_array(w, "tiers");
	vec_foreach (const struct doctor_tier, tier, &view->tiers) {
		jsonw_begin_object(w);
		jsonw_put_text(w, "name", tier->name);
		jsonw_put_text(w, "text", tier->text);
		jsonw_put_bool(w, "best", tier->best);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
	jsonw_open_array(w, "root_adds");
	vec_foreach (const struct doctor_row, row, &view->rows)
		if (row->root_adds)
			jsonw_text(w, row->name);
	jsonw_end_array(w);
}
