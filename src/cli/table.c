/* table.c - the table of commands: help, man pages, completions and the documentation check all
 * come from here. */
#include "cli.h"

extern const struct command completions_command;
extern const struct command help_command_entry;
extern const struct command import_command;

const struct command *const commands[] = {
	&completions_command,
	&help_command_entry,
	&import_command,
	NULL,
};
