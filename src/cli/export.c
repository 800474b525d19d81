/* export.c - `assay export run.assay --format pprof -o cpu.pb.gz`: the samples of a run in another
 * tool's format.
 *
 * The file is written in pieces beside its place and put there when it is whole. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "model/run.h"
#include "profile_options.h"
#include "render/export.h"

/* What was written, for the page. */
struct export_summary {
	const struct export_format *format;
	const char *path; /* "-": stdout */
	const char *event, *unit;
	uint64_t samples, period, others, bytes;
};

static const struct export_format *format_choose(const struct cli *cli, struct err *err)
{
	const char *name = cli_value(cli, "format");
	const struct export_format *format = export_formats;

	if (!name) {
		err_set(err, ERR_USAGE, EINVAL, "assay export needs a format");
		err_hint(err, "add --format with one of folded, pprof, speedscope, firefox, "
			      "perfscript, chrome, json");
		return NULL;
	}
	while (!str_equal(format->name, name)) /* the frame has checked it */
		format++;
	if (cli_has(cli, "merged") && !format->can_merge && format->order != WALK_MERGED) {
		err_set(err, ERR_USAGE, EINVAL, "--merged does not work with %s, which shows time",
			name);
		err_hint(err, "remove it, or use speedscope, json, folded or pprof");
		return NULL;
	}
	if (cli_has(cli, "weight") && !format->has_weight) {
		err_set(err, ERR_USAGE, EINVAL,
			"--weight does not work with %s, which stores both samples and periods",
			name);
		err_hint(err, "remove it");
		return NULL;
	}
	return format;
}

/* Where the text goes, how much of it may. */
struct export_out {
	struct io_writer writer;
	struct stream stream;
	const char *path;
	uint64_t given, most; /* bytes */
};

static int export_give(void *context, const void *bytes, size_t len)
{
	struct export_out *out = context;

	if (cli_interrupted().count)
		return -EINTR;
	if (len > out->most - out->given)
		return -EFBIG;
	out->given += len;
	return io_writer_write(&out->writer, bytes, len);
}

/* From here on there is a file of ours. */
static int export_open(struct export_out *out, struct err *err)
{
	cli_stay();
	out->stream = (struct stream){.write = export_give, .context = out};
	return io_writer_open(&out->writer, str_equal(out->path, "-") ? "/dev/stdout" : out->path,
		IO_SHARED, err);
}

static int export_close(struct export_out *out, struct export_summary *summary, struct err *err)
{
	char most[32];
	int r = stream_end(&out->stream);

	summary->bytes = out->stream.given_bytes;
	if (r != -EINTR && r != -EFBIG)
		return io_writer_close(&out->writer, r, err);
	io_writer_close(&out->writer, -ECANCELED, &(struct err){0});
	if (r == -EINTR)
		return err_set(err, ERR_INTERRUPTED, EINTR, "interrupted; nothing was written");
	err_set(err, ERR_OUTPUT, EFBIG, "the %s export is larger than %s", summary->format->name,
		paper_bytes(most, sizeof(most), (double)out->most));
	return err_hint(
		err, "allow more with --max-size 8G, or export less with --thread or --time");
}

static int write_walk(struct export_out *out, const struct run *run,
	const struct profile_filter *filter, const struct export_options *options,
	struct export_summary *summary, struct err *err)
{
	sample_walk_auto struct sample_walk walk = {0};
	enum walk_order order = options->merged ? WALK_MERGED : summary->format->order;
	int r = sample_walk_make(run, filter, order, &walk, err);

	if (r >= 0)
		r = export_open(out, err);
	if (r < 0)
		return r;
	summary->format->write(&out->stream, &walk, options);
	summary->event = walk.event;
	summary->unit = walk.weighted && !walk.merged ? walk.unit : "";
	summary->samples = walk.total_samples;
	summary->period = walk.total_period;
	summary->others = sample_walk_others(run, walk.event_row);
	return 0;
}

static int write_tree(struct export_out *out, const struct run *run,
	const struct profile_filter *filter, const struct export_options *options,
	struct export_summary *summary, struct err *err)
{
	call_tree_auto struct call_tree tree = {0};
	struct call_tree_options how = {
		.filter = *filter, .by = LABEL_FUNCTION, .depth = UINT32_MAX, .nodes = INT32_MAX};
	int r = call_tree_make(run, &how, &tree, err);

	if (r < 0)
		return r;
	call_tree_sort(&tree, CALL_TREE_BY_NAME);
	r = export_open(out, err);
	if (r < 0)
		return r;
	summary->format->write_tree(&out->stream, &tree, options);
	summary->event = tree.samples.name;
	summary->unit = tree.samples.weighted && !tree.samples.merged ? tree.samples.unit : "";
	summary->samples = tree.samples.total.samples;
	summary->period = tree.samples.total.weight;
	summary->others = sample_walk_others(run, tree.samples.event);
	return 0;
}

/* A run keeps what stacks share once, a text each time: some hundred times more is a run made so.
 */
static uint64_t most_of(const char *path)
{
	enum { TIMES = 20 };
	struct stat there;
	uint64_t least = UINT64_C(1) << 30;

	if (stat(path, &there) < 0 || (uint64_t)there.st_size < least / TIMES)
		return least;
	return (uint64_t)there.st_size * TIMES;
}

