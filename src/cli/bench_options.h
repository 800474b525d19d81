/* bench_options.h - the options that bench, scale, ab and gate have in common. */
#pragma once

#include "cli.h"
#include "job/bench.h"

/* For the table of such a command; ends without a row of its own, for use inside a table. */
#define BENCH_OPTIONS                                                                              \
	{"warmup", 'w', "N", false, NULL,                                                          \
		"warm-up runs of each command, not "                                               \
		"measured"},                                                                       \
		{"setup", 0, "CMD", false, NULL,                                                   \
			"run once for each command before all runs (build, create a "              \
			"file)"},                                                                  \
		{"prepare", 'p', "CMD", false, NULL,                                               \
			"run before each run, not measured (restore a "                            \
			"file)"},                                                                  \
		{"cleanup", 0, "CMD", false, NULL,                                                 \
			"run once for each command after all runs, even after a failure or "       \
			"Ctrl-C"},                                                                 \
		{"cache", 0, "STATE", false, "warm|cold",                                          \
			"cold: drop the machine's page cache before each run "                     \
			"(root)"},                                                                 \
		{"cold-file", 0, "FILE", false, NULL,                                              \
			"drop this file from the page cache before each run; may be "              \
			"repeated"},                                                               \
		{"golden", 0, "FILE", false, NULL,                                                 \
			"compare the output of every run with this "                               \
			"file"},                                                                   \
		{"golden-save", 0, "FILE", false, NULL,                                            \
			"write the first run's output to this file and compare the others with "   \
			"it"},                                                                     \
		{"input", 0, "FILE", false, NULL,                                                  \
			"stdin of the commands, opened for each run (default "                     \
			"/dev/null)"},                                                             \
		{"program-output", 0, "WHERE", false, NULL,                                        \
			"stdout and stderr of the commands: null (default), inherit or a "         \
			"file"},                                                                   \
		{"time-limit", 0, "TIME", false, NULL,                                             \
			"stop a run that takes longer, with all its "                              \
			"processes"},                                                              \
		{"ignore-failure", 'i', NULL, false, NULL,                                         \
			"continue when a run fails, and use "                                      \
			"it"},                                                                     \
		{"shell", 'S', NULL, false, NULL,                                                  \
			"run each command with sh -c; the times then include the shell's "         \
			"start"},                                                                  \
		{"output", 'o', "RUN", false, NULL,                                                \
			"store the runs in this file "                                             \
			"(*.assay)"},                                                              \
		{"save", 0, "NAME", false, NULL, "store the runs as .assay/NAME.assay"},

/* Read them, with the operands and the program as commands. */
int bench_options_read(struct cli *cli, struct bench_job_options *ret_options, struct err *err);

/* The exit status for how the runs ended (an enum bench_end); `done`: of runs that all went well.
 */
int bench_status(int end, int done);
