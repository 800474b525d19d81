/* fingerprint_take.c - source, ingest and analyze in a row: this machine's fingerprint in a run. */
#include <errno.h>

#include "analyze/fingerprint.h"
#include "ingest/ingest.h"
#include "job/host.h"
#include "model/run.h"
#include "source/fingerprint.h"

int job_take_fingerprint_of(struct run *run, const char *storage_path, struct err *err)
{
	struct fingerprint_options options = {.storage_path = storage_path};
	struct ingest ingest = {.run = run};
	struct wire_sink sink = ingest_sink(&ingest);
	char key[FINGERPRINT_KEY];
	int r = fingerprint_take(&options, &sink, err);

	if (r < 0)
		return r;
	fingerprint_key(run, key);
	run->fingerprint = run_intern(run, key);
	return 0;
}

int job_take_fingerprint(struct run *run, struct err *err)
{
	return job_take_fingerprint_of(run, NULL, err);
}
