/* import.c - `assay import perf.data -o base.assay`: another tool's result file, checked, shown,
 * and stored as a run with -o. */
#include <errno.h>

#include "analyze/bench.h"
#include "analyze/causal_view.h"
#include "analyze/imported.h"
#include "analyze/spans.h"
#include "analyze/stat.h"
#include "cli.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "model/store.h"
#include "render/answer_json.h"
#include "render/causal.h"
#include "render/cpu_json.h"
#include "render/imported.h"
#include "render/profile_json.h"
#include "render/spans.h"
#include "render/stat.h"
#include "source/import.h"

static void skipped_json(struct jsonw *w, const struct import_report *report)
{
	jsonw_put_u64(w, "lines", report->lines);
	jsonw_open_object(w, "skipped");
	for (unsigned i = 0; i < IMPORT_SKIPS; i++)
		jsonw_put_u64(w, import_skip_name(i), report->skipped[i]);
	jsonw_end_object(w);
}

static int show_counts(
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
		if (page.json) {
			jsonw_put_text(page.json, "kind", report->kind);
			jsonw_put_missing(page.json, "samples",
				"perf stat counts events and takes no samples");
			stat_json_counts(page.json, &view);
			skipped_json(page.json, report);
		} else if (cli->mode == CLI_AGENT) {
			stat_agent(page.paper, &view);
		} else {
			stat_text(page.paper, &view);
		}
	}
	return cli_page_end(cli, &page, err);
}

static int show_profile(
	struct cli *cli, const struct run *run, const struct import_report *report, struct err *err)
{
	arena_auto struct arena arena = {0};
	struct cli_page page = {.run = run};
	struct imported_view view;

	imported_view_make(run, &arena, &view);
	while (cli_page_next(cli, &page)) {
		if (page.json) {
			jsonw_put_text(page.json, "kind", report->kind);
			imported_json(page.json, &view);
			skipped_json(page.json, report);
		} else {
			imported_text(
				page.paper, &view, cli->operands.at[0], cli_value(cli, "output"));
		}
	}
	return cli_page_end(cli, &page, err);
}

static int show_benchmark(
	struct cli *cli, const struct run *run, const struct import_report *report, struct err *err)
{
	arena_auto struct arena arena = {0};
	struct cli_page page = {.run = run};
	struct imported_view all;
	struct bench_view view;
	int r = bench_view_make(run, false, &arena, &view, err);

	if (r < 0)
		return r;
	imported_view_make(run, &arena, &all);
	while (cli_page_next(cli, &page)) {
		if (page.json) {
			jsonw_put_text(page.json, "kind", report->kind);
			jsonw_put_missing(page.json, "samples", "it has times of whole runs");
			imported_runs_json(page.json, &view, &all);
			skipped_json(page.json, report);
		} else {
			imported_runs_text(
				page.paper, &view, cli->operands.at[0], cli_value(cli, "output"));
		}
	}
	return cli_page_end(cli, &page, err);
}

static int show_experiments(
	struct cli *cli, const struct run *run, const struct import_report *report, struct err *err)
{
	arena_auto struct arena arena = {0};
	struct cli_page page = {.run = run};
	struct causal_view view;
	int r = causal_view_make(run, cli_value(cli, "progress"), &arena, &view, err);

	if (r < 0)
		return r;
	while (cli_page_next(cli, &page)) {
		if (page.json) {
			jsonw_put_text(page.json, "kind", report->kind);
			jsonw_put_missing(page.json, "samples",
				"it has experiments, each with its own samples");
			jsonw_open_array(page.json, "events");
			jsonw_end_array(page.json);
			causal_json(page.json, &view, NULL);
			skipped_json(page.json, report);
		} else if (cli->mode == CLI_AGENT) {
			causal_agent(page.paper, &view);
		} else {
			causal_text(page.paper, &view);
		}
	}
	r = cli_page_end(cli, &page, err);
	return r < 0 ? r : view.pairs ? EXIT_DONE : EXIT_INCONCLUSIVE;
}

static int show_spans(
	struct cli *cli, const struct run *run, const struct import_report *report, struct err *err)
{
	arena_auto struct arena arena = {0};
	struct cli_page page = {.run = run};
	struct spans_view view;
	enum spans_by by = SPANS_BY_CUMULATIVE;

	spans_by_of(cli_value(cli, "by"), &by); /* its words are checked by the frame */
	spans_view_make(run, by, &arena, &view);
	while (cli_page_next(cli, &page)) {
		if (page.json) {
			jsonw_put_text(page.json, "kind", report->kind);
			spans_json(page.json, &view);
			skipped_json(page.json, report);
		} else {
			spans_text(
				page.paper, &view, cli->operands.at[0], cli_value(cli, "output"));
		}
	}
	return cli_page_end(cli, &page, err);
}

static int import_show(
	struct cli *cli, const struct run *run, const struct import_report *report, struct err *err)
{
	static int (*const shows[])(struct cli * cli, const struct run *run,
		const struct import_report *report, struct err *err) = {
		[IMPORT_COUNTS] = show_counts,
		[IMPORT_PROFILE] = show_profile,
		[IMPORT_BENCHMARK] = show_benchmark,
		[IMPORT_EXPERIMENTS] = show_experiments,
		[IMPORT_SPANS] = show_spans,
	};

