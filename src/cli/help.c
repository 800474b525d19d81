/* help.c - help and man pages, all from the table of commands. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

const struct command *command_find(const char *name)
{
	for (const struct command *const *command = commands; *command; command++)
		if (str_equal((*command)->name, name))
			return *command;
	return NULL;
}

int command_unknown(const char *name, struct err *err)
{
	const char *names[64], *nearest;
	unsigned count = 0;

	for (const struct command *const *command = commands; *command && count < 63; command++)
		names[count++] = (*command)->name;
	names[count] = NULL;
	nearest = str_nearest(name, names);
	err_set(err, ERR_USAGE, EINVAL, "unknown command '%s'", name);
	if (nearest)
		err_hint(err, "did you mean `assay %s`?", nearest);
	else
		err_hint(err, "`assay --help` lists the commands");
	return -EINVAL;
}

static void help_examples(struct paper *paper, const struct command *command)
{
	for (const char *const *line = command->examples; line[0]; line += 2) {
		paper_ink(paper, INK_BOLD, "  %s\n", line[0]);
		paper_wrap(paper, 6, INK_DIM, line[1]);
	}
}

static void help_option_rows(struct table *table, const struct option_spec *spec)
{
	for (; spec && spec->name; spec++) {
		char letter[8] = "   ";

		if (spec->letter)
			snprintf(letter, sizeof(letter), "-%c,", spec->letter);
		table_cell(table, INK_PLAIN, "%s --%s%s%s%s", letter, spec->name,
			!spec->value	 ? ""
			: spec->optional ? "[="
					 : "=",
			spec->value ? spec->value : "", spec->optional ? "]" : "");
		table_cell(table, INK_PLAIN, "%s%s%s%s", spec->help, spec->choices ? " (" : "",
			spec->choices ? spec->choices : "", spec->choices ? ")" : "");
	}
}

/* Name and summary of each command, below the question that it answers. */
static void help_commands(struct paper *paper)
{
	for (const struct command *const *at = commands; *at; at++) {
		const char *question = command_question(*at);

		if (question)
			paper_ink(paper, INK_BOLD, "\n%s\n", question);
		paper_add(paper, "  %-11s  %s\n", (*at)->name, (*at)->summary);
	}
}

void help_overview(struct paper *paper)
{
	paper_add(
		paper, "assay: what to change to make a program faster, why, and did it help\n\n");
	paper_ink(paper, INK_BOLD, "  assay -- ./program input\n");
	paper_wrap(paper, 6, INK_DIM,
		"what to change first, with evidence; same as assay run -- ./program input");
	paper_ink(paper, INK_BOLD, "  assay doctor\n");
	paper_wrap(
		paper, 6, INK_DIM, "what can be measured on this machine, and how to get the rest");
	paper_add(paper, "\nusage: assay COMMAND [OPTIONS] [-- PROGRAM ARGS...]\n");
	help_commands(paper);
	paper_add(paper,
		"\nEvery command has --json[=FILE] (one document), --agent (at most 40 plain "
		"lines), --quiet\nand --color.  `assay help COMMAND` shows its options; "
		"`assay --version --verbose` names the libraries.\n"
		"Exit status: 0 done, 1 regression or budget exceeded, 2 wrong usage, "
		"3 inconclusive, 4 not comparable,\n5 target failed, 6 not available here, "
		"7 not written, 130 interrupted (what was measured is kept).\n");
}

static void help_paragraphs(struct paper *paper, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		str_auto struct str one = {0};

		str_add_bytes(&one, text, len);
		paper_wrap(paper, 0, INK_PLAIN, one.at);
		text += len + (text[len] == '\n');
	}
}

void help_command(struct paper *paper, const struct command *command)
{
	table_auto struct table table = {0};

	help_examples(paper, command);
	paper_add(paper, "\nusage: assay %s %s\n\n", command->name, command->usage);
	paper_wrap(paper, 0, INK_PLAIN, command->summary);
	if (command->details) {
		paper_add(paper, "\n");
		help_paragraphs(paper, command->details);
	}
	paper_add(paper, "\n");
	table_columns(&table, "", "");
	help_option_rows(&table, command->options);
	help_option_rows(&table, common_options);
	table_print(&table, paper, 2);
}

