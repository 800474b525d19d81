/* load.c - a run file, ready to be shown. */
#include "ingest/ingest.h"
#include "job/host.h"
#include "model/run.h"
#include "model/store.h"

static void naming_progress(void *context, uint32_t done, uint32_t of)
{
	job_progress(*(const struct job_host **)context, "naming addresses: %u of %u", done, of);
}

int job_load_run(
	const struct job_host *host, const char *path, struct run **ret_run, struct err *err)
{
	struct ingest_naming naming = {.progress = naming_progress, .context = &host};
	int r = store_load(path, ret_run, err);

	if (r >= 0 && (*ret_run)->partial) {
		ingest_name(*ret_run, &naming);
		job_progress(host, NULL);
	}
	return r;
}
