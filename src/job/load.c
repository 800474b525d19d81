/* load.c - a run file, ready to be shown; the names of what was seen. */
#include <errno.h>

#include "ingest/ingest.h"
#include "job/host.h"
#include "model/run.h"
#include "model/store.h"

static void naming_progress(void *context, uint32_t done, uint32_t of)
{
	job_progress(*(const struct job_host **)context, "naming addresses: %u of %u", done, of);
}

void job_name_run(const struct job_host *host, struct run *run, struct ingest_naming naming)
{
	naming.progress = naming_progress;
	naming.context = &host;
	ingest_name(run, &naming);
	job_progress(host, NULL);
}

int job_load_run(
	const struct job_host *host, const char *path, struct run **ret_run, struct err *err)
{
	/* What ended the measuring does not end the reading of what was measured. */
	struct interrupt (*interrupted)(void) =
		job_interrupted(host).count ? NULL : host->interrupted;
	int r = store_load_until(path, interrupted, ret_run, err);

	if (r >= 0 && (*ret_run)->partial)
		job_name_run(host, *ret_run, (struct ingest_naming){.interrupted = interrupted});
	if (!interrupt_now(interrupted).count)
		return r;
	if (r >= 0)
		run_close_pointer(ret_run);
	return err_set(err, ERR_INTERRUPTED, EINTR, "interrupted while reading %s", path);
}
