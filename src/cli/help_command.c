/* help_command.c - `assay help stat`: the help of one command, or its man page with --man. */
#include <errno.h>
#include <unistd.h>

#include "base/io.h"
#include "cli.h"

static int help_run(struct cli *cli, struct err *err)
{
	const char *name = cli->operands.count ? cli->operands.at[0] : NULL;
	const struct command *command = name ? command_find(name) : NULL;
	str_auto struct str out = {0};
	struct paper paper = {.out = &out};
	int r;

	if (name && !command)
		return command_unknown(name, err);
	if (cli_has(cli, "man"))
		help_man(&out, command);
	else if (command)
		help_command(&paper, command);
	else
		help_overview(&paper);
	r = io_write_all(STDOUT_FILENO, out.at, out.len);
	if (r < 0)
		return err_set(err, ERR_OUTPUT, -r, "cannot write to stdout: %s", err_words(-r));
	return EXIT_DONE;
}

static const struct option_spec options[] = {
	{"man", 0, NULL, false, NULL, "as a man page (roff)"},
	{0},
};

const struct command help_command_entry = {
	.name = "help",
	.summary = "help for a command",
	.usage = "[--man] [COMMAND]",
	.examples = (const char *const[]){"assay help stat", "options and examples of assay stat",
		NULL},
	.options = options,
	.operands_max = 1,
	.run = help_run,
};