static int export_write(
	struct cli *cli, const struct run *run, struct export_summary *summary, struct err *err)
{
	const char *weight = cli_value(cli, "weight");
	struct export_options options = {
		.by_period = weight && str_equal(weight, "period"),
		.kernel_marks = cli_has(cli, "kernel-marks"),
		.merged = cli_has(cli, "merged") && summary->format->can_merge,
	};
	struct export_out out = {.path = summary->path};
	struct profile_filter filter;
	int r = profile_filter_take(cli, &filter, err);

	if (r >= 0)
		r = cli_size(cli, "max-size", most_of(cli->operands.at[0]), &out.most, err);
	if (r < 0)
		return r;
	r = (summary->format->write_tree ? write_tree : write_walk)(
		&out, run, &filter, &options, summary, err);
	return r < 0 ? r : export_close(&out, summary, err);
}

static void export_json_page(struct jsonw *w, const struct export_summary *summary)
{
	jsonw_put_text(w, "format", summary->format->name);
	jsonw_put_text(w, "file", summary->path);
	jsonw_put_u64(w, "bytes", summary->bytes);
	jsonw_put_text(w, "event", summary->event);
	jsonw_put_u64(w, "total_samples", summary->samples);
	if (*summary->unit)
		jsonw_put_u64(w, "total_period", summary->period);
	else
		jsonw_put_missing(w, "total_period", "the samples of this run have no period");
	jsonw_put_text(w, "unit", str_or_null(summary->unit));
	jsonw_put_u64(w, "samples_of_other_events", summary->others);
}

static void export_text_page(struct paper *paper, const struct export_summary *summary)
{
	char count[32], weight[32], bytes[32];

	paper_add(paper, "%s samples", paper_count(count, sizeof(count), (double)summary->samples));
	if (profile_event_is_told(summary->event))
		paper_add(paper, " of %s", summary->event);
	if (str_equal(summary->unit, "ns"))
		paper_add(
			paper, ", %s", paper_time(weight, sizeof(weight), (double)summary->period));
	paper_add(paper, ", written to ");
	paper_ink(paper, INK_BOLD, "%s", str_equal(summary->path, "-") ? "stdout" : summary->path);
	paper_add(paper, " (%s format, %s)\n", summary->format->name,
		paper_bytes(bytes, sizeof(bytes), (double)summary->bytes));
	if (summary->others)
		paper_add(paper,
			"%s samples of other events are not included: choose with --event\n",
			paper_count(count, sizeof(count), (double)summary->others));
	paper_add(paper, "read by %s\n", summary->format->read_by);
}

static int export_show(struct cli *cli, const struct run *run, const struct export_summary *summary,
	struct err *err)
{
	struct cli_page page = {.run = run, .to_stderr = str_equal(summary->path, "-")};

	while (cli_page_next(cli, &page)) {
		if (page.json)
			export_json_page(page.json, summary);
		else if (!cli->quiet)
			export_text_page(page.paper, summary);
		if (page.paper && cli->mode == CLI_AGENT)
			profile_next(page.paper, cli->operands.at[0]);
	}
	return cli_page_end(cli, &page, err);
}

static int export_run(struct cli *cli, struct err *err)
{
	run_auto struct run *run = NULL;
	struct export_summary summary = {.format = format_choose(cli, err)};
	int r;

	if (!summary.format)
		return -EINVAL;
	summary.path = cli_value(cli, "output");
	if (!summary.path)
		summary.path = summary.format->file;
	if (str_equal(summary.path, "-") && cli->mode == CLI_JSON) {
		err_set(err, ERR_USAGE, EINVAL, "--json and -o - both use stdout");
		err_hint(err, "write --json=FILE, or -o FILE");
		return -EINVAL;
	}
	r = cli_load(cli, cli->operands.at[0], &run, err);
	if (r >= 0)
		r = export_write(cli, run, &summary, err);
	if (r >= 0)
		r = export_show(cli, run, &summary, err);
	return r < 0 ? r : EXIT_DONE;
}

static const struct option_spec options[] = {
	{"format", 'f', "FORMAT", false, "folded|pprof|speedscope|firefox|perfscript|chrome|json",
		"whose format"},
	{"output", 'o', "FILE", false, NULL, "output file (- is stdout; default assay.EXTENSION)"},
	{"weight", 0, "WEIGHT", false, "samples|period",
		"weight of a stack in folded and speedscope (default samples)"},
	{"merged", 0, NULL, false, NULL,
		"speedscope, json: merge equal stacks of a thread, without times"},
	{"kernel-marks", 0, NULL, false, NULL, "folded: kernel functions end in _[k]"},
	{"max-size", 0, "SIZE", false, NULL,
		"largest output, such as 8G (default 1G, or 20 times the run file)"},
	PROFILE_FILTER_OPTIONS,
	{0},
};

const struct command export_command = {
	.name = "export",
	.summary = "write the samples of a run in another tool's format",
	.usage =
		"RUN --format FORMAT [-o FILE] [--event EVENT] [--thread THREAD] [--time FROM..TO]",
	.examples = (const char *const[]){"assay export run.assay --format pprof -o cpu.pb.gz",
		"for go tool pprof -http : cpu.pb.gz",
		"assay export run.assay --format folded -o - | flamegraph.pl >flame.svg",
		"into a pipe", NULL},
	.details = "One event is exported; its totals equal those of `assay report` with the same "
		   "filters. docs/commands/export.md lists what each format cannot store.",
	.options = options,
	.operands_min = 1,
	.operands_max = 1,
	.run = export_run,
};
