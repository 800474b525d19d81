/* markdown.c - see markdown.h. */
#include "render/markdown.h"

#include <stddef.h>

static size_t longest_ticks(const char *text)
{
	size_t longest = 0, row = 0;

	for (; *text; text++) {
		row = *text == '`' ? row + 1 : 0;
		longest = row > longest ? row : longest;
	}
	return longest;
}

void markdown_code(struct str *out, const char *text, bool in_table)
{
	size_t ticks = longest_ticks(text);

	str_add_repeat(out, '`', ticks + 1);
	str_add(out, ticks ? " " : "");
	for (; *text; text++)
		if (*text == '\n' || *text == '\r')
			str_add_char(out, ' ');
		else if (*text == '|' && in_table)
			str_add(out, "\\|");
		else
			str_add_char(out, *text);
	str_add(out, ticks ? " " : "");
	str_add_repeat(out, '`', ticks + 1);
}

void markdown_row(struct str *out, const char *name, const char *text, const char *none)
{
	str_addf(out, "| %s | ", name);
	if (text && *text)
		markdown_code(out, text, true);
	else
		str_add(out, none);
	str_add(out, " |\n");
}

void markdown_cell(struct str *out, const char *text)
{
	for (; *text; text++)
		if (*text == '|')
			str_add(out, "\\|");
		else
			str_add_char(out, (unsigned char)*text < ' ' ? ' ' : *text);
}
