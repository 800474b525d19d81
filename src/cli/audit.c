/* audit.c - `assay audit hyperfine.json`: how far can these numbers be trusted, and what may be
 * claimed with them? */
#include "analyze/audit.h"

#include "cli.h"
#include "job/results.h"
#include "model/run.h"
#include "render/audit.h"
#include "render/machine_json.h"

static int audit_show(struct cli *cli, const struct results *results, const struct audit_view *view,
	struct err *err)
{
	struct cli_page page = {.run = results->notes};

	while (cli_page_next(cli, &page)) {
		if (page.json)
			audit_json(page.json, view);
		else if (cli->mode == CLI_AGENT)
			audit_agent(page.paper, view);
		else if (!cli->quiet)
			audit_text(page.paper, view);
	}
	return cli_page_end(cli, &page, err);
}

static int audit_results(struct cli *cli, struct results *results, struct err *err)
{
	audit_book_auto struct audit_book book = {0};
	audit_view_auto struct audit_view view = {0};
	int r = audit_book_load(&book, err);

	for (uint32_t i = 0; r >= 0 && i < cli->operands.count; i++)
		r = results_add_all(results, cli->operands.at[i], err);
	if (r >= 0)
		r = audit_view_make(results->inputs.at, results->inputs.count, &book,
			&results->arena, &view, err);
	if (r >= 0)
		r = audit_show(cli, results, &view, err);
	if (r < 0)
		return r;
	return view.counts[AUDIT_HIGH] ? EXIT_REGRESSION : EXIT_DONE;
}

static int audit_run(struct cli *cli, struct err *err)
{
	struct results results;
	int r;

	results_open(&results, &cli->host);
	r = audit_results(cli, &results, err);
	results_done(&results);
	return r;
}

static const struct option_spec options[] = {{0}};

const struct command audit_command = {
	.name = "audit",
	.summary = "check how far a benchmark's numbers can be trusted",
	.usage = "FILE|DIR...",
	.examples = (const char *const[]){"assay audit .assay/before.assay",
		"the runs of `assay bench --save before`", "assay audit hyperfine.json",
		"output of hyperfine --export-json or Google Benchmark", "assay audit results/",
		"all files of a directory together", NULL},
	.details =
		"Each finding has a code, HIGH, MEDIUM or LOW, its evidence and a fix; the rules "
		"are in data/audit.rules. Two or more commands get a fairness level, L0 to L5, "
		"with the claim it allows. The last two lines say what the numbers support and "
		"what they do not. Programs are inspected as they are now, if the run was measured "
		"on this machine. Exit status 1 when a finding is HIGH.",
	.options = options,
	.operands_min = 1,
	.operands_max = 64,
	.run = audit_run,
};
