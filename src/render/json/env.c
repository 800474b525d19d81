/* env.c - "data" of `assay env --json`; docs/commands/env.md describes each member. */
#include "render/machine_json.h"

#include <stdio.h>

#include "analyze/fingerprint.h"
#include "render/env.h"

static void json_field(struct jsonw *w, const struct fingerprint_field *field)
{
	jsonw_put_text_or(w, field->name, field->state == FINGERPRINT_VALUE ? field->value : NULL,
		env_state_word(field->state));
}

void env_json(struct jsonw *w, const struct fingerprint_view *view)
{
	const char *group = NULL;

	jsonw_put_text(w, "key", view->key);
	jsonw_put_missing(w, "class", "nothing was compared; use --diff A B");
	jsonw_put_u64(w, "field_count", view->fields.count);
	jsonw_put_u64(w, "absent_count", view->absent);
	jsonw_put_u64(w, "denied_count", view->denied);
	jsonw_open_array(w, "not_quiet");
	vec_foreach (const struct fingerprint_field, field, &view->fields)
		if (field->loud) {
			char name[256];

			snprintf(name, sizeof(name), "%s.%s", field->group, field->name);
			jsonw_text(w, name);
		}
	jsonw_end_array(w);
	jsonw_open_object(w, "fields");
	vec_foreach (const struct fingerprint_field, field, &view->fields) {
		if (!group || !str_equal(group, field->group)) {
			if (group)
				jsonw_end_object(w);
			group = field->group;
			jsonw_open_object(w, group);
		}
		json_field(w, field);
	}
	if (group)
		jsonw_end_object(w);
	jsonw_end_object(w);
}

void env_diff_json(struct jsonw *w, const struct env_diff *diff)
{
	static const char elsewhere[] = "two fingerprints were compared; see a, b and differences";
	const struct fingerprint_comparison *c = diff->comparison;

	jsonw_put_text(w, "class", fingerprint_class_name(c->class));
	jsonw_put_missing(w, "key", elsewhere);
	jsonw_put_missing(w, "fields", elsewhere);
	jsonw_open_object(w, "a");
	jsonw_put_text(w, "source", diff->a);
	jsonw_put_text(w, "key", c->a_key);
	jsonw_end_object(w);
	jsonw_open_object(w, "b");
	jsonw_put_text(w, "source", diff->b);
	jsonw_put_text(w, "key", c->b_key);
	jsonw_end_object(w);
	jsonw_put_u64(w, "block_count", c->counts[FINGERPRINT_BLOCK]);
	jsonw_put_u64(w, "warn_count", c->counts[FINGERPRINT_WARN]);
	jsonw_put_u64(w, "info_count", c->counts[FINGERPRINT_INFO]);
	jsonw_open_array(w, "differences");
	vec_foreach (const struct fingerprint_difference, d, &c->differences) {
		jsonw_begin_object(w);
		jsonw_put_text(w, "field", d->field);
		jsonw_put_text(w, "severity", fingerprint_severity_name(d->severity));
		jsonw_put_text_or(w, "a", d->a, d->a_missing);
		jsonw_put_text_or(w, "b", d->b, d->b_missing);
		jsonw_put_text(w, "reason", d->reason);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}
