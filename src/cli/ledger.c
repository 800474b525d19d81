/* ledger.c - `assay ledger --last 2`: what was found about each explanation, and what changed.
 *
 * Reads assay-out/ledger.ndjson, which `assay run` appends to.  A folder of one run is as good:
 * then its lines are shown from the ledger beside it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/ledger_history.h"
#include "cli.h"
#include "model/directory.h"
#include "model/ledger.h"
#include "render/answer_json.h"
#include "render/ledger.h"

struct ledger_place {
	char *path;
	const char *run_id; /* the folder of one run; NULL: all runs */
};

/* DIR/ledger.ndjson; or, when DIR is the folder of one run, the one beside it. */
static int place_find(
	const char *folder, struct arena *arena, struct ledger_place *ret_place, struct err *err)
{
	char *real = realpath(folder, NULL), *slash;

	if (!real) {
		int code = errno;

		err_set(err, ERR_USAGE, code, "cannot open %s: %s", folder, err_words(code));
		err_hint(err, "create it with assay run -- PROGRAM");
		return -code;
	}
	ret_place->path = arena_format(arena, "%s/" LEDGER_FILE, real);
	slash = strrchr(real, '/');
	if (access(ret_place->path, F_OK) < 0 && slash) {
		*slash = '\0';
		ret_place->path = arena_format(arena, "%s/" LEDGER_FILE, real);
		ret_place->run_id = arena_format(arena, "%s", slash + 1);
	}
	free(real);
	if (access(ret_place->path, F_OK) == 0)
		return 0;
	err_set(err, ERR_USAGE, ENOENT, "no ledger in %s", folder);
	err_hint(err, "assay run -- PROGRAM starts one in " DIRECTORY_ROOT);
	return -ENOENT;
}

static int ledger_show(struct cli *cli, const struct ledger_history *history, struct err *err)
{
	struct cli_page page = {0};

	while (cli_page_next(cli, &page)) {
		if (page.json)
			ledger_json(page.json, history);
		else if (cli->mode == CLI_AGENT)
			ledger_agent(page.paper, history);
		else
			ledger_text(page.paper, history);
	}
	return cli_page_end(cli, &page, err);
}

static int none_meant(const struct cli *cli, const struct ledger_place *place,
	const struct ledger_history *history, struct err *err)
{
	if (cli_has(cli, "target")) {
		err_set(err, ERR_USAGE, ENOENT, "no run in %s is of '%s'", place->path,
			cli_value(cli, "target"));
		err_hint(err, "remove --target, or see `assay ledger --last 100`");
	} else if (place->run_id) {
		err_set(err, ERR_USAGE, ENOENT, "%s has nothing about the run %s", place->path,
			place->run_id);
		err_hint(err, "`assay ledger --last 100` lists its runs");
	} else {
		err_set(err, ERR_USAGE, ENOENT, "%s has no run (%u unreadable line%s)", place->path,
			history->skipped, history->skipped == 1 ? "" : "s");
		err_hint(err, "assay run -- PROGRAM adds one");
	}
	return -ENOENT;
}

static int ledger_run(struct cli *cli, struct err *err)
{
	const char *folder = cli->operands.count ? cli->operands.at[0] : DIRECTORY_ROOT;
	arena_auto struct arena arena = {0};
	ledger_auto struct ledger ledger = {0};
	struct ledger_place place = {0};
	struct ledger_history history;
	uint64_t last;
	int r = cli_number(cli, "last", 1, 1000000, 1, &last, err);

	if (r >= 0)
		r = place_find(folder, &arena, &place, err);
	if (r >= 0)
		r = ledger_load(&ledger, place.path, err);
	if (r < 0)
		return r;
	ledger_history_make(&ledger,
		&(struct ledger_query){cli_value(cli, "target"), place.run_id, (uint32_t)last},
		&arena, &history);
	if (!history.count)
		return none_meant(cli, &place, &history, err);
	r = ledger_show(cli, &history, err);
	return r < 0 ? r : EXIT_DONE;
}

static const struct option_spec options[] = {
	{"last", 'n', "N", false, NULL, "the last N runs (default 1)"},
	{"target", 0, "TEXT", false, NULL, "only programs whose command line contains this text"},
	{0},
};

const struct command ledger_command = {
	.name = "ledger",
	.summary = "list explanations of the slowness: supported, rejected, untested, changed",
	.usage = "[DIR] [--last N] [--target TEXT]",
	.examples = (const char *const[]){"assay ledger", "the last run below assay-out/",
		"assay ledger --last 5 --target ./server",
		"the last five runs of one program, and what changed from run to run",
		"assay ledger assay-out/latest", "one run", NULL},
	.details =
		"Each named explanation is judged by rules in text files (data/hypotheses). "
		"It is supported only when two independent methods agree; one alone is "
		"inconclusive. Methods that contradict each other are a conflict, as is a verdict "
		"based on a number that two methods measure differently in the same run. What was "
		"not measured is untested, never rejected. Unreadable lines of ledger.ndjson are "
		"counted and skipped.",
	.options = options,
	.operands_max = 1,
	.run = ledger_run,
};
