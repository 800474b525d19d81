/* table.c - the table of commands: help, man pages, completions and the documentation check all
 * come from here. */
#include "cli.h"

extern const struct command completions_command;
extern const struct command doctor_command;
extern const struct command help_command_entry;

const struct command *const commands[] = {
	&completions_command,
	&doctor_command,
	&help_command_entry,
	NULL,
};
