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

static void json_text_or_missing(
	struct jsonw *w, const char *key, const char *text, const char *reason)
{
	if (text)
		jsonw_put_text(w, key, text);
	else
		jsonw_put_missing(w, key, reason);
}

static void json_libraries(struct jsonw *w, const struct target_view *view)
{
	jsonw_key(w, "libraries");
	jsonw_begin_array(w);
	for (uint32_t i = 0; i < view->library_count; i++) {
		const struct target_library *library = &view->libraries[i];

		jsonw_begin_object(w);
		jsonw_put_text(w, "name", library->name);
		json_text_or_missing(w, "path", library->path, "not found");
		json_text_or_missing(w, "build_id", library->build_id,
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
	jsonw_key(w, "findings");
	jsonw_begin_array(w);
	for (unsigned i = 0; i < view->row_count; i++) {
		const struct target_row *row = &view->rows[i];

		jsonw_begin_object(w);
		jsonw_put_text(w, "name", row->name);
		jsonw_put_text(w, "value", row->value);
		if (row->unknown)
			jsonw_put_missing(w, "status", row->value);
		else
			jsonw_put_text(w, "status", target_status_word(row->status));
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