/* Roff reads a backslash, and a dot or quote at the start of a line, as its own; a dash would
 * become a hyphen that cannot be pasted back into a shell. */
static void man_text(struct str *out, const char *text)
{
	bool line_start = true;

	for (; *text; text++) {
		if (line_start && (*text == '.' || *text == '\''))
			str_add(out, "\\&");
		if (*text == '\\')
			str_add(out, "\\e");
		else if (*text == '-')
			str_add(out, "\\-");
		else
			str_add_char(out, *text);
		line_start = *text == '\n';
	}
}

static void man_options(struct str *out, const struct option_spec *spec)
{
	for (; spec && spec->name; spec++) {
		str_add(out, ".TP\n");
		if (spec->letter)
			str_addf(out, "\\fB\\-%c\\fR, ", spec->letter);
		str_add(out, "\\fB\\-\\-");
		man_text(out, spec->name);
		str_add(out, "\\fR");
		if (spec->value)
			str_addf(out, "%s=\\fI%s\\fR%s", spec->optional ? "[" : "", spec->value,
				spec->optional ? "]" : "");
		str_add_char(out, '\n');
		man_text(out, spec->help);
		if (spec->choices) {
			str_add(out, " (");
			man_text(out, spec->choices);
			str_add(out, ")");
		}
		str_add_char(out, '\n');
	}
}

static void man_overview(struct str *out)
{
	str_add(out, ".SH NAME\nassay \\- what to change to make a program faster, why, and did it "
		     "help\n.SH SYNOPSIS\n.B assay\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\-\\- "
		     "\\fIPROGRAM ARGS\\fR...]\n.SH COMMANDS\n");
	for (const struct command *const *command = commands; *command; command++) {
		const char *question = command_question(*command);

		if (question)
			str_addf(out, ".SS %s\n", question);
		str_addf(out, ".TP\n\\fBassay\\-%s\\fR(1)\n", (*command)->name);
		man_text(out, (*command)->summary);
		str_add_char(out, '\n');
	}
	str_add(out, ".SH OPTIONS OF EVERY COMMAND\n");
	man_options(out, common_options);
	str_add(out,
		".SH VERSION\n\\fBassay \\-\\-version\\fR prints it, with \\fB\\-\\-verbose\\fR "
		"also the libraries in use.\n");
	str_add(out, ".SH EXIT STATUS\n0 done, 1 regression or budget exceeded, 2 wrong usage, "
		     "3 inconclusive, 4 not comparable, 5 the target could not run or failed, "
		     "6 not available or not permitted on this machine, 7 the result could not be "
		     "written, 130 interrupted; what was measured is kept.\n");
}

void help_man(struct str *out, const struct command *command)
{
	char title[64] = "ASSAY";

	if (command)
		snprintf(title, sizeof(title), "ASSAY\\-%s", command->name);
	for (char *at = title; *at; at++)
		*at = (char)toupper((unsigned char)*at);
	str_addf(out, ".TH %s 1 \"\" \"assay %s\"\n", title, ASSAY_VERSION);
	if (!command) {
		man_overview(out);
		return;
	}
	str_addf(out, ".SH NAME\nassay\\-%s \\- ", command->name);
	man_text(out, command->summary);
	str_addf(out, "\n.SH SYNOPSIS\n.B assay %s\n", command->name);
	man_text(out, command->usage);
	str_add(out, "\n.SH EXAMPLES\n");
	for (const char *const *line = command->examples; line[0]; line += 2) {
		str_add(out, ".TP\n\\fB");
		man_text(out, line[0]);
		str_add(out, "\\fR\n");
		man_text(out, line[1]);
		str_add_char(out, '\n');
	}
	if (command->details) {
		str_add(out, ".SH DESCRIPTION\n");
		man_text(out, command->details);
		str_add_char(out, '\n');
	}
	str_add(out, ".SH OPTIONS\n");
	man_options(out, command->options);
	man_options(out, common_options);
	str_add(out, ".SH SEE ALSO\n\\fBassay\\fR(1)\n");
}
