/* causal_show.c - see causal_show.h.
 *
 *     assay causal --show gain.assay --svg gain.svg
 *     assay causal --show monday.assay tuesday.assay
 *
 * Nothing is run: experiments that were stored or imported are judged again, as they would be right
 * after they were made. */
#include "causal_show.h"

#include <errno.h>
#include <string.h>

#include "analyze/causal_view.h"
#include "base/io.h"
#include "model/run.h"
#include "model/store.h"
#include "render/answer_json.h"
#include "render/causal.h"
#include "render/export.h"
#include "render/markdown.h"
#include "render/svg.h"

static int text_write(
	const struct cli *cli, const char *option, const struct str *text, struct err *err)
{
	const char *path = cli_value(cli, option);

	return path ? io_replace(path, str_text(text), text->len, err) : 0;
}

static int files_write(const struct cli *cli, const struct run *run, const struct causal_view *view,
	struct arena *arena, struct err *err)
{
	str_auto struct str coz = {0}, markdown = {0}, svg = {0};
	const char *target = run_text(run, run->target);
	struct causal_log log;
	int r;

	causal_log_make(run, arena, &log);
	causal_coz(&coz, &log);
	causal_markdown(&markdown, view, target);
	causal_svg(&svg, view, target);
	r = text_write(cli, "coz", &coz, err);
	if (r >= 0)
		r = text_write(cli, "markdown", &markdown, err);
	return r < 0 ? r : text_write(cli, "svg", &svg, err);
}

int causal_show(
	struct cli *cli, const struct run *run, const char *judge, bool to_stderr, struct err *err)
{
	arena_auto struct arena arena = {0};
	struct cli_page page = {.run = run, .to_stderr = to_stderr};
	struct causal_view view;
	int r = causal_view_make(run, run->experiments.count ? judge : NULL, &arena, &view, err);

	if (r >= 0)
		r = files_write(cli, run, &view, &arena, err);
	if (r < 0)
		return r;
	while (cli_page_next(cli, &page)) {
		if (page.json)
			causal_json(page.json, &view, cli_value(cli, "coz"));
		else if (cli->mode == CLI_AGENT)
			causal_agent(page.paper, &view);
		else
			causal_text(page.paper, &view);
	}
	r = cli_page_end(cli, &page, err);
	return r < 0 ? r : view.pairs ? EXIT_DONE : EXIT_INCONCLUSIVE;
}

/* ---- stored runs ---- */

static int stored_join(const struct cli *cli, const char *path, struct run *all, struct str *target,
	struct err *err)
{
	run_auto struct run *run = NULL;
	const char *fingerprint, *before = run_text(all, all->fingerprint), *words;
	int r = job_load_run(&cli->host, path, &run, err);

	if (r < 0)
		return r;
	if (!run->experiments.count) {
		err_set(err, ERR_USAGE, ENODATA, "%s holds no causal experiments", path);
		err_hint(err, "make some: assay causal -o RUN -- PROGRAM; or take in those of coz: "
			      "assay import profile.coz -o RUN");
		return -ENODATA;
	}
	fingerprint = run_text(run, run->fingerprint);
	words = run_text(run, run->target);
	if (all->experiments.count && !str_equal(before, fingerprint))
		run_add_note(all, "mixed-machines",
			"the runs were made on machines, or in states of one, that differ",
			"`assay env --diff A B` tells in what");
	else if (!all->experiments.count)
		all->fingerprint = run_intern(all, fingerprint);
	if (!target->len || !strstr(str_text(target), words))
		str_addf(target, "%s%s", target->len ? "; " : "", words);
	all->partial |= run->partial;
	if (!all->started_ns || run->started_ns < all->started_ns)
		all->started_ns = run->started_ns;
	run_join_experiments(all, run);
	return 0;
}

static int option_late(const char *word, struct err *err)
{
	err_set(err, ERR_USAGE, EINVAL, "%s stands behind a run, where only runs are read", word);
	err_hint(err, "write options first: assay causal %s ... --show RUN RUN...", word);
	return -EINVAL;
}

/* With --show the words that would be a program are more runs. */
static int stored_load(const struct cli *cli, struct run *all, struct err *err)
{
	str_auto struct str target = {0};
	const char *path;
	int r = 0;

	for (unsigned i = 0; r >= 0 && (path = cli_value_at(cli, "show", i)); i++)
		r = stored_join(cli, path, all, &target, err);
	for (char **word = cli->program; r >= 0 && word && *word; word++)
		r = **word == '-' ? option_late(*word, err)
				  : stored_join(cli, *word, all, &target, err);
	all->target = run_intern(all, str_text(&target));
	all->command = run_intern(all, "causal");
	return r;
}

static int option_check(const struct cli *cli, struct err *err)
{
	static const char *const measuring[] = {
		"scope", "fixed", "waits", "budget", "period", "target-status", NULL};

	for (const char *const *name = measuring; *name; name++)
		if (cli_has(cli, *name)) {
			err_set(err, ERR_USAGE, EINVAL,
				"--%s is about experiments to be made, and --show makes none",
				*name);
			err_hint(err, "leave one of the two out");
			return -EINVAL;
		}
	return 0;
}

int causal_show_stored(struct cli *cli, struct err *err)
{
	run_auto struct run *all = run_open();
	const char *output = cli_value(cli, "output");
	store_auto struct store *store = NULL;
	int r = option_check(cli, err);

	if (r >= 0)
		r = stored_load(cli, all, err);
	if (r >= 0 && output)
		r = store_create(output, &store, err);
	if (r >= 0 && output)
		r = store_finish(store, all, err);
	if (r < 0)
		return r;
	run_freeze(all);
	return causal_show(cli, all, cli_value(cli, "progress"), false, err);
}
