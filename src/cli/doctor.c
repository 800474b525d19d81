/* doctor.c - `assay doctor [PROGRAM]`: what can be measured here, and how to get the rest.
 *
 * Exit 0 also when much is missing: the answer is the product. */
#include <errno.h>

#include "analyze/doctor.h"
#include "analyze/target.h"
#include "cli.h"
#include "code/binary.h"
#include "code/debug_lines.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "render/doctor.h"
#include "render/machine_json.h"
#include "render/target.h"
#include "source/probe.h"

/* Into the run, until Ctrl-C; a probe takes milliseconds, so between two of them is soon enough. */
static int take_until_interrupted(void *context, const struct wire_record *record)
{
	struct wire_sink run = ingest_sink(context);

	if (cli_interrupted().count)
		return -EINTR;
	return run.take(run.context, record);
}

/* The machine's part; the run gets the capabilities and the fingerprint. */
static int doctor_probe(const struct cli *cli, struct run *run, struct err *err)
{
	struct ingest ingest = {.run = run};
	struct wire_sink sink = {.take = take_until_interrupted, .context = &ingest};

	run->command = run_intern(run, "doctor");
	run->partial = probe_machine(&sink, debug_lines_find) < 0;
	if (run->partial)
		run_add_note(run, "interrupted", "interrupted: not every capability was tried",
			"run assay doctor again");
	return cli_has(cli, "json") ? job_take_fingerprint(run, err) : 0;
}

static void doctor_page(const struct cli *cli, struct cli_page *page,
	const struct doctor_view *machine, const struct target_view *target)
{
	if (page->json) {
		doctor_json(page->json, machine);
		if (target) {
			jsonw_key(page->json, "target");
			target_json(page->json, target);
		} else {
			jsonw_put_missing(page->json, "target", "no PROGRAM was given");
		}
	} else if (cli->mode == CLI_AGENT) {
		doctor_agent(page->paper, machine);
		if (target)
			target_agent(page->paper, target);
		paper_add(page->paper, "next: assay stat -- %s\n",
			target ? target->path : "./program");
	} else {
		if (target) {
			target_text(page->paper, target);
			paper_add(page->paper, "\n");
		}
		doctor_text(page->paper, machine);
	}
}

static int doctor_run(struct cli *cli, struct err *err)
{
	const char *program = cli->program	    ? cli->program[0]
			      : cli->operands.count ? cli->operands.at[0]
						    : NULL;
	run_auto struct run *run = run_open();
	arena_auto struct arena arena = {0};
	doctor_auto struct doctor_view machine = {0};
	struct cli_page page = {.run = run};
	struct binary_facts facts;
	struct target_view target;
	int r = 0;

	if (program) {
		r = binary_inspect(program, NULL, &arena, &facts, err);
		if (r >= 0)
			target_view_make(&facts, &arena, &target);
	}
	if (r >= 0)
		r = doctor_probe(cli, run, err);
	if (r < 0)
		return r;
	run_freeze(run);
	doctor_build(run, &machine);
	while (cli_page_next(cli, &page))
		doctor_page(cli, &page, &machine, program ? &target : NULL);
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
	.summary = "show what can be measured here, and how to get the rest",
	.usage = "[PROGRAM]",
	.examples = (const char *const[]){"assay doctor",
		"try every way of measuring on this machine", "sudo assay doctor --agent",
		"the same as root, short, for a coding agent", "assay doctor ./program",
		"also how the program's build limits measuring, and how to rebuild it", NULL},
	.details =
		"Every capability is really tried: an event is opened and counted, assay samples "
		"itself, a BPF program is loaded and seen running, a uprobe is placed on assay, "
		"the runtime is preloaded into `true`.  Nothing is changed or left behind.  It "
		"takes well under a second, works without privileges and says what root would add. "
		" The exit status is 0 even if much is missing.",
	.options = options,
	.program = PROGRAM_OPTIONAL,
	.operands_max = 1,
	.run = doctor_run,
};
