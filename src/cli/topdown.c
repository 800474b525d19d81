/* topdown.c - `assay topdown -- ./program`: where the cycles go, and what to do about it.
 *
 * Chooses the engine: the PMU where there is one that counts, else the simulator.  Which one it was
 * is always told. */
#include <errno.h>
#include <string.h>

#include "source/pmu.h"
#include "source/refusal.h"
#include "topdown_parts.h"

/* Whether the self-test found anything to work with; the reason in `err` when not. */
static int pmu_usable(struct pmu_report *ret_report, struct err *err)
{
	struct refusal_facts facts;
	int r = pmu_selftest(ret_report, err);

	if (r < 0)
		return r;
	if (!ret_report->present) {
		refusal_facts_read(&facts);
		r = refusal_explain(&facts, REFUSED_HARDWARE, ENOENT, err);
		return r < 0 ? r : -ENOENT;
	}
	for (unsigned c = 0; c < ret_report->cores; c++)
		for (unsigned i = 0; i < ret_report->core[c].events && i < 2; i++)
			if (ret_report->core[c].event[i].verdict == PMU_TRUSTED)
				return 0; /* cycles or instructions */
	err_set(err, ERR_UNAVAILABLE, ENODEV,
		"this PMU counts neither cycles nor instructions rightly");
	err_hint(err, "`assay doctor` shows what its self-test found");
	return -ENODEV;
}

static int options_check(const struct cli *cli, struct err *err)
{
	const char *clash = NULL, *engine = cli_value(cli, "engine");

	if (engine && str_equal(engine, "sim") && cli_has(cli, "quick"))
		clash = "--engine sim and --quick";
	else if (cli_has(cli, "once") && cli_has(cli, "repeat"))
		clash = "--once and -r";
	else if (cli_has(cli, "once") && cli_has(cli, "quick"))
		clash = "--once and --quick";
	else if (cli_has(cli, "quick") && cli_has(cli, "level"))
		clash = "--quick and --level";
	if (!clash)
		return 0;
	err_set(err, ERR_USAGE, EINVAL, "%s exclude each other", clash);
	err_hint(err, "leave one of them out; `assay help topdown` says what each does");
	return -EINVAL;
}

static int topdown_run(struct cli *cli, struct err *err)
{
	const char *engine = cli_value(cli, "engine");
	bool pmu_only = engine && str_equal(engine, "pmu");
	struct pmu_report report;
	char reason[sizeof(err->text)];
	int r = options_check(cli, err);

	if (r < 0)
		return r;
	if (engine && str_equal(engine, "sim"))
		return topdown_simulated(cli, "", err);
	r = pmu_usable(&report, err);
	if (r >= 0)
		return topdown_measured(cli, &report, err);
	if (pmu_only)
		return r;
	if (cli_has(cli, "quick")) { /* the simulator is anything but quick */
		err_hint(err,
			"--quick needs a PMU; `assay topdown --engine sim` does without, 20 to "
			"75 times slower");
		return r;
	}
	memcpy(reason, err->text, sizeof(reason));
	return topdown_simulated(cli, reason, err);
}

static const struct option_spec options[] = {
	{"engine", 0, "ENGINE", false, "auto|pmu|sim",
		"where the numbers come from: the PMU, or a simulator where there is none"},
	{"level", 0, "N", false, "1|2", "how deep the tree goes (default 2)"},
	{"repeat", 'r', "N", false, NULL,
		"rounds of runs, each counts every set of events once (default 3)"},
	{"once", 0, NULL, false, NULL,
		"run the program only once: the events take turns on the PMU and are scaled up"},
	{"quick", 0, NULL, false, NULL,
		"only events that every CPU has, over 5 rounds: are instructions slow, and why"},
	{"time-limit", 0, "TIME", false, NULL,
		"with the simulator: stop it after TIME and keep what was simulated"},
	{"report", 0, "FILE", false, NULL, "write the whole finding as Markdown (FILE.md)"},
	{"output", 'o', "RUN", false, NULL, "store the run in this file (*.assay)"},
	{"target-status", 0, NULL, false, NULL, "exit with the program's own status"},
	{0},
};

const struct command topdown_command = {
	.name = "topdown",
	.summary = "where the cycles go, and what to do about it",
	.usage = "[--engine auto|pmu|sim] [--level N] [-r N] [--once|--quick] [-o RUN] -- PROGRAM "
		 "ARGS...",
	.examples = (const char *const[]){"assay topdown -- ./program input",
		"the tree of this CPU, the cause, what to do", "assay topdown --quick -- ./program",
		"instructions, loads and branches only",
		"assay topdown --report finding.md -- ./program",
		"the same as a report for somebody else", NULL},
	.details =
		"The program runs once for each set of events, and all of that three times, so that "
		"nothing is multiplexed and each number has its range. Counters that the self-test "
		"finds lying, and those that read 0 where every program counts, are not used. A CPU "
		"that assay has no table for gets the generic events and is told so. Exit status 5 "
		"when the program failed, 6 when neither a PMU nor a simulator is there.",
	.options = options,
	.program = PROGRAM_REQUIRED,
	.run = topdown_run,
};
