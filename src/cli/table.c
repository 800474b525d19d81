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

/* In the order of the work, which is that of the questions below. */
const struct command *const commands[] = {
	&run_command,
	&ledger_command,
	&record_command,
	&report_command,
	&annotate_command,
	&flame_command,
	&stat_command,
	&topdown_command,
	&cache_command,
	&branches_command,
	&scale_command,
	&causal_command,
	&bench_command,
	&ab_command,
	&gate_command,
	&diff_command,
	&audit_command,
	&attest_command,
	&harness_command,
	&import_command,
	&export_command,
	&doctor_command,
	&env_command,
	&tune_command,
	&completions_command,
	&help_command_entry,
	NULL,
};

static const struct {
	const char *question;
	const struct command *first;
} groups[] = {
	{"What to change", &run_command},
	{"Where the time goes", &record_command},
	{"Why it is slow there", &stat_command},
	{"What if it were faster", &causal_command},
	{"Did it help", &bench_command},
	{"Files and machine", &import_command},
};

const char *command_question(const struct command *command)
{
	for (unsigned i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		if (groups[i].first == command)
			return groups[i].question;
	return NULL;
}
