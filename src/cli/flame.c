/* flame.c - `assay flame run.assay -o cpu.svg`: where the time goes, as a picture that can be
 * searched and zoomed in any browser. */
#include <errno.h>

#include "analyze/sample_walk.h"
#include "base/io.h"
#include "model/run.h"
#include "profile_options.h"
#include "render/flame.h"

#define FLAME_FILE "assay.flame.svg"

struct flame_job {
	struct cli *cli;
	struct run *run, *run_b; /* run_b: only with --diff */
	struct call_tree tree, tree_b;
	struct call_tree_options how;
	struct flame_view_options cut;
	struct flame_options look;
	struct flame_view view;
	const char *path;
	uint64_t bytes;
};

static void flame_job_done(struct flame_job *job)
{
	flame_view_done(&job->view);
	call_tree_done(&job->tree);
	call_tree_done(&job->tree_b);
	run_close(job->run);
	run_close(job->run_b);
}

static enum label_kind by_choose(const char *by)
{
	static const struct {
		const char *word;
		enum label_kind kind;
	} kinds[] = {{"line", LABEL_LINE}, {"module", LABEL_MODULE}, {"file", LABEL_FILE}};

	for (unsigned i = 0; by && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (str_equal(by, kinds[i].word))
			return kinds[i].kind;
	return LABEL_FUNCTION;
}

static int flame_options_read(struct flame_job *job, struct err *err)
{
	const struct cli *cli = job->cli;
	uint64_t width, depth;
	int r = profile_filter_take(cli, &job->how.filter, err);

	if (r >= 0)
		r = cli_number(cli, "width", 400, 20000, 0, &width, err);
	if (r >= 0)
		r = cli_number(cli, "depth", 1, 100000, 1024, &depth, err);
	if (r >= 0)
		r = profile_min_take(cli, &job->cut.min_share, err);
	if (r < 0)
		return r;
	job->how.by = by_choose(cli_value(cli, "by"));
	job->how.inverted = cli_has(cli, "inverted");
	job->how.root = cli_value(cli, "root");
	job->how.depth = (uint32_t)depth;
	job->how.nodes = FLAME_NODES;
	job->look.title = cli_value(cli, "title");
	job->look.width = (uint32_t)width;
	job->look.icicle = cli_has(cli, "icicle");
	job->path = cli_value(cli, "output") ? cli_value(cli, "output") : FLAME_FILE;
	if (str_equal(job->path, "-") && cli->mode == CLI_JSON) {
		err_set(err, ERR_USAGE, EINVAL, "--json and -o - both use stdout");
		return err_hint(err, "write --json=FILE, or -o FILE");
	}
	return 0;
}

static int flame_make(struct flame_job *job, struct err *err)
{
	const char *order = cli_value(job->cli, "order"), *other = cli_value(job->cli, "diff");
	bool heaviest_first = order ? str_equal(order, "weight") : job->how.inverted;
	int r = cli_load(job->cli, job->cli->operands.at[0], &job->run, err);

	if (r >= 0)
		r = call_tree_make(job->run, &job->how, &job->tree, err);
	if (r >= 0 && other)
		r = cli_load(job->cli, other, &job->run_b, err);
	if (r >= 0 && other)
		r = call_tree_make(job->run_b, &job->how, &job->tree_b, err);
	if (r < 0)
		return r;
	call_tree_sort(&job->tree, heaviest_first ? CALL_TREE_BY_TOTAL : CALL_TREE_BY_NAME);
	job->look.target = run_text(job->run, job->run->target);
	job->look.name_a = job->cli->operands.at[0];
	job->look.name_b = other;
	if (other)
		flame_view_compare(&job->tree, &job->tree_b, &job->cut, &job->view);
	else
		flame_view_make(&job->tree, &job->cut, &job->view);
	job->view.inverted = job->how.inverted;
	return 0;
}

static int flame_write(struct flame_job *job, struct err *err)
{
	struct io_writer writer;
	struct stream out = {.write = io_writer_write, .context = &writer};
	int r;

	cli_stay();
	r = io_writer_open(
		&writer, str_equal(job->path, "-") ? "/dev/stdout" : job->path, IO_SHARED, err);
	if (r < 0)
		return r;
	flame_svg(&out, &job->view, &job->look);
	r = stream_end(&out);
	job->bytes = out.given_bytes;
	return io_writer_close(&writer, r, err);
}

static void side_json(struct jsonw *w, const struct call_tree *tree)
{
	const struct profile_samples *samples = &tree->samples;

	jsonw_put_text(w, "event", samples->name);
	jsonw_put_u64(w, "total_samples", samples->total.samples);
	jsonw_put_u64(w, "drawn_samples", tree->nodes.at[0].total.samples);
	jsonw_put_u64(w, "truncated_samples", samples->truncated);
	jsonw_put_u64(w, "broken_samples", samples->broken);
}

static void flame_json(struct jsonw *w, const struct flame_job *job)
{
	jsonw_put_text(w, "file", job->path);
	jsonw_put_u64(w, "bytes", job->bytes);
	side_json(w, &job->tree);
	jsonw_put_u64(w, "samples_of_other_events",
		sample_walk_others(job->run, job->tree.samples.event));
	jsonw_put_u64(w, "boxes", job->view.boxes.count);
	jsonw_put_u64(w, "boxes_left_out", job->view.left_out);
	jsonw_put_double(w, "narrowest_share", job->view.narrowest);
	jsonw_put_u64(w, "samples_cut_at_depth", job->view.cut_samples);
	jsonw_put_u64(w, "deepest", job->view.deepest);
	if (job->run_b) {
		jsonw_open_object(w, "diff");
		side_json(w, &job->tree_b);
		jsonw_end_object(w);
	}
}

static void flame_text(struct paper *paper, const struct flame_job *job)
{
	uint64_t others = sample_walk_others(job->run, job->tree.samples.event);
	char count[32], bytes[32];

	paper_add(paper, "%s samples",
		paper_count(count, sizeof(count), (double)job->tree.nodes.at[0].total.samples));
	if (profile_event_is_told(job->tree.samples.name))
		paper_add(paper, " of %s", job->tree.samples.name);
	if (job->run_b)
		paper_add(paper, ", compared with %s",
			paper_count(count, sizeof(count),
				(double)job->tree_b.nodes.at[0].total.samples));
	paper_add(paper, ", written to ");
	paper_ink(paper, INK_BOLD, "%s", str_equal(job->path, "-") ? "stdout" : job->path);
	paper_add(paper, " (%s)\n", paper_bytes(bytes, sizeof(bytes), (double)job->bytes));
	if (job->view.left_out)
		paper_add(paper, "%s%s boxes narrower than %.3g %% are omitted%s\n",
			job->view.is_more ? "more than " : "",
			paper_count(count, sizeof(count), job->view.left_out),
			job->view.narrowest * 100,
			job->cut.min_share > 0 ? "" : ", to limit the file size");
	if (job->view.cut_samples)
		paper_add(paper, "%s samples are deeper than %u frames: see --depth\n",
			paper_count(count, sizeof(count), (double)job->view.cut_samples),
			job->how.depth);
	if (others)
		paper_add(paper,
			"%s samples of other events are not included: choose with --event\n",
			paper_count(count, sizeof(count), (double)others));
}

static int flame_show(struct flame_job *job, struct err *err)
{
	struct cli_page page = {.run = job->run, .to_stderr = str_equal(job->path, "-")};

	while (cli_page_next(job->cli, &page)) {
		if (page.json)
			flame_json(page.json, job);
		else if (!job->cli->quiet)
			flame_text(page.paper, job);
		if (page.paper && job->cli->mode == CLI_AGENT)
			profile_next(page.paper, job->cli->operands.at[0]);
	}
	return cli_page_end(job->cli, &page, err);
}

static int flame_run(struct cli *cli, struct err *err)
{
	struct flame_job job = {.cli = cli};
	int r = flame_options_read(&job, err);

	if (r >= 0)
		r = flame_make(&job, err);
	if (r >= 0)
		r = flame_write(&job, err);
	if (r >= 0)
		r = flame_show(&job, err);
	flame_job_done(&job);
	return r < 0 ? r : EXIT_DONE;
}

static const struct option_spec options[] = {
	{"output", 'o', "FILE", false, NULL, "output file (default " FLAME_FILE "; - is stdout)"},
	{"icicle", 0, NULL, false, NULL, "the root on top"},
	{"inverted", 0, NULL, false, NULL, "start from the functions that ran; callers above them"},
	{"diff", 0, "RUN", false, NULL, "show the change from the first run to this one"},
	{"by", 0, "WHAT", false, "function|line|module|file", "what a box is (default function)"},
	{"root", 0, "FUNCTION", false, NULL,
		"only what this function called (with --inverted: its callers)"},
	{"order", 0, "ORDER", false, "name|weight",
		"sort by name (default) or heaviest first (default with --inverted)"},
	{"min", 0, "PCT", false, NULL, "omit narrower boxes (default: keep the 100,000 widest)"},
	{"depth", 0, "N", false, NULL, "most frames from the root (default 1024)"},
	{"title", 0, "TEXT", false, NULL, "the title"},
	{"width", 0, "PIXELS", false, NULL, "fixed width (default: the window's)"},
	PROFILE_FILTER_OPTIONS,
	{0},
};

const struct command flame_command = {
	.name = "flame",
	.summary = "draw a flame graph of a run, or of the change between two",
	.usage = "RUN [-o FILE.svg] [--icicle] [--inverted] [--diff RUN] [--by WHAT] [--event "
		 "EVENT]",
	.examples = (const char *const[]){"assay flame run.assay -o cpu.svg",
		"open cpu.svg in a browser: click to zoom, Ctrl-F to search",
		"assay flame before.assay --diff after.assay",
		"red grew, blue shrank, grey is within noise", NULL},
	.details =
		"One self-contained SVG file. A box is a function; its width is its share of the "
		"samples, including what it called. Omitted boxes are counted below the graph. "
		"With --diff the width is the mean of the two shares, so functions that vanished "
		"are visible too.",
	.options = options,
	.operands_min = 1,
	.operands_max = 1,
	.run = flame_run,
};
