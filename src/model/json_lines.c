/* json_lines.c - see json_lines.h. */
#include "json_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "base/io.h"
#include "base/str.h"

enum { LINE_LARGEST = 1 << 20, FILE_LARGEST = 64 << 20 };

static bool line_read(const struct json_lines *lines, const char *text, size_t len)
{
	json_t *line = len <= LINE_LARGEST ? json_loadb(text, len, 0, NULL) : NULL;
	const char *schema = json_string_value(json_object_get(line, "schema"));
	bool taken =
		schema && str_equal(schema, lines->schema) && lines->take(lines->context, line);

	json_decref(line);
	return taken;
}

void json_lines_read(const struct json_lines *lines, const char *text, size_t len)
{
	while (len) {
		const char *newline = memchr(text, '\n', len);
		size_t length = newline ? (size_t)(newline - text) : len;

		if (length && !line_read(lines, text, length))
			(*lines->skipped)++;
		length += newline != NULL;
		text += length;
		len -= length;
	}
}

int json_lines_load(const struct json_lines *lines, const char *path, struct err *err)
{
	str_auto struct str text = {0};
	int r = io_read_at(AT_FDCWD, path, FILE_LARGEST, &text);

	if (r == -ENOENT)
		return 0;
	if (r < 0) {
		err_set(err, ERR_USAGE, -r, "cannot read %s: %s", path, err_words(-r));
		err_hint(err, "move it away to start a new %s", lines->what);
		return r;
	}
	json_lines_read(lines, str_text(&text), text.len);
	return 0;
}

void json_lines_put_time(struct jsonw *w, uint64_t time_ns)
{
	time_t seconds = (time_t)(time_ns / 1000000000);
	struct tm parts = {0};
	char text[32] = "";

	if (gmtime_r(&seconds, &parts))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
	jsonw_put_text(w, "time", text);
	jsonw_put_u64(w, "time_ns", time_ns);
}
