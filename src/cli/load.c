/* load.c - a run file, ready to be shown. */
#include "cli.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "model/store.h"

static void naming_progress(void *context, uint32_t done, uint32_t of)
{
	cli_progress(context, "naming addresses: %u of %u", done, of);
}

int cli_load_run(const struct cli *cli, const char *path, struct run **ret_run, struct err *err)
{
	struct cli progress = *cli;
	struct ingest_naming naming = {.progress = naming_progress, .context = &progress};
	int r = store_load(path, ret_run, err);

	if (r >= 0 && (*ret_run)->partial) {
		ingest_name(*ret_run, &naming);
		cli_progress(cli, NULL);
	}
	return r;
}
