/* help_forms.c - the table of commands for programs and agents: `assay help --json`.
 *
 * People get the same from help.c.  An agent sees each option on one line; where that would be more
 * than a screen of 40 lines, the last ones are only named. */
#include <string.h>

#include "cli.h"

static void option_json(struct jsonw *w, const struct option_spec *spec)
{
	const char letter[2] = {spec->letter, '\0'};

	jsonw_begin_object(w);
	jsonw_put_text(w, "name", spec->name);
	jsonw_put_text(w, "letter", letter);
	jsonw_put_text(w, "value", spec->value ? spec->value : "");
	jsonw_put_bool(w, "value_optional", spec->optional);
	jsonw_open_array(w, "choices");
	for (const char *at = spec->choices; at;) {
		size_t len = strcspn(at, "|");

		jsonw_text_bytes(w, at, len);
		at = at[len] ? at + len + 1 : NULL;
	}
	jsonw_end_array(w);
	jsonw_put_text(w, "help", spec->help);
	jsonw_end_object(w);
}

static void options_json(struct jsonw *w, const char *key, const struct option_spec *spec)
{
	jsonw_open_array(w, key);
	for (; spec && spec->name; spec++)
		option_json(w, spec);
	jsonw_end_array(w);
}

static void command_json(struct jsonw *w, const struct command *command)
{
	jsonw_begin_object(w);
	jsonw_put_text(w, "name", command->name);
	jsonw_put_text(w, "summary", command->summary);
	jsonw_put_text(w, "usage", command->usage);
	jsonw_put_text(w, "details", command->details ? command->details : "");
	jsonw_open_array(w, "examples");
	for (const char *const *line = command->examples; line[0]; line += 2) {
		jsonw_begin_object(w);
		jsonw_put_text(w, "line", line[0]);
		jsonw_put_text(w, "does", line[1]);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
	options_json(w, "options", command->options);
	jsonw_end_object(w);
}

void help_json(struct jsonw *w, const struct command *command)
{
	jsonw_open_array(w, "commands");
	for (const struct command *const *each = commands; *each; each++)
		if (!command || *each == command)
			command_json(w, *each);
	jsonw_end_array(w);
	options_json(w, "common_options", common_options);
}

enum { AGENT_OPTIONS = 26 };

static void option_agent(struct paper *paper, const struct option_spec *spec)
{
	if (spec->letter)
		paper_add(paper, "-%c, ", spec->letter);
	paper_add(paper, "--%s", spec->name);
	if (spec->value)
		paper_add(paper, "%s%s%s", spec->optional ? "[=" : "=",
			spec->choices ? spec->choices : spec->value, spec->optional ? "]" : "");
	paper_add(paper, ": %s\n", spec->help);
}

static void command_agent(struct paper *paper, const struct command *command)
{
	const struct option_spec *spec = command->options;

	paper_add(paper, "%s: %s\nusage: assay %s %s\n", command->name, command->summary,
		command->name, command->usage);
	for (unsigned count = 0; spec && spec->name && count < AGENT_OPTIONS; count++)
		option_agent(paper, spec++);
	if (spec && spec->name) {
		paper_add(paper, "and");
		for (; spec->name; spec++)
			paper_add(paper, " --%s", spec->name);
		paper_add(paper, " (more: assay help %s)\n", command->name);
	}
	paper_add(paper, "every command: --json[=FILE] --agent --quiet --color=WHEN --help\n");
	for (const char *const *line = command->examples + 2; line[0]; line += 2)
		paper_add(paper, "example: %s\n", line[0]);
	paper_add(paper, "next: %s\n", command->examples[0]);
}

void help_agent(struct paper *paper, const struct command *command)
{
	if (command) {
		command_agent(paper, command);
		return;
	}
	paper_add(paper, "usage: assay COMMAND [OPTIONS] [-- PROGRAM ARGS...]\n");
	for (const struct command *const *each = commands; *each; each++)
		paper_add(paper, "%s: %s\n", (*each)->name, (*each)->summary);
	paper_add(paper, "exit status: 0 done, 1 regression, 2 wrong usage, 3 inconclusive, 4 not "
			 "comparable, 5 target failed, 6 not available here, 7 not written, 130 "
			 "interrupted\nnext: assay run -- PROGRAM ARGS...\n");
}
