/* fingerprint_fuzz.c - any bytes as a fingerprint document: what is accepted must compare and
 * render, and must equal itself. */
#include <stdint.h>
#include <stdlib.h>

#include "analyze/fingerprint.h"
#include "base/jsonw.h"
#include "base/str.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "render/env.h"
#include "render/machine_json.h"
#include "source/fingerprint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	run_auto struct run *run = run_open();
	struct ingest ingest = {.run = run};
	struct wire_sink sink = ingest_sink(&ingest);
	struct err err = {0};
	str_auto struct str text = {0};
	struct jsonw w = {.out = &text};

	if (fingerprint_read((const char *)data, size, "fuzz", &sink, &err) < 0) {
		if (!err.text[0] || !err.hint[0])
			abort();
		return 0;
	}
	fingerprint_comparison_auto struct fingerprint_comparison comparison;
	struct env_diff diff = {.comparison = &comparison, .a = "a", .b = "b"};

	fingerprint_compare(&comparison, run, run);
	if (comparison.class == NOT_COMPARABLE || ingest.malformed)
		abort();
	jsonw_begin_object(&w);
	env_diff_json(&w, &diff);
	jsonw_end_object(&w);
	return 0;
}
