/* env.c - `assay env`: the fingerprint of this machine; `assay env --diff A B`: may numbers from A
 * and B be compared?
 *
 *     assay env -o baseline.json
 *     assay env --diff baseline.json - */
#include <errno.h>

#include "analyze/fingerprint.h"
#include "base/io.h"
#include "cli.h"
#include "code/binary.h"
#include "ingest/build.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "render/env.h"
#include "render/machine_json.h"
#include "source/fingerprint.h"

enum { DOCUMENT_LARGEST = 64 << 20 };

/* The group `build`: what the program's file says about how it was made. */
static int take_build(struct run *run, const char *program, struct err *err)
{
	arena_auto struct arena arena = {0};
	struct binary_options options = {.sha256 = true};
	struct binary_facts facts;
	int r = binary_inspect(program, &options, &arena, &facts, err);

	if (r >= 0)
		ingest_build_fields(run, &facts);
	return r;
}

static int env_show(struct cli *cli, struct err *err)
{
	run_auto struct run *run = run_open();
	fingerprint_view_auto struct fingerprint_view view = {0};
	struct cli_page page = {.run = run};
	int r = cli->program ? take_build(run, cli->program[0], err) : 0;

	if (r >= 0)
		r = job_take_fingerprint_of(run, cli_value(cli, "storage"), err);
	if (r < 0)
		return r;
	run_freeze(run);
	fingerprint_view_init(&view, run);
	while (cli_page_next(cli, &page)) {
		if (page.json)
			env_json(page.json, &view);
		else if (cli->mode == CLI_AGENT)
			env_agent(page.paper, &view);
		else
			env_text(page.paper, &view);
	}
	r = cli_page_end(cli, &page, err);
	return r < 0 ? r : EXIT_DONE;
}

/* One side of the comparison: "-" for this machine, else a document of assay. */
static int load_side(struct cli *cli, const char *name, struct run **ret_run, struct err *err)
{
	str_auto struct str text = {0};
	run_auto struct run *run = run_open();
	struct ingest ingest = {.run = run};
	struct wire_sink sink = ingest_sink(&ingest);
	int r;

	if (str_equal(name, "-")) {
		r = job_take_fingerprint_of(run, cli_value(cli, "storage"), err);
	} else {
		r = io_read_stream(name, DOCUMENT_LARGEST, &text, err);
		if (r >= 0)
			r = fingerprint_read(str_text(&text), text.len, name, &sink, err);
	}
	if (r < 0)
		return r;
	*ret_run = run;
	run = NULL;
	return 0;
}

static const char *side_name(const char *name)
{
	return str_equal(name, "-") ? "this machine" : name;
}

/* The envelope carries the key of the machine that compares, and the warning of an advisory. */
static int envelope_run(const struct cli *cli, const struct fingerprint_comparison *comparison,
	struct run *run, struct err *err)
{
	int r = job_take_fingerprint(run, err);

	if (r >= 0 && comparison->class == ADVISORY && cli_has(cli, "json"))
		run_add_note(run, "fingerprint-advisory",
			"the fingerprints differ in ways that may change the numbers",
			"compare with care, or remove the WARN differences");
	return r;
}

static int env_compare(struct cli *cli, struct err *err)
{
	run_auto struct run *a = NULL, *b = NULL, *here = run_open();
	fingerprint_comparison_auto struct fingerprint_comparison comparison = {0};
	struct env_diff diff = {.comparison = &comparison};
	struct cli_page page = {.run = here};
	int r;

	if (cli->operands.count != 2) {
		err_set(err, ERR_USAGE, EINVAL, "--diff needs two fingerprints, got %u",
			cli->operands.count);
		err_hint(err, "assay env --diff A.json B.json; - is this machine");
		return -EINVAL;
	}
	r = load_side(cli, cli->operands.at[0], &a, err);
	if (r >= 0)
		r = load_side(cli, cli->operands.at[1], &b, err);
	if (r < 0)
		return r;
	fingerprint_compare(&comparison, a, b);
	diff.a = side_name(cli->operands.at[0]);
	diff.b = side_name(cli->operands.at[1]);
	r = envelope_run(cli, &comparison, here, err);
	if (r < 0)
		return r;
	while (cli_page_next(cli, &page)) {
		if (page.json)
			env_diff_json(page.json, &diff);
		else if (cli->mode == CLI_AGENT)
			env_diff_agent(page.paper, &diff);
		else
			env_diff_text(page.paper, &diff);
	}
	r = cli_page_end(cli, &page, err);
	if (r < 0)
		return r;
	return comparison.class == NOT_COMPARABLE ? EXIT_NOT_COMPARABLE : EXIT_DONE;
}

static int env_run(struct cli *cli, struct err *err)
{
	int r = cli_output_as_json(cli, err);

	if (r < 0)
		return r;
	if (cli_has(cli, "diff"))
		return env_compare(cli, err);
	if (cli->operands.count) {
		err_set(err, ERR_USAGE, EINVAL, "assay env: unexpected argument '%s'",
			cli->operands.at[0]);
		err_hint(err, "compare two fingerprints with assay env --diff A B");
		return -EINVAL;
	}
	return env_show(cli, err);
}

static const struct option_spec options[] = {
	{"diff", 0, NULL, false, NULL,
		"compare two fingerprints: assay documents, or - for this machine"},
	{"output", 'o', "FILE", false, NULL, "write the JSON document to FILE"},
	{"storage", 0, "PATH", false, NULL,
		"describe the file system of PATH (default: the working directory)"},
	{0},
};

const struct command env_command = {
	.name = "env",
	.summary = "show the fingerprint of this machine, or compare two",
	.usage = "[--storage PATH] [-o FILE] [-- PROGRAM] | --diff A B",
	.examples = (const char *const[]){"assay env -o baseline.json",
		"store the fingerprint of this machine", "assay env --diff baseline.json -",
		"are old numbers comparable with new ones?", "assay env -- ./program",
		"also how the program was built", NULL},
	.details =
		"Every fact that affects how fast a program runs, each a value, absent or denied. "
		"The key is a hash of the facts that must match for a comparison. A comparison "
		"lists every difference as BLOCK, WARN or INFO and ends with FULLY_COMPARABLE "
		"(exit 0), ADVISORY (exit 0, with a warning) or NOT_COMPARABLE (exit 4).",
	.options = options,
	.program = PROGRAM_OPTIONAL,
	.operands_max = 2,
	.run = env_run,
};
