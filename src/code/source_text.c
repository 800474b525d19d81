/* source_text.c - see source_text.h.  A program is often built in another folder, container or
 * machine than it is read in, so a missing file is the common case and not an error. */
#include "code/source_text.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/io.h"
#include "base/str.h"
#include "base/vec.h"

enum { FILE_LARGEST = 32 << 20 };

static bool file_is_readable(const char *path, struct stat *ret_stat)
{
	return stat(path, ret_stat) == 0 && S_ISREG(ret_stat->st_mode);
}

/* DIR/a/b/c.c, DIR/b/c.c, DIR/c.c: the first that is there. */
static bool found_below(const char *dir, const char *recorded, struct str *path, struct stat *ret)
{
	const char *rest = recorded;

	while (rest && *rest) {
		while (*rest == '/')
			rest++;
		str_clear(path);
		str_addf(path, "%s/%s", dir, rest);
		if (file_is_readable(str_text(path), ret))
			return true;
		rest = strchr(rest, '/');
	}
	return false;
}

/* FROM ends at a folder's end, so that /src=/other leaves /src2/x.c alone. */
static bool found_instead(const char *rule, const char *equals, const char *recorded,
	struct str *path, struct stat *ret)
{
	size_t from = (size_t)(equals - rule);

	while (from && rule[from - 1] == '/')
		from--;
	if (strncmp(recorded, rule, from) != 0 || (recorded[from] && recorded[from] != '/'))
		return false;
	str_clear(path);
	str_addf(path, "%s%s", equals + 1, recorded + from);
	return file_is_readable(str_text(path), ret);
}

static bool source_find(
	const char *recorded, const struct source_rules *rules, struct str *path, struct stat *ret)
{
	for (unsigned i = 0; i < rules->count; i++) {
		const char *rule = rules->at[i], *equals = strchr(rule, '=');

		if (equals ? found_instead(rule, equals, recorded, path, ret)
			   : found_below(rule, recorded, path, ret))
			return true;
	}
	str_clear(path);
	str_add(path, recorded);
	return file_is_readable(recorded, ret);
}

/* The lines are cut in one copy of the text: a file of 9 MB has a quarter of a million. */
static void text_split(const struct str *text, struct arena *arena, struct source_text *ret_text)
{
	char *at = arena_text(arena, str_text(text), text->len), *end = at + text->len;
	vec_of(const char *) lines = {0};
	const char **kept;

	while (at < end) {
		char *newline = memchr(at, '\n', (size_t)(end - at));
		char *stop = newline ? newline : end;

		vec_push(&lines, at);
		*stop = '\0';
		if (stop > at && stop[-1] == '\r')
			stop[-1] = '\0';
		at = stop + 1;
	}
	kept = arena_take(arena, (lines.count + 1) * sizeof(*kept));
	if (lines.count)
		memcpy(kept, lines.at, lines.count * sizeof(*kept));
	ret_text->lines = kept;
	ret_text->line_count = lines.count;
	vec_done(&lines);
}

void source_text_read(const char *recorded, const struct source_rules *rules, struct arena *arena,
	struct source_text *ret_text)
{
	str_auto struct str path = {0}, text = {0};
	struct stat stat = {0};
	struct err err = {0};

	*ret_text = (struct source_text){0};
	if (!*recorded) {
		ret_text->missing = "the file is unknown: the program has no debug information";
		return;
	}
	if (!source_find(recorded, rules, &path, &stat)) {
		ret_text->missing = arena_format(arena, "%s does not exist", recorded);
		return;
	}
	if (io_read(str_text(&path), FILE_LARGEST, &text, &err) < 0) {
		ret_text->missing = arena_copy(arena, err.text);
		return;
	}
	ret_text->path = arena_text(arena, path.at, path.len);
	ret_text->modified_ns =
		(uint64_t)stat.st_mtim.tv_sec * 1000000000 + (uint64_t)stat.st_mtim.tv_nsec;
	text_split(&text, arena, ret_text);
}
