/* events_fuzz.c - any bytes as a program's own events: every record is well formed, and what they
 * say can be ranked by each key, every span once, in order. */
#include <math.h>

#include "analyze/spans.h"
#include "import_fuzz.h"
#include "ingest/ingest.h"
#include "model/run.h"

static void ranking_check(const struct run *run, enum spans_by by)
{
	arena_auto struct arena arena = {0};
	struct spans_view view;

	spans_view_make(run, by, &arena, &view);
	if (view.span_count != run->spans.count || view.claim_count != run->claims.count)
		abort();
	for (uint32_t i = 1; by == SPANS_BY_P95 && i < view.span_count; i++) {
		double before = view.spans[i - 1].p95_ns, after = view.spans[i].p95_ns;

		if (isnan(before) ? !isnan(after) : before < after)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	run_auto struct run *run = run_open();
	struct ingest ingest = {.run = run};
	struct wire_sink sink = ingest_sink(&ingest);
	struct import_report report;
	struct err err = {0};

	if (import_bytes((const char *)data, size, "fuzz", &sink, &report, &err) == 0 &&
		report.holds == IMPORT_SPANS) {
		if (ingest.malformed)
			abort();
		ranking_check(run, SPANS_BY_CUMULATIVE);
		ranking_check(run, SPANS_BY_COUNT);
		ranking_check(run, SPANS_BY_P95);
	}
	ingest_done(&ingest);
	return import_fuzz(data, size);
}
