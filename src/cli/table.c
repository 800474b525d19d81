/* table.c - the table of commands: help, man pages, completions and the documentation check all
 * come from here. */
#include "cli.h"

extern const struct command completions_command;
extern const struct command env_command;
extern const struct command help_command_entry;
extern const struct command stat_command;

const struct command *const commands[] = {
	&stat_command,
	&completions_command,
	&env_command,
	&help_command_entry,
	NULL,
};
