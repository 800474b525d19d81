/* table.c - the table of commands: help, man pages, completions and the documentation check all
 * come from here. */
#include "cli.h"

extern const struct command ab_command;
extern const struct command annotate_command;
extern const struct command attest_command;
extern const struct command audit_command;
extern const struct command bench_command;
extern const struct command branches_command;
extern const struct command cache_command;
extern const struct command causal_command;
extern const struct command completions_command;
extern const struct command diff_command;
extern const struct command doctor_command;
extern const struct command env_command;
extern const struct command export_command;
extern const struct command flame_command;
extern const struct command gate_command;
extern const struct command harness_command;
extern const struct command help_command_entry;
extern const struct command import_command;
extern const struct command ledger_command;
extern const struct command record_command;
extern const struct command report_command;
extern const struct command run_command;
extern const struct command scale_command;
extern const struct command stat_command;
extern const struct command topdown_command;
extern const struct command tune_command;

/* The main job, then in the order of the work: what can be measured, where, what it does. */
const struct command *const commands[] = {
	&run_command,
	&doctor_command,
	&env_command,
	&stat_command,
	&topdown_command,
	&record_command,
	&report_command,
	&annotate_command,
	&diff_command,
	&flame_command,
	&cache_command,
	&branches_command,
	&causal_command,
	&ledger_command,
	&bench_command,
	&ab_command,
	&gate_command,
	&scale_command,
	&audit_command,
	&attest_command,
	&harness_command,
	&import_command,
	&export_command,
	&tune_command,
	&completions_command,
	&help_command_entry,
	NULL,
};
