/* passes.c - see passes.h.
 *
 * count_target() numbers its events and executions from 1; a sink in between gives them the numbers
 * they have in the whole.  Opening the counters anew for each run costs about a millisecond, before
 * the program starts. */
#include "drive/passes.h"

#include <string.h>

#include "wire/record.h"

struct renumber {
	const struct wire_sink *sink;
	uint32_t events, groups, executions; /* what stands before this list and run */
};

static int renumber_take(void *context, const struct wire_record *record)
{
	struct renumber *re = context;
	union {
		struct wire_record head;
		struct wire_event event;
		struct wire_execution execution;
		struct wire_count count;
		unsigned char bytes[4096];
	} copy;

	if (record->size > sizeof(copy)) /* a long note: an event is never that large */
		return re->sink->take(re->sink->context, record);
	memcpy(&copy, record, record->size);
	if (record->type == WIRE_EVENT) {
		copy.event.event += re->events;
		copy.event.group += copy.event.group ? re->groups : 0;
	} else if (record->type == WIRE_EXECUTION)
		copy.execution.execution += re->executions;
	else if (record->type == WIRE_COUNT) {
		copy.count.event += re->events;
		copy.count.execution += re->executions;
	}
	return re->sink->take(re->sink->context, &copy.head);
}

/* One run with one list. */
static int pass_count(const struct passes_options *options, uint32_t list, uint32_t done,
	const struct wire_sink *sink, struct err *err)
{
	struct renumber re = {.sink = sink, .executions = done};
	struct wire_sink through = {.take = renumber_take, .context = &re};
	struct count_options count = options->count;

	for (uint32_t i = 0; i < list; i++) {
		re.events += options->lists[i].specs.count;
		re.groups += options->lists[i].groups;
	}
	count.repeat = 1;
	count.judged = true;
	return count_target(&count, &options->lists[list], &through, err);
}

int passes_count(
	const struct passes_options *options, const struct wire_sink *sink, struct err *err)
{
	uint32_t all = options->rounds * options->list_count;

	for (uint32_t run = 0; run < all; run++) {
		int r;

		if (options->before)
			options->before(options->count.context, run + 1, all);
		r = pass_count(options, run % options->list_count, run, sink, err);
		if (r)
			return r;
	}
	return 0;
}
