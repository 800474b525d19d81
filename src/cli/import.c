/* import.c - `assay import stat.json`: another tool's result file, checked, shown, and stored as a
 * run with -o. */
#include <errno.h>

#include "analyze/stat.h"
#include "cli.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "model/store.h"
#include "render/stat.h"
#include "source/import.h"

static void import_json(
	struct jsonw *w, const struct stat_view *view, const struct import_report *report)
{
	jsonw_put_text(w, "kind", report->kind);
	jsonw_put_missing(w, "samples", "perf stat counts events, it takes no samples");
	stat_json_counts(w, view);
	jsonw_put_u64(w, "lines", report->lines);
	jsonw_key(w, "skipped");
	jsonw_begin_object(w);
	for (unsigned i = 0; i < IMPORT_SKIPS; i++)
		jsonw_put_u64(w, import_skip_name(i), report->skipped[i]);
	jsonw_end_object(w);
}

static int import_show(
	struct cli *cli, const struct run *run, const struct import_report *report, struct err *err)
{
	metric_book_auto struct metric_book book = {0};
	arena_auto struct arena arena = {0};
	struct cli_page page = {.run = run};
	struct stat_view view;
	int r = metric_book_load(&book, err);

	if (r < 0)
		return r;
	stat_view_make(run, &book, &arena, &view);
	while (cli_page_next(cli, &page)) {
		if (page.json)
			import_json(page.json, &view, report);
		else if (cli->mode == CLI_AGENT)
			stat_agent(page.paper, &view);
		else
			stat_text(page.paper, &view);
	}
	return cli_page_end(cli, &page, err);
}

static int import_store(const char *path, const struct run *run, struct err *err)
{
	store_auto struct store *store = NULL;
	int r = store_create(path, &store, err);

	return r < 0 ? r : store_finish(store, run, err);
}

static int import_run(struct cli *cli, struct err *err)
{
	run_auto struct run *run = run_open();
	struct ingest ingest = {.run = run};
	struct wire_sink sink = ingest_sink(&ingest);
	const char *path = cli->operands.at[0], *output = cli_value(cli, "output");
	str_auto struct str target = {0};
	struct import_report report;
	int r = import_file(path, &sink, &report, err);

	if (r < 0)
		return r;
	str_addf(&target, "%s (%s)", str_equal(path, "-") ? "stdin" : path, report.kind);
	run->command = run_intern(run, "import");
	run->target = run_intern(run, str_text(&target));
	run->partial = report.skipped[IMPORT_TRUNCATED] > 0;
	if (output)
		r = import_store(output, run, err);
	run_freeze(run);
	if (r >= 0)
		r = import_show(cli, run, &report, err);
	return r < 0 ? r : EXIT_DONE;
}

static const struct option_spec options[] = {
	{"output", 'o', "RUN", false, NULL, "store what was read in this run file (*.assay)"},
	{0},
};

const struct command import_command = {
	.name = "import",
	.summary = "read another tool's result file",
	.usage = "FILE [-o RUN]",
	.examples = (const char *const[]){"assay import stat.json -o baseline.assay",
		"the counts of `perf stat -j -o stat.json -- PROGRAM`, kept as a run",
		"perf stat -x, -- ./server 2>&1 | assay import -", "the same without a file", NULL},
	.details =
		"What the file is, is found out from its content. Read are the output of `perf stat "
		"-j` and of `perf stat -x SEPARATOR`, also with -I, -r, -A, --per-core and the "
		"like.\n"
		"perf writes counts that are scaled for multiplexing already, and not the raw ones. "
		"They are kept as they are and shown with the share of the time they were really "
		"counted. What perf could not count stays missing, with the reason; lines that cannot "
		"be used are counted by reason.",
	.options = options,
	.operands_min = 1,
	.operands_max = 1,
	.run = import_run,
};
