/* doctor.c - `assay doctor`: what can be measured here, and how to get the rest.
 *
 * Exit 0 also when much is missing: the answer is the product. */
#include <errno.h>

#include "analyze/doctor.h"
#include "cli.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "render/doctor.h"
#include "source/probe.h"

/* Into the run, until Ctrl-C; a probe takes milliseconds, so between two of them is soon enough. */
static int take_until_interrupted(void *context, const struct wire_record *record)
{
	struct wire_sink run = ingest_sink(context);

	if (cli_interrupted().count)
		return -EINTR;
	return run.take(run.context, record);
}

static int doctor_run(struct cli *cli, struct err *err)
{
	run_auto struct run *run = run_open();
	struct ingest ingest = {.run = run};
	struct wire_sink sink = {.take = take_until_interrupted, .context = &ingest};
	doctor_auto struct doctor_view view = {0};
	struct cli_page page = {.run = run};
	int r;

	run->command = run_intern(run, "doctor");
	r = probe_machine(&sink);
	run->partial = r < 0;
	run_freeze(run);
	doctor_build(run, &view);
	while (cli_page_next(cli, &page)) {
		if (page.json) {
			doctor_json(page.json, &view);
			jsonw_put_missing(page.json, "target", "no PROGRAM was given");
		} else if (cli->mode == CLI_AGENT)
			doctor_agent(page.paper, &view);
		else
			doctor_text(page.paper, &view);
	}
	r = cli_page_end(cli, &page, err);
	if (r < 0)
		return r;
	return run->partial ? EXIT_INTERRUPTED : EXIT_DONE;
}

static const struct option_spec options[] = {
	{0},
};

const struct command doctor_command = {
	.name = "doctor",
	.summary = "what can be measured here, and how to get the rest",
	.usage = "[--json[=FILE]] [--agent]",
	.examples = (const char *const[]){"assay doctor",
		"try every way of measuring on this machine", "sudo assay doctor --agent",
		"the same as root, short, for a coding agent", NULL},
	.details =
		"Each capability is tried for real: an event is opened and counted, samples are "
		"taken of assay itself, a BPF program is loaded and seen to run, a uprobe is placed "
		"on assay, the runtime is preloaded into `true`.  Nothing is changed and nothing is "
		"left behind.  It takes well under a second, works without privilege and says what "
		"root would add.  The exit status is 0 also when much is missing.",
	.options = options,
	.run = doctor_run,
};
