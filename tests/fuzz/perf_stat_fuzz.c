/* perf_stat_fuzz.c - any bytes as perf stat's output: every record emitted is well formed, and the
 * view of it can be made. */
#include <stdint.h>
#include <stdlib.h>

#include "analyze/stat.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "source/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char metric[] = "name ipc\nformula instructions / cycles\nunit u\nmeaning m\n";
	run_auto struct run *run = run_open();
	struct ingest ingest = {.run = run};
	struct wire_sink sink = ingest_sink(&ingest);
	metric_book_auto struct metric_book book = {0};
	arena_auto struct arena arena = {0};
	struct import_report report;
	struct stat_view view;
	struct err err = {0};
	int r;

	r = import_bytes((const char *)data, size, "fuzz", &sink, &report, &err);
	ingest_end(&ingest);
	ingest_done(&ingest); /* the bytes may be taken for a profile: those have samples */
	if (r < 0)
		return 0;
	if (ingest.malformed || metric_book_add(&book, "m", metric, &err) < 0)
		abort();
	stat_view_make(run, &book, &arena, &view);
	return 0;
}
