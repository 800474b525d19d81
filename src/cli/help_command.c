/* help_command.c - `assay help stat`: the help of one command, or its man page with --man. */
#include "cli.h"

static int help_run(struct cli *cli, struct err *err)
{
	const char *name = cli->operands.count ? cli->operands.at[0] : NULL;
	const struct command *command = name ? command_find(name) : NULL;
	str_auto struct str man = {0};
	struct cli_page page = {0};

	if (name && !command)
		return command_unknown(name, err);
	if (cli_has(cli, "man"))
		help_man(&man, command);
	while (cli_page_next(cli, &page)) {
		if (page.json && man.len)
			jsonw_put_text(page.json, "man", man.at);
		else if (page.json)
			help_json(page.json, command);
		else if (man.len)
			str_add_bytes(page.paper->out, man.at, man.len);
		else if (cli->mode == CLI_AGENT)
			help_agent(page.paper, command);
		else if (command)
			help_command(page.paper, command);
		else
			help_overview(page.paper);
	}
	return cli_page_end(cli, &page, err);
}

static const struct option_spec options[] = {
	{"man", 0, NULL, false, NULL, "as a man page (roff)"},
	{0},
};

const struct command help_command_entry = {
	.name = "help",
	.summary = "show help for a command",
	.usage = "[--man] [COMMAND]",
	.examples = (const char *const[]){"assay help stat", "options and examples of assay stat",
		NULL},
	.options = options,
	.operands_max = 1,
	.run = help_run,
};
