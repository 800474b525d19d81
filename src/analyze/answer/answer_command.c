/* answer_command.c - see answer_parts.h. */
#include <string.h>

#include "answer_parts.h"
#include "base/str.h"
#include "base/words.h"
#include "code/names.h"
#include "model/directory.h"

const char *command_target(const struct evidence *evidence, struct arena *arena)
{
	const char *target = evidence->target ? evidence->target : "PROGRAM";

	if (!evidence->input)
		return target;
	return arena_format(arena, "%s < %s", target, word_quoted(evidence->input, arena));
}

const char *command_program(const struct evidence *evidence, struct arena *arena)
{
	const char *target = evidence->target ? evidence->target : "PROGRAM";
	struct err ignored = {0};
	char **words;

	if (words_split(target, arena, &words, NULL, &ignored) < 0)
		return target;
	return word_quoted(words[0], arena);
}

const char *command_file(const struct evidence *evidence, const char *name, struct arena *arena)
{
	if (!evidence->directory)
		return name;
	return word_quoted(arena_format(arena, "%s/%s", evidence->directory, name), arena);
}

const char *command_round(const struct evidence *evidence, struct arena *arena)
{
	bool is_latest =
		!evidence->directory || str_starts(evidence->directory, DIRECTORY_ROOT "/");

	return arena_format(arena, "assay run --against %s -- %s",
		is_latest ? DIRECTORY_LATEST : word_quoted(evidence->directory, arena),
		command_target(evidence, arena));
}

const char *command_same(const struct evidence *evidence, struct arena *arena)
{
	if (!evidence->against)
		return arena_format(arena, "assay run -- %s", command_target(evidence, arena));
	return arena_format(arena, "assay run --against %s -- %s",
		word_quoted(evidence->against, arena), command_target(evidence, arena));
}

const char *command_place(const struct hotspot *spot, bool as_line, struct arena *arena)
{
	if (as_line && spot->line)
		return word_quoted(spot->location, arena);
	return word_quoted(
		arena_text(arena, spot->function, names_bare_length(spot->function)), arena);
}

const char *command_fill(const struct evidence *evidence, const char *text, struct arena *arena)
{
	str_auto struct str line = {0};

	while (*text) {
		size_t len = strcspn(text, " ");
		const char *word = arena_text(arena, text, len);

		if (str_equal(word, "PROGRAM"))
			str_add(&line, command_target(evidence, arena));
		else if (str_ends(word, ".assay"))
			str_add(&line, command_file(evidence, word, arena));
		else
			str_add(&line, word);
		text += len;
		if (*text)
			str_add_char(&line, *text++);
	}
	return arena_str(arena, &line);
}
