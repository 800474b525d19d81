/* annotate.c - `assay annotate run.assay hot_function`: what each line and instruction of a
 * function cost.
 *
 * Reads the run, finds the function, lists its code, joins the two, adds the source text, shows. */
#include <errno.h>

#include "analyze/annotate.h"
#include "analyze/find_function.h"
#include "cli.h"
#include "code/listing.h"
#include "code/source_text.h"
#include "model/run.h"
#include "render/annotate.h"
#include "render/profile_json.h"

enum { HOT_ROWS = 20, HOT_ROWS_AGENT = 10 };

static bool by_line(const struct cli *cli)
{
	const char *by = cli_value(cli, "by");

	return by && str_equal(by, "line");
}

static const char *no_code_reason(const struct module_row *module)
{
	if (!module)
		return "the code is not in a file";
	if (module->flags & MODULE_KERNEL)
		return "the kernel's code is not in a file here";
	if (module->flags & MODULE_JIT)
		return "the code was generated at run time and is gone";
	if (module->flags & MODULE_VDSO)
		return "the code belongs to the kernel, mapped into the program";
	return NULL;
}

static void code_list(const struct cli *cli, const struct run *run,
	const struct function_found *found, struct arena *arena, struct listing *ret_listing)
{
	const struct function_row *f = &run->functions.at[found->best - 1];
	const struct module_row *module = f->module ? &run->modules.at[f->module - 1] : NULL;
	const char *reason = no_code_reason(module);

	if (reason) {
		*ret_listing = (struct listing){.missing = reason, .hint = ""};
		return;
	}
	listing_make(&(struct listing_options){.path = run_text(run, module->path),
			     .build_id = run_text(run, module->build_id),
			     .symfs = cli_value(cli, "symfs"),
			     .addr = f->addr,
			     .size_bytes = f->size_bytes,
			     .intel = cli_has(cli, "intel")},
		arena, ret_listing);
}

static int source_rules_take(const struct cli *cli, struct source_rules *ret_rules, struct err *err)
{
	const char *rule;

	for (unsigned i = 0; (rule = cli_value_at(cli, "source", i)); i++) {
		if (i == SOURCE_RULES) {
			err_set(err, ERR_USAGE, EINVAL, "more than %d --source options",
				SOURCE_RULES);
			err_hint(err, "a directory also finds the files below it");
			return -EINVAL;
		}
		ret_rules->at[ret_rules->count++] = rule;
	}
	return 0;
}

static void source_add(const struct run *run, const struct source_rules *rules, struct arena *arena,
	struct annotate_view *view)
{
	for (uint32_t i = 0; i < view->file_count; i++) {
		struct annotate_file *file = &view->files[i];
		struct source_text text;

		source_text_read(file->path, rules, arena, &text);
		file->lines = text.lines;
		file->line_count = text.line_count;
		file->found = text.path;
		file->missing = text.missing;
		file->changed = run->started_ns && text.modified_ns > run->started_ns;
	}
}

static int annotate_show(
	struct cli *cli, const struct run *run, const struct annotate_view *view, struct err *err)
{
	const struct annotate_page how = {
		.by_line = by_line(cli),
		.all = cli_has(cli, "all"),
	};
	struct cli_page page = {.run = run};

	while (cli_page_next(cli, &page)) {
		if (page.json)
			annotate_json(page.json, view, &how);
		else if (cli->mode == CLI_AGENT)
			annotate_agent(page.paper, view, &how);
		else
			annotate_text(page.paper, view, &how);
	}
	return cli_page_end(cli, &page, err);
}

static int annotate_run(struct cli *cli, struct err *err)
{
	const char *path = cli->operands.at[0], *word = cli->operands.at[1];
	run_auto struct run *run = NULL;
	arena_auto struct arena arena = {0};
	struct source_rules rules = {0};
	struct function_found found;
	struct listing listing;
	struct annotate_options options = {
		.function = &found, .event = cli_value(cli, "event"), .run_path = path};
	struct annotate_view view;
	uint64_t limit;
	int r = cli_number(cli, "limit", 1, UINT32_MAX,
		cli->mode == CLI_AGENT ? HOT_ROWS_AGENT : HOT_ROWS, &limit, err);

	if (r >= 0)
		r = source_rules_take(cli, &rules, err);
	if (r >= 0)
		r = cli_load(cli, path, &run, err);
	if (r >= 0)
		r = function_find(run, word, cli_value(cli, "module"), &arena, &found, err);
	if (r < 0)
		return r;
	options.hot_rows = (uint32_t)limit;
	if (!by_line(cli)) {
		code_list(cli, run, &found, &arena, &listing);
		options.listing = &listing;
	}
	r = annotate_make(run, &options, &arena, &view, err);
	if (r >= 0) {
		source_add(run, &rules, &arena, &view);
		r = annotate_show(cli, run, &view, err);
	}
	return r < 0 ? r : EXIT_DONE;
}

static const struct option_spec options[] = {
	{"by", 0, "WHAT", false, "instruction|line", "line: sums per source line, no instructions"},
	{"event", 'e', "EVENT", false, NULL, "only this event (default: all side by side)"},
	{"module", 0, "PATH", false, NULL,
		"the function in this program or library (end of its path)"},
	{"source", 0, "DIR|FROM=TO", false, NULL,
		"find source files below DIR, or replace FROM with TO in their paths; may be "
		"repeated"},
	{"symfs", 0, "DIR", false, NULL, "look for programs and libraries below DIR first"},
	{"limit", 0, "N", false, NULL, "show the N hottest places with context (default 20)"},
	{"all", 0, NULL, false, NULL, "show cold parts too"},
	{"intel", 0, NULL, false, NULL, "Intel syntax for x86 instructions, not AT&T"},
	{0},
};

const struct command annotate_command = {
	.name = "annotate",
	.summary = "show the cost of each line and instruction of a function",
	.usage = "RUN FUNCTION [--by instruction|line] [--source DIR] [--all]",
	.examples = (const char *const[]){"assay annotate run.assay parse_row",
		"instructions below their source lines, with shares",
		"assay annotate run.assay parse_row --by line --source /build=$HOME/src",
		"source lines only, for a program built elsewhere", NULL},
	.details =
		"FUNCTION is a name, a name without parameters, a part that matches only one name, "
		"or an address in it (0x1139).\nself is the share of the function's own samples; "
		"all rows and the omitted part add up to 100 %. calls is the share, of all samples "
		"with the function on the stack, taken in functions called from there.\nIf the "
		"program's file is missing or was replaced, the lines are still shown: the run "
		"file contains them.",
	.options = options,
	.operands_min = 2,
	.operands_max = 2,
	.run = annotate_run,
};
