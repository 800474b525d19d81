/* env.c - "data" of `assay env --json`; docs/commands/env.md describes each member. */
#include "render/machine_json.h"

#include <stdio.h>

#include "analyze/fingerprint.h"
#include "render/env.h"

static void json_field(struct jsonw *w, const struct fingerprint_field *field)
{
	if (field->state == FINGERPRINT_VALUE)
		jsonw_put_text(w, field->name, field->value);
	else
		jsonw_put_missing(w, field->name, env_state_word(field->state));
}

void env_json(struct jsonw *w, const struct fingerprint_view *view)
{
	const char *group = NULL;

	jsonw_put_text(w, "key", view->key);
	jsonw_put_missing(w, "class", "nothing was compared; use --diff A B");
	jsonw_put_u64(w, "field_count", view->fields.count);
	jsonw_put_u64(w, "absent_count", view->absent);
	jsonw_put_u64(w, "denied_count", view->denied);
	jsonw_key(w, "not_quiet");
	jsonw_begin_array(w);
	vec_foreach (const struct fingerprint_field, field, &view->fields)
		if (field->loud) {
			char name[256];

			snprintf(name, sizeof(name), "%s.%s", field->group, field->name);
			jsonw_text(w, name);
		}
	jsonw_end_array(w);
	jsonw_key(w, "fields");
	jsonw_begin_object(w);
	vec_foreach (const struct fingerprint_field, field, &view->fields) {
		if (!group || !str_equal(group, field->group)) {
			if (group)
				jsonw_end_object(w);
			group = field->group;
			jsonw_key(w, group);
			jsonw_begin_object(w);
		}
		json_field(w, field);
	}
	if (group)
		jsonw_end_object(w);
	jsonw_end_object(w);
}

static void json_side(struct jsonw *w, const char *key, const char *value, const char *missing)
{
	if (value)
		jsonw_put_text(w, key, value);
	else
		jsonw_put_missing(w, key, missing);
}

void env_diff_json(struct jsonw *w, const struct env_diff *diff)
{
	static const char elsewhere[] = "two fingerprints were compared; see a, b and differences";
	const struct fingerprint_comparison *c = diff->comparison;

	jsonw_put_text(w, "class", fingerprint_class_name(c->class));
	jsonw_put_missing(w, "key", elsewhere);
	jsonw_put_missing(w, "fields", elsewhere);
	jsonw_key(w, "a");
	jsonw_begin_object(w);
	jsonw_put_text(w, "source", diff->a);
	jsonw_put_text(w, "key", c->a_key);
	jsonw_end_object(w);
	jsonw_key(w, "b");
	jsonw_begin_object(w);
	jsonw_put_text(w, "source", diff->b);
	jsonw_put_text(w, "key", c->b_key);
	jsonw_end_object(w);
	jsonw_put_u64(w, "block_count", c->counts[FINGERPRINT_BLOCK]);
	jsonw_put_u64(w, "warn_count", c->counts[FINGERPRINT_WARN]);
	jsonw_put_u64(w, "info_count", c->counts[FINGERPRINT_INFO]);
	jsonw_key(w, "differences");
	jsonw_begin_array(w);
	vec_foreach (const struct fingerprint_difference, d, &c->differences) {
		jsonw_begin_object(w);
		jsonw_put_text(w, "field", d->field);
		jsonw_put_text(w, "severity", fingerprint_severity_name(d->severity));
		json_side(w, "a", d->a, d->a_missing);
		json_side(w, "b", d->b, d->b_missing);
		jsonw_put_text(w, "reason", d->reason);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}
