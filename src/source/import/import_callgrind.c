/* import_callgrind.c - callgrind.out and cachegrind.out: what each line of each function cost.
 *
 * Each cost line is a sample that weighs its first event, so that every view of a profile works;
 * and it is a place of each event, so that nothing of the file is lost.  The sums are kept as
 * counts.  There are no stacks: the format has pairs of caller and callee only. */
#include <string.h>

#include "callgrind_text.h"
#include "import_named.h"
#include "source/emit.h"

struct callgrind {
	struct named named;
	uint32_t events[CALLGRIND_EVENTS];
	uint64_t totals[CALLGRIND_EVENTS];
	unsigned event_count;
};

static int take_events(void *context, const char *const *names, unsigned count)
{
	struct callgrind *c = context;
	int r = 0;

	for (unsigned i = 0; r == 0 && i < count; i++)
		r = named_event(&c->named,
			&(struct named_event){names[i], "", WIRE_EVENT_SIMULATED}, &c->events[i]);
	c->event_count = count;
	return r;
}

static int emit_places(struct callgrind *c, const struct callgrind_cost *cost)
{
	struct emit_place place = {
		.function = cost->names[CALLGRIND_FUNCTION],
		.file = cost->names[CALLGRIND_FILE],
		.line = cost->line,
	};
	int r = 0;

	for (unsigned i = 0; r == 0 && i < c->event_count; i++) {
		place.event = c->events[i];
		place.value = cost->values[i];
		if (place.value && place.event)
			r = emit_place(c->named.sink, &place);
	}
	return r;
}

static int take_cost(void *context, const struct callgrind_cost *cost)
{
	struct callgrind *c = context;
	struct wire_sample sample = {
		.event = c->events[0], .cpu = UINT32_MAX, .period = cost->values[0]};
	int r;

	for (unsigned i = 0; i < c->event_count; i++)
		if (__builtin_add_overflow(c->totals[i], cost->values[i], &c->totals[i]))
			c->totals[i] = UINT64_MAX;
	if (!c->events[0]) {
		c->named.report->skipped[IMPORT_TOO_MANY]++;
		return 0;
	}
	r = emit_places(c, cost);
	if (r < 0 || !cost->values[0]) {
		c->named.report->skipped[IMPORT_SAMPLE_EMPTY] += r == 0;
		return r;
	}
	vec_push(&c->named.frames, (struct wire_named){
					   .function = cost->names[CALLGRIND_FUNCTION],
					   .module = cost->names[CALLGRIND_OBJECT],
					   .file = cost->names[CALLGRIND_FILE],
					   .addr = cost->addr,
					   .line = cost->line,
				   });
	return named_sample(&c->named, &sample);
}

static int emit_totals(const struct callgrind *c)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < c->event_count && c->events[i]; i++) {
		struct wire_count count = {
			.head = {WIRE_COUNT, sizeof(count)},
			.event = c->events[i],
			.value = c->totals[i],
		};

		r = c->named.sink->take(c->named.sink->context, &count.head);
	}
	return r < 0 ? r
		     : emit_note(c->named.sink, "simulated",
			       "the numbers come from valgrind's CPU model, not from a "
			       "measurement; only the cost of each line is kept, not who called it",
			       NULL);
}

static int read_callgrind(
	struct import_text text, const struct wire_sink *sink, struct import_report *report)
{
	struct callgrind c = {.named = named_of(sink, report)};
	struct callgrind_text reader = {.take_events = take_events,
		.take_cost = take_cost,
		.context = &c,
		.report = report};
	int r = callgrind_text_read(&reader, text);

	if (r == 0)
		r = emit_totals(&c);
	if (r == 0 && !report->samples)
		import_damage(report, "no line has a cost");
	callgrind_text_done(&reader);
	named_done(&c.named);
	return r;
}

const struct import_format import_callgrind = {
	"callgrind", IMPORT_PROFILE, callgrind_text_is, read_callgrind};
