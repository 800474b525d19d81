/* tune_snapshot.c - see tune_snapshot.h.
 *
 * A snapshot is compared file by file.  Only files that match the knob they are told of are read: a
 * document from outside must not make root show other files. */
#include "drive/tune_snapshot.h"

#include <errno.h>
#include <glob.h>
#include <jansson.h>
#include <string.h>

#include "tune_parts.h"

enum { ROWS_LARGEST = 1 << 20 };

static int refuse(const char *name, const char *what, struct err *err)
{
	err_set(err, ERR_USAGE, EINVAL, "%s is not a snapshot: %s", name, what);
	err_hint(err, "write one with `assay tune status --snapshot -o FILE`");
	return -EINVAL;
}

static const char *plain_text(struct tune_snapshot *snapshot, const json_t *value)
{
	const char *text = json_string_value(value);
	size_t len = json_string_length(value);

	return text && tune_text_is_plain(text, len) ? arena_text(&snapshot->texts, text, len)
						     : NULL;
}

static bool row_take(struct tune_snapshot *snapshot, const json_t *row)
{
	const json_t *value = json_object_get(row, "value");
	struct tune_expected expected = {
		.knob = plain_text(snapshot, json_object_get(row, "knob")),
		.path = plain_text(snapshot, json_object_get(row, "path")),
		.value = plain_text(snapshot, value),
	};

	if (!expected.knob || !expected.path || (!expected.value && !json_is_null(value)))
		return false;
	vec_push(&snapshot->rows, expected);
	return true;
}

static int document_take(
	struct tune_snapshot *snapshot, const json_t *document, const char *name, struct err *err)
{
	const char *schema = json_string_value(json_object_get(document, "schema"));
	const json_t *rows = json_object_get(json_object_get(document, "data"), "snapshot");

	if (!schema || !str_starts(schema, "assay.tune/"))
		return refuse(name, "it is JSON, but not written by assay tune", err);
	if (!str_equal(schema, "assay.tune/1"))
		return refuse(name, "it was written by a newer assay", err);
	if (!json_is_array(rows) || !json_array_size(rows) || json_array_size(rows) > ROWS_LARGEST)
		return refuse(name, "it has no data.snapshot", err);
	for (size_t i = 0; i < json_array_size(rows); i++)
		if (!row_take(snapshot, json_array_get(rows, i)))
			return refuse(name, "a row of data.snapshot is incomplete", err);
	return 0;
}

int tune_snapshot_read(struct tune_snapshot *ret_snapshot, const char *bytes, size_t len,
	const char *name, struct err *err)
{
	json_error_t error;
	json_t *document = json_loadb(bytes, len, JSON_REJECT_DUPLICATES, &error);
	int r;

	*ret_snapshot = (struct tune_snapshot){0};
	if (!document)
		return refuse(name, "it is not valid JSON", err);
	r = document_take(ret_snapshot, document, name, err);
	json_decref(document);
	return r;
}

void tune_snapshot_done(struct tune_snapshot *snapshot)
{
	vec_done(&snapshot->rows);
	arena_done(&snapshot->texts);
}

/* A knob that a machine lacks is told of by its pattern, if it has one. */
static uint32_t knob_of_pattern(const struct tune *tune, const struct tune_expected *expected)
{
	for (uint32_t i = 0; i < tune->options.knob_count && !expected->value; i++)
		if (str_equal(tune->options.knobs[i].name, expected->knob) &&
			str_equal(tune->options.knobs[i].pattern, expected->path))
			return i;
	return UINT32_MAX;
}

static bool pattern_has_files(struct tune *tune, const char *pattern)
{
	glob_t found = {0};
	bool has = glob(tune_full_path(tune, pattern), GLOB_NOSORT, NULL, &found) == 0;

	globfree(&found);
	return has;
}

static void expected_look(struct tune *tune, const struct tune_expected *expected)
{
	uint32_t lacking = knob_of_pattern(tune, expected);
	struct tune_item item = {
		.knob = lacking != UINT32_MAX ? lacking
					      : tune_knob_of(tune, expected->knob, expected->path),
		.path = expected->path,
		.want = expected->value,
		.state = TUNE_DIFFERS,
	};
	int r = -ENOENT;

	if (lacking != UINT32_MAX)
		r = pattern_has_files(tune, expected->path) ? 0 : -ENOENT;
	else if (item.knob != UINT32_MAX)
		r = tune_value_read(tune, expected->path, &item.now, NULL);
	if (item.knob == UINT32_MAX)
		item.reason = "this version of assay does not know that setting";
	else if (r == -ENOENT && !expected->value)
		item.state = TUNE_SET;
	else if (r < 0)
		item.reason = r == -ENOENT ? "this machine does not have it" : err_words(-r);
	else if (expected->value && str_equal(item.now, expected->value))
		item.state = TUNE_SET;
	else if (!expected->value)
		item.reason = "the machine of the snapshot did not have it";
	vec_push(&tune->items, item);
}

void tune_expect(struct tune *tune, const struct tune_snapshot *snapshot)
{
	tune->items.count = 0;
	vec_foreach (const struct tune_expected, expected, &snapshot->rows)
		expected_look(tune, expected);
}