	return shows[report->holds](cli, run, report, err);
}

/* A file of results without a result; `assay audit` says so too, as a finding. */
static int refuse_empty(const char *path, const struct import_report *report, struct err *err)
{
	if (report->holds != IMPORT_BENCHMARK || report->commands)
		return 0;
	err_set(err, ERR_USAGE, EINVAL, "%s (%s) has no results", path, report->kind);
	err_hint(err, "the tool that wrote it may have stopped before its first result");
	return -EINVAL;
}

static int import_store(
	const struct cli *cli, const char *path, const struct run *run, struct err *err)
{
	store_auto struct store *store = NULL;
	int r = store_create(path, &store, err);

	if (r < 0)
		return r;
	store_watch(store, cli->host.interrupted);
	return store_finish(store, run, err);
}

/* Samples get their turn and their names, counts are rows already. */
static void import_finish(struct cli *cli, struct ingest *ingest)
{
	const struct ingest_naming naming = {
		.symfs = cli_value(cli, "symfs"), .interrupted = cli->host.interrupted};

	ingest_end(ingest);
	job_name_run(&cli->host, ingest->run, naming);
	ingest_done(ingest);
}

static int import_run(struct cli *cli, struct err *err)
{
	run_auto struct run *run = run_open();
	struct quota quota = {.interrupted = cli->host.interrupted};
	struct ingest ingest = {.run = run, .quota = &quota};
	struct wire_sink sink = ingest_sink(&ingest);
	const char *path = cli->operands.at[0], *output = cli_value(cli, "output");
	str_auto struct str target = {0};
	struct import_report report;
	int r = import_file(path, &quota, &sink, &report, err);

	if (quota.seen) /* Ctrl-C for who wrote into the pipe */
		cli_forget_interrupts();
	if (r >= 0)
		r = refuse_empty(path, &report, err);
	if (r < 0) {
		ingest_done(&ingest);
		return r;
	}
	import_finish(cli, &ingest);
	if (job_interrupted(&cli->host).count)
		return err_set(err, ERR_INTERRUPTED, EINTR, "interrupted; nothing was imported");
	str_addf(&target, "%s (%s)", str_equal(path, "-") ? "stdin" : path, report.kind);
	run->command = run_intern(run, "import");
	run->target = run_intern(run, str_text(&target));
	run->partial = *report.damage || report.stopped || report.skipped[IMPORT_TRUNCATED];
	if (output)
		r = import_store(cli, output, run, err);
	run_freeze(run);
	if (r >= 0)
		cli_leave_on_interrupt();
	if (r >= 0)
		r = import_show(cli, run, &report, err);
	return r;
}

static const struct option_spec options[] = {
	{"output", 'o', "RUN", false, NULL, "store the result in this run file (*.assay)"},
	{"by", 0, "KEY", false, "cumulative|count|p95",
		"for a program's own spans: sort order (default cumulative)"},
	{"progress", 0, "NAME", false, NULL,
		"for coz's experiments: the progress point that judges them"},
	{"symfs", 0, "DIR", false, NULL, "look for the recorded programs below this directory"},
	{0},
};

const struct command import_command = {
	.name = "import",
	.summary = "read another tool's result file",
	.usage = "FILE [-o RUN]",
	.examples = (const char *const[]){"assay import perf.data -o base.assay",
		"the samples of `perf record`, stored as a run",
		"perf record -o - -g -- ./server | assay import - -o base.assay",
		"the same without a file", "assay import stat.json -o counts.assay",
		"the counts of `perf stat -j -o stat.json -- PROGRAM`",
		"assay import hyperfine.json -o before.assay",
		"the runs of `hyperfine --export-json` or of Google Benchmark",
		"assay import profile.coz -o gain.assay",
		"the experiments of coz; `assay causal --show` shows them",
		"ASSAY_EVENTS=run.ndjson ./server; assay import run.ndjson --by p95",
		"spans timed by a program with assay.h", NULL},
	.details =
		"The format is detected from the content. Supported: perf.data of any age (file or "
		"pipe, compressed or not), perf script text, folded stacks, pprof, callgrind.out "
		"and cachegrind.out, coz's profile.coz and JSON lines, perf stat -j and -x "
		"SEPARATOR, JSON of hyperfine and Google Benchmark, and events that a program logs "
		"itself (docs/events.md).\nUser stacks recorded with --call-graph dwarf are "
		"unwound here. Nothing is dropped silently: what cannot be used is counted by "
		"reason. Of a damaged or truncated file everything before the damage is kept, with "
		"a warning; a file with nothing usable is refused.\nperf stat writes counts that "
		"are already scaled for multiplexing. They are kept and shown with the share of "
		"time they were really counted. What perf could not count stays missing, with the "
		"reason.",
	.options = options,
	.operands_min = 1,
	.operands_max = 1,
	.run = import_run,
};
