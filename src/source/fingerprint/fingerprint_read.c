/* fingerprint_read.c - the fields of a JSON document that assay wrote, back as records.
 *
 * The document comes from outside: every type is checked before it is used, and a document that is
 * not ours is refused with what is wrong in it.  jansson limits the depth itself. */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "base/str.h"
#include "source/emit.h"
#include "source/fingerprint.h"

enum { NAME_LONGEST = 128, VALUE_LONGEST = 4096 };

struct reading {
	const char *name; /* of the document, for sentences */
	const struct wire_sink *sink;
	struct err *err;
	size_t fields;
};

static int refuse(const struct reading *reading, const char *what)
{
	err_set(reading->err, ERR_USAGE, EINVAL, "%s is not a fingerprint: %s", reading->name,
		what);
	return err_hint(reading->err, "write one with `assay env -o FILE`");
}

/* "model_reason" beside "model": null is the word on model, not a field. */
static bool is_reason(json_t *group, const char *key)
{
	size_t len = strlen(key);
	json_t *field;

	if (!str_ends(key, "_reason"))
		return false;
	field = json_object_getn(group, key, len - strlen("_reason"));
	return json_is_null(field);
}

static int read_field(
	struct reading *reading, const char *group_name, json_t *group, const char *key)
{
	json_t *value = json_object_get(group, key), *reason;
	str_auto struct str sibling = {0};
	enum wire_field_state state = WIRE_FIELD_VALUE;

	if (is_reason(group, key))
		return 0;
	if (!*key || strlen(key) > NAME_LONGEST)
		return refuse(reading, "a field has no usable name");
	if (json_is_null(value)) {
		str_addf(&sibling, "%s_reason", key);
		reason = json_object_get(group, sibling.at);
		state = json_is_string(reason) && str_equal(json_string_value(reason), "denied")
				? WIRE_FIELD_DENIED
				: WIRE_FIELD_ABSENT;
	} else if (!json_is_string(value) || !json_string_length(value) ||
		   json_string_length(value) > VALUE_LONGEST) {
		return refuse(reading, "a field of data.fields is neither text nor null");
	}
	reading->fields++;
	return emit_field(reading->sink, group_name, key, state, json_string_value(value));
}

static int read_group(struct reading *reading, const char *name, json_t *group)
{
	const char *key;
	json_t *value;

	if (!json_is_object(group) || !*name || strlen(name) > NAME_LONGEST)
		return refuse(reading, "a group of data.fields is not an object");
	json_object_foreach(group, key, value)
	{
		int r = read_field(reading, name, group, key);

		if (r < 0)
			return r;
	}
	return 0;
}

static int read_document(struct reading *reading, json_t *document)
{
	const char *schema = json_string_value(json_object_get(document, "schema")), *name;
	json_t *fields = json_object_get(json_object_get(document, "data"), "fields"), *group;

	if (!schema || !str_starts(schema, "assay."))
		return refuse(reading, "it is JSON, but not an assay document");
	if (!str_ends(schema, "/1"))
		return refuse(reading, "it was written by a newer assay");
	if (!json_is_object(fields))
		return refuse(reading, "it has no data.fields");
	json_object_foreach(fields, name, group)
	{
		int r = read_group(reading, name, group);

		if (r < 0)
			return r;
	}
	return reading->fields ? 0 : refuse(reading, "its data.fields is empty");
}

int fingerprint_read(const char *bytes, size_t len, const char *name, const struct wire_sink *sink,
	struct err *err)
{
	struct reading reading = {.name = name, .sink = sink, .err = err};
	json_error_t error;
	json_t *document = json_loadb(bytes, len, JSON_REJECT_DUPLICATES, &error);
	int r;

	if (!document) {
		/* Not jansson's own words: they quote the file, which may steer a terminal. */
		err_set(err, ERR_USAGE, EINVAL, "%s is not valid JSON at line %d, column %d", name,
			error.line, error.column);
		err_hint(err, "write a fingerprint with `assay env -o FILE`");
		return -EINVAL;
	}
	r = read_document(&reading, document);
	json_decref(document);
	return r;
}
