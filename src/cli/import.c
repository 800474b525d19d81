/* import.c - `assay import stat.json`: another tool's result file, checked and shown. */
#include "render/import.h"
#include "analyze/imported.h"
#include "cli.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "source/import.h"

static void import_json(
	struct jsonw *w, const struct imported_view *view, const struct import_report *report)
{
	jsonw_put_text(w, "kind", report->kind);
	jsonw_put_missing(w, "samples", "perf stat counts events, it takes no samples");
	import_json_events(w, view);
	jsonw_put_u64(w, "intervals", view->intervals);
	jsonw_put_u64(w, "lines", report->lines);
	jsonw_key(w, "skipped");
	jsonw_begin_object(w);
	for (unsigned i = 0; i < IMPORT_SKIPS; i++)
		jsonw_put_u64(w, import_skip_name(i), report->skipped[i]);
	jsonw_end_object(w);
}

static int import_run(struct cli *cli, struct err *err)
{
	run_auto struct run *run = run_open();
	struct ingest ingest = {.run = run};
	struct wire_sink sink = ingest_sink(&ingest);
	imported_view_auto struct imported_view view = {0};
	struct cli_page page = {.run = run};
	struct import_report report;
	int r = import_file(cli->operands.at[0], &sink, &report, err);

	if (r < 0)
		return r;
	run->command = run_intern(run, "import");
	run->partial = report.skipped[IMPORT_TRUNCATED] > 0;
	run_freeze(run);
	imported_view_make(run, &view);
	while (cli_page_next(cli, &page)) {
		if (page.json)
			import_json(page.json, &view, &report);
		else
			import_text(page.paper, &view, report.kind);
	}
	r = cli_page_end(cli, &page, err);
	return r < 0 ? r : EXIT_DONE;
}

static const struct option_spec options[] = {
	{0},
};

const struct command import_command = {
	.name = "import",
	.summary = "read another tool's result file",
	.usage = "FILE",
	.examples = (const char *const[]){"assay import stat.json",
		"the counts of `perf stat -j -o stat.json -- PROGRAM`",
		"perf stat -x, -- ./server 2>&1 | assay import -", "the same without a file", NULL},
	.details =
		"What the file is, is found out from its content. Read are the output of `perf stat "
		"-j` and of `perf stat -x SEPARATOR`, also with -I, -r, -A, --per-core and the "
		"like.\n"
		"perf writes counts that are scaled for multiplexing already, and not the raw ones. "
		"They are kept as they are and marked as estimates, with the share of the time they "
		"were really counted. What perf could not count stays missing, with the reason; lines "
		"that cannot be used are counted by reason.",
	.options = options,
	.operands_min = 1,
	.operands_max = 1,
	.run = import_run,
};
