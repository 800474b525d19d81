/* harness.c - see harness.h.
 *
 * The name stands as a prefix in the text (NAME_work), so words of the languages and names of their
 * libraries are no trouble. */
#include "analyze/harness.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "analyze/text_block.h"
#include "base/str.h"
#include "base/words.h"

enum { NAME_LONGEST = 64 };

static const struct {
	const char *name, *suffix, *text, *build;
} langs[] = {
	[HARNESS_C] = {"c", "c", "harness/c.txt",
		"cc -O2 -g -fno-omit-frame-pointer -Wall -Wextra -o %s %s"},
	[HARNESS_RUST] = {"rust", "rs", "harness/rust.txt",
		"rustc -O -g -C force-frame-pointers=yes -o %s %s"},
};

const char *harness_file(const char *name, enum harness_lang lang, struct arena *arena)
{
	return arena_format(arena, "%s.%s", name, langs[lang].suffix);
}

int harness_name_check(const char *name, struct err *err)
{
	size_t len = strlen(name), i = 0;

	while (i < len && (isascii(name[i]) && (isalnum(name[i]) || name[i] == '_')))
		i++;
	if (len && i == len && len <= NAME_LONGEST && !isdigit(name[0]))
		return 0;
	if (len > NAME_LONGEST)
		err_set(err, ERR_USAGE, EINVAL, "a harness name has at most %d letters",
			NAME_LONGEST);
	else
		err_set(err, ERR_USAGE, EINVAL, "invalid harness name '%s'", name);
	err_hint(err,
		"it becomes part of function names: use letters, digits and _, not starting with a "
		"digit, as in `assay harness parse_line`");
	return -EINVAL;
}

/* The lines are formats of ours with one %s or two. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static const char *build_line(
	enum harness_lang lang, const char *name, const char *path, struct arena *arena)
{
	return arena_format(arena, langs[lang].build, name, path);
}
#pragma GCC diagnostic pop

struct mark {
	const char *mark, *text;
};

static const char *filled(const char *text, const struct mark *marks, struct arena *arena)
{
	str_auto struct str out = {0};

	while (*text) {
		const struct mark *mark = marks;

		while (mark->mark && !str_starts(text, mark->mark))
			mark++;
		if (mark->mark) {
			str_add(&out, mark->text);
			text += strlen(mark->mark);
		} else {
			str_add_char(&out, *text++);
		}
	}
	return arena_str(arena, &out);
}

void harness_make(const char *name, enum harness_lang lang, const char *path, struct arena *arena,
	struct harness_view *ret_view)
{
	/* The head of the file is a comment: a path that could end it is not put there. */
	const char *typed = word_quoted(path, arena);
	const char *shown = str_equal(typed, path) && !str_equal(path, "-")
				    ? path
				    : harness_file(name, lang, arena);
	const struct mark marks[] = {
		{"@NAME@", name},
		{"@FILE@", shown},
		{"@BUILD@", build_line(lang, name, shown, arena)},
		{NULL, NULL},
	};

	*ret_view = (struct harness_view){
		.name = name,
		.lang = langs[lang].name,
		.path = path,
		.text = filled(data_text(langs[lang].text), marks, arena),
		.build = build_line(lang, name, typed, arena),
		.steps = {{"", arena_format(arena, "./%s -n 200000", name),
				  "iterations and time per iteration"},
			{"bench", arena_format(arena, "assay bench './%s -n 200000'", name),
				"how long it takes, and how certain that is"},
			{"record",
				arena_format(
					arena, "assay record -o %s.assay -- ./%s 2", name, name),
				"where its time goes; then assay report"},
			{"topdown", arena_format(arena, "assay topdown -- ./%s -n 200000", name),
				"why it is slow there"}},
	};
}
