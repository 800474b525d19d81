/* import_fuzz.h - any bytes as a profile: every record is well formed, every sample can be read to
 * its end, and their number is the one that is told. */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "source/import.h"
#include "wire/record.h"
#include "wire/sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	uint64_t samples, sum;
	uint32_t events;
};

static inline int seen_take(void *context, const struct wire_record *record)
{
	struct seen *seen = context;

	if (!wire_check(record, record->size))
		abort();
	seen->events += record->type == WIRE_EVENT;
	return 0;
}

static inline void seen_bytes(struct seen *seen, const void *bytes, size_t len)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < len; i++)
		seen->sum += at[i];
}

static inline int seen_take_sample(void *context, const struct wire_sample *sample)
{
	struct seen *seen = context;

	if (!sample->event || sample->event > seen->events)
		abort();
	for (uint32_t i = 0; i < sample->chain_count; i++)
		seen->sum += sample->chain[i];
	for (uint32_t i = 0; i < sample->branch_count; i++)
		seen->sum += sample->branches[i].from;
	for (uint32_t i = 0; i < sample->named_count; i++) {
		const struct wire_named *frame = &sample->named[i];

		seen->sum += frame->function ? strlen(frame->function) : 0;
		seen->sum += frame->module ? strlen(frame->module) : 0;
		seen->sum += frame->file ? strlen(frame->file) : 0;
	}
	if (sample->stack_bytes)
		seen_bytes(seen, sample->stack, sample->stack_bytes);
	seen->samples++;
	return 0;
}

static inline int import_fuzz(const uint8_t *data, size_t size)
{
	struct seen seen = {0};
	struct wire_sink sink = {seen_take, seen_take_sample, &seen};
	struct import_report report;
	struct err err = {0};
	volatile uint64_t sum;

	if (import_bytes((const char *)data, size, "fuzz", &sink, &report, &err) < 0) {
		if (!*err.text)
			abort();
	} else if (report.samples != seen.samples) {
		abort();
	}
	sum = seen.sum; /* so that it is really read */
	(void)sum;
	return 0;
}
