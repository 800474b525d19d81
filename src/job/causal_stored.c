/* causal_stored.c - see causal.h: experiments of several runs as those of one. */
#include <errno.h>
#include <string.h>

#include "job/causal.h"
#include "model/store.h"

static int stored_join(const struct job_host *host, const char *path, struct run *all,
	struct str *target, struct err *err)
{
	run_auto struct run *run = NULL;
	const char *fingerprint, *before = run_text(all, all->fingerprint), *words;
	int r = job_load_run(host, path, &run, err);

	if (r < 0)
		return r;
	if (!run->experiments.count) {
		err_set(err, ERR_USAGE, ENODATA, "%s has no causal experiments", path);
		return err_hint(err,
			"record some: assay causal -o RUN -- PROGRAM; or import coz's: assay "
			"import profile.coz -o RUN");
	}
	fingerprint = run_text(run, run->fingerprint);
	words = run_text(run, run->target);
	if (all->experiments.count && !str_equal(before, fingerprint))
		run_add_note(all, "mixed-machines",
			"the runs come from different machines or machine states",
			"`assay env --diff A B` shows the differences");
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

int causal_load_stored(const struct job_host *host, const char *const *paths, const char *output,
	struct run **ret_run, struct err *err)
{
	run_auto struct run *all = run_open();
	store_auto struct store *store = NULL;
	str_auto struct str target = {0};
	int r = 0;

	for (; r >= 0 && *paths; paths++)
		r = stored_join(host, *paths, all, &target, err);
	all->target = run_intern(all, str_text(&target));
	all->command = run_intern(all, host->command);
	if (r >= 0 && output)
		r = store_create(output, &store, err);
	if (r >= 0 && output)
		r = store_finish(store, all, err);
	if (r < 0)
		return r;
	run_freeze(all);
	*ret_run = all;
	all = NULL;
	return 0;
}
