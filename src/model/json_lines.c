/* json_lines.c - see json_lines.h. */
#include "json_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/io.h"
#include "base/str.h"

enum { LINE_LARGEST = 1 << 20, FILE_LARGEST = 64 << 20 };

void json_lines_read(const struct json_lines *lines, const char *text, size_t len)
{
	const char *end = text + len;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((newline ? newline : end) - text);
		json_t *line = length <= LINE_LARGEST ? json_loadb(text, length, 0, NULL) : NULL;

		if (length && !(line && lines->take(lines->context, line)))
			(*lines->skipped)++;
		json_decref(line);
		text += length + 1;
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
		err_hint(err, "move it away to begin a new %s", lines->what);
		return r;
	}
	json_lines_read(lines, str_text(&text), text.len);
	return 0;
}
