/* import_runs_fuzz.h - any bytes as results of a benchmark: what is taken in can be summed up and
 * audited, and what is told of it fits what came. */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/attest.h"
#include "analyze/audit.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "source/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void audit_anything(const struct run *run)
{
	arena_auto struct arena arena = {0};
	audit_book_auto struct audit_book book = {0};
	audit_view_auto struct audit_view view = {0};
	struct audit_input input = {.name = "fuzz", .run = run};
	struct attest_facts facts = {.input = &input, .repeat_count = 1};
	struct attest_view answers;
	struct err err = {0};

	if (audit_book_load(&book, &err) < 0)
		abort();
	if (audit_view_make(&input, 1, &book, &arena, &view, &err) < 0)
		abort(); /* whatever was imported can be summed up */
	vec_foreach (const struct audit_finding, finding, &view.findings)
		for (const char *at = finding->evidence; *at; at++)
			if ((unsigned char)*at < ' ')
				abort(); /* evidence is one line */
	facts.audit = &view;
	facts.repeats = view.files;
	attest_view_make(&facts, &arena, &answers);
}

static inline int import_runs_fuzz(const uint8_t *data, size_t size)
{
	run_auto struct run *run = run_open();
	struct ingest ingest = {.run = run};
	struct wire_sink sink = ingest_sink(&ingest);
	struct import_report report;
	struct err err = {0};
	int r = import_bytes((const char *)data, size, "fuzz", &sink, &report, &err);

	ingest_end(&ingest);
	ingest_done(&ingest);
	if (r < 0) {
		if (!*err.text)
			abort();
		return 0;
	}
	if (report.holds != IMPORT_BENCHMARK)
		return 0;
	if (ingest.malformed || report.executions != run->executions.count ||
		report.commands != run->commands.count)
		abort();
	run_freeze(run);
	audit_anything(run);
	return 0;
}
