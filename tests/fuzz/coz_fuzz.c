/* coz_fuzz.c - any bytes as coz's experiments: every record is well formed, no experiment comes
 * before its target, no visit before its point, and what they say can be analysed. */
#include "analyze/causal_view.h"
#include "import_fuzz.h"
#include "ingest/ingest.h"
#include "model/run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	run_auto struct run *run = run_open();
	struct ingest ingest = {.run = run};
	struct wire_sink sink = ingest_sink(&ingest);
	arena_auto struct arena arena = {0};
	struct import_report report;
	struct causal_view view;
	struct err err = {0};

	import_fuzz(data, size);
	if (import_bytes((const char *)data, size, "fuzz", &sink, &report, &err) >= 0 &&
		report.holds == IMPORT_EXPERIMENTS) {
		struct causal_log log;

		if (ingest.malformed || !run->experiments.count)
			abort();
		if (causal_view_make(run, NULL, &arena, &view, &err) >= 0 &&
			view.pairs > view.experiments)
			abort();
		causal_log_make(run, &arena, &log);
	}
	ingest_done(&ingest);
	return 0;
}
