/* cachegrind_fuzz.c - any bytes as cachegrind.out or callgrind.out, and any text as events for the
 * simulator: every record is well formed and of an event that was emitted, and the counts add up to
 * the places. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "source/cachegrind.h"
#include "wire/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	uint32_t events;
	uint64_t places; /* sum over the places of the first event */
	uint64_t count;	 /* of the first event */
	bool large;	 /* some value is so large that a sum may have been cut */
};

static int seen_take(void *context, const struct wire_record *record)
{
	struct seen *seen = context;

	if (!wire_check(record, record->size))
		abort();
	if (record->type == WIRE_EVENT) {
		seen->events++;
	} else if (record->type == WIRE_PLACE) {
		const struct wire_place *place = (const struct wire_place *)record;

		if (!place->event || place->event > seen->events || !place->value)
			abort();
		seen->places += place->event == 1 ? place->value : 0;
		seen->large |= place->value > UINT32_MAX;
	} else if (record->type == WIRE_COUNT) {
		const struct wire_count *count = (const struct wire_count *)record;

		if (count->event == 1)
			seen->count = count->value;
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen seen = {0};
	struct wire_sink sink = {.take = seen_take, .context = &seen};
	event_list_auto struct event_list list = {0}, asked = {0};
	struct cachegrind_sums sums = {0};
	mem_auto char *text = mem_copy_text((const char *)data, size);
	struct err err = {0};

	/* Names that are no event of ours are looked up in sysfs, which is slow: not in whole
	 * files. */
	if (size < 80 && !memchr(data, '\n', size)) {
		if (cachegrind_events_parse(&asked, text, &err) < 0 && !*err.text)
			abort();
		return 0;
	}
	if (cachegrind_events_parse(
		    &list, size % 2 ? "loop-trips,calls,loop-entries" : "instructions", &err) < 0)
		abort();
	cachegrind_events_all(&list);
	cachegrind_emit_events(&list, &sink);
	if (cachegrind_read(&sums, &list, (const char *)data, size, &sink) < 0)
		return 0;
	cachegrind_emit_counts(&sums, &list, 1, &sink);
	if (!seen.large && seen.count != seen.places)
		abort();
	return 0;
}
