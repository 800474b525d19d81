/* target.c - "target" of `assay doctor PROGRAM --json`; docs/commands/doctor.md describes each
 * member. */
#include "render/machine_json.h"

#include "render/target.h"

static void json_fact(struct jsonw *w, const struct target_fact *fact)
{
	switch (fact->type) {
	case TARGET_MISSING:
		jsonw_put_missing(w, fact->key, fact->text);
		break;
	case TARGET_TEXT:
		jsonw_put_text(w, fact->key, fact->text);
		break;
	case TARGET_BOOL:
		jsonw_put_bool(w, fact->key, fact->number);
		break;
	case TARGET_NUMBER:
		jsonw_put_u64(w, fact->key, fact->number);
		break;
	case TARGET_SHARE:
		jsonw_put_double(w, fact->key, fact->share);
		break;
	}
}

static void json_libraries(struct jsonw *w, const struct target_view *view)
{
	jsonw_open_array(w, "libraries");
	for (uint32_t i = 0; i < view->library_count; i++) {
		const struct target_library *library = &view->libraries[i];

		jsonw_begin_object(w);
		jsonw_put_text(w, "name", library->name);
		jsonw_put_text_or(w, "path", library->path, "not found");
		jsonw_put_text_or(w, "build_id", library->build_id,
			library->path ? "linked without one" : "the library was not found");
		jsonw_put_bool(w, "direct", library->direct);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

void target_json(struct jsonw *w, const struct target_view *view)
{
	jsonw_begin_object(w);
	for (unsigned i = 0; i < view->fact_count; i++)
		json_fact(w, &view->facts[i]);
	json_libraries(w, view);
	jsonw_open_array(w, "findings");
	for (unsigned i = 0; i < view->row_count; i++) {
		const struct target_row *row = &view->rows[i];

		jsonw_begin_object(w);
		jsonw_put_text(w, "name", row->name);
		jsonw_put_text(w, "value", row->value);
		jsonw_put_text_or(w, "status",
			row->unknown ? NULL : target_status_word(row->status), row->value);
		if (row->finding) {
			jsonw_put_text(w, "finding", row->finding);
			jsonw_put_text(w, "cost", row->cost);
			jsonw_put_text(w, "fix", row->fix);
		}
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
	jsonw_end_object(w);
}
