/* cachegrind.c - see cachegrind.h.
 *
 * The reader is the importer's (callgrind_text.h); here its columns get the names of events.  The
 * numbers of one line of the source are added up before they are emitted: callgrind has one row per
 * instruction.  Equal lines of several texts are emitted as they come: places of a run add up. */
#include "source/cachegrind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "callgrind_loops.h"
#include "callgrind_text.h"
#include "source/emit.h"

static const struct {
	const char *column, *name;
} columns[CACHEGRIND_ALL_COLUMNS] = {
	{"Ir", "instructions"},
	{"I1mr", "L1-icache-load-misses"},
	{"ILmr", "LLC-code-misses"},
	{"Dr", "L1-dcache-loads"},
	{"D1mr", "L1-dcache-load-misses"},
	{"DLmr", "LLC-load-misses"},
	{"Dw", "L1-dcache-stores"},
	{"D1mw", "L1-dcache-store-misses"},
	{"DLmw", "LLC-store-misses"},
	{"Bc", "conditional-branches"},
	{"Bcm", "conditional-branch-misses"},
	{"Bi", "indirect-branches"},
	{"Bim", "indirect-branch-misses"},
	[CACHEGRIND_CALLS] = {"", "calls"},
	[CACHEGRIND_LOOP_ENTRIES] = {"", "loop-entries"},
	[CACHEGRIND_LOOP_TRIPS] = {"", "loop-trips"},
};

#define BIT(column) (UINT32_C(1) << (column))

/* Sums, and other names of the same. */
static const struct {
	const char *name;
	uint32_t columns;
} sums_of[] = {
	{"branches", BIT(9) | BIT(11)},
	{"branch-instructions", BIT(9) | BIT(11)},
	{"branch-loads", BIT(9) | BIT(11)},
	{"branch-misses", BIT(10) | BIT(12)},
	{"branch-load-misses", BIT(10) | BIT(12)},
	{"cache-references", BIT(1) | BIT(4) | BIT(7)},
	{"cache-misses", BIT(2) | BIT(5) | BIT(8)},
	{"LLC-loads", BIT(4)},
	{"LLC-stores", BIT(7)},
};

const char *cachegrind_name(unsigned column)
{
	return columns[column].name;
}

/* "instructions:u" is "instructions"; false when a side is asked for that is not simulated. */
static bool base_name(const char *event, size_t *ret_len)
{
	const char *colon = strchr(event, ':');

	*ret_len = colon ? (size_t)(colon - event) : strlen(event);
	return !colon || str_equal(colon, ":u");
}

static bool name_is(const char *name, const char *event, size_t len)
{
	return strlen(name) == len && memcmp(name, event, len) == 0;
}

static uint32_t columns_named(const char *event, size_t len)
{
	for (unsigned i = 0; i < CACHEGRIND_ALL_COLUMNS; i++)
		if (name_is(columns[i].name, event, len))
			return BIT(i);
	for (unsigned i = 0; i < sizeof(sums_of) / sizeof(*sums_of); i++)
		if (name_is(sums_of[i].name, event, len))
			return sums_of[i].columns;
	return 0;
}

uint32_t cachegrind_columns_of(const char *event)
{
	size_t len;

	return base_name(event, &len) ? columns_named(event, len) : 0;
}

static const char *why_not(const char *event)
{
	static const char *const clocks[] = {
		"cycles", "cpu-cycles", "ref-cycles", "bus-cycles", "task-clock", "cpu-clock"};
	size_t len;

	if (!base_name(event, &len) && columns_named(event, len))
		return "the simulator sees only user code; write the event without a modifier or "
		       "with :u";
	for (unsigned i = 0; i < sizeof(clocks) / sizeof(*clocks); i++)
		if (name_is(clocks[i], event, len))
			return "the simulator counts events, not time";
	return "the simulator has only instructions, two cache levels, branches, calls and loops";
}

static void spec_add(struct event_list *list, const char *name, size_t len)
{
	struct event_spec spec = {
		.name = arena_text(&list->arena, name, len),
		.unit = "",
		.scale = 1,
		.flags = WIRE_EVENT_SIMULATED,
	};

	vec_foreach (const struct event_spec, known, &list->specs)
		if (str_equal(known->name, spec.name))
			return;
	if (!cachegrind_columns_of(spec.name)) {
		spec.status = WIRE_EVENT_NOT_SUPPORTED;
		spec.reason = why_not(spec.name);
	}
	vec_push(&list->specs, spec);
}

/* Length of the event at `text`: up to a comma or a brace that is not between slashes. */
static size_t word_length(const char *text)
{
	bool inside = false;
	size_t len = 0;

	for (; text[len] && (inside || !strchr(",{}", text[len])); len++)
		inside ^= text[len] == '/';
	return len;
}

/* What follows a group is for each of its members: "{instructions,branches}:u". */
static const char *group_modifiers(const char *text, bool *inside, size_t *ret_len)
{
	const char *end = strchr(text, '}');

	if (*text == '{')
		*inside = true;
	*ret_len = 0;
	if (!*inside || !end || end[1] != ':')
		return "";
	*ret_len = strcspn(end + 1, ",{}");
	return end + 1;
}

int cachegrind_events_parse(struct event_list *list, const char *text, struct err *err)
{
	bool inside = false;

	while (*text) {
		str_auto struct str word = {0};
		size_t len = word_length(text), modifiers_len;
		const char *modifiers = group_modifiers(text, &inside, &modifiers_len);

		if (*text == '}') {
			inside = false;
			text += 1 + strcspn(text + 1, ",{}");
			continue;
		}
		if (!len) {
			text++;
			continue;
		}
		str_add_bytes(&word, text, len);
		str_add_bytes(&word, modifiers, modifiers_len);
		if (!cachegrind_columns_of(word.at)) {
			event_list_auto struct event_list known = {0};
			int r = columns_named(word.at, strcspn(word.at, ":"))
					? 0
					: event_list_parse(&known, word.at, err);

			if (r < 0)
				return r;
		}
		spec_add(list, word.at, word.len);
		text += len;
	}
	if (list->specs.count)
		return 0;
	err_set(err, ERR_USAGE, EINVAL, "-e names no event");
	err_hint(err, "write it like -e instructions,branch-misses");
	return -EINVAL;
}

void cachegrind_events_all(struct event_list *list)
{
	for (unsigned i = 0; i < CACHEGRIND_COLUMNS; i++)
		spec_add(list, columns[i].name, strlen(columns[i].name));
}

static uint32_t columns_of_list(const struct event_list *list)
{
	uint32_t all = 0;

	vec_foreach (const struct event_spec, spec, &list->specs)
		all |= cachegrind_columns_of(spec->name);
	return all;
}

bool cachegrind_events_need_caches(const struct event_list *list)
{
	return columns_of_list(list) & (BIT(CACHEGRIND_COLUMNS) - 1) & ~BIT(0);
}

bool cachegrind_events_need_calls(const struct event_list *list)
{
	return columns_of_list(list) >> CACHEGRIND_COLUMNS;
}

int cachegrind_emit_events(const struct event_list *list, const struct wire_sink *sink)
{
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < list->specs.count; i++)
		r = event_emit(&list->specs.at[i], i + 1, sink);
	return r;
}

/* What one line of the source has; names by their address, because they are interned. */
struct line_key {
	const char *function, *file;
	uint64_t line;
};

struct line_sums {
	struct line_key key;
	uint64_t values[CACHEGRIND_ALL_COLUMNS];
};

struct reading {
	struct cachegrind_sums *sums;
	const struct event_list *list;
	const struct wire_sink *sink;
	uint32_t *which;		 /* the columns of each event of the list */
	int column_of[CALLGRIND_EVENTS]; /* of the text's events, -1: one that we do not know */
	unsigned count;
	struct map index; /* line_key -> index of `lines` */
	vec_of(struct line_sums) lines;
	struct callgrind_loops loops;
};

static int take_events(void *context, const char *const *names, unsigned count)
{
	struct reading *reading = context;
	uint32_t taken = 0;

	for (unsigned i = 0; i < count; i++) {
		reading->column_of[i] = -1;
		for (unsigned k = 0; k < CACHEGRIND_COLUMNS; k++)
			if (str_equal(columns[k].column, names[i]) && !(taken & BIT(k))) {
				taken |= BIT(k); /* a name that comes again is not ours */
				reading->column_of[i] = (int)k;
				reading->sums->has[k] = true;
			}
	}
	reading->count = count;
	return 0;
}

static uint64_t sum_of(const uint64_t *values, uint32_t which)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < CACHEGRIND_ALL_COLUMNS; i++)
		if ((which & BIT(i)) && __builtin_add_overflow(sum, values[i], &sum))
			return UINT64_MAX;
	return sum;
}

static void number_add(uint64_t *sum, uint64_t value)
{
	if (__builtin_add_overflow(*sum, value, sum))
		*sum = UINT64_MAX;
}

static uint64_t *line_values(
	struct reading *reading, const char *function, const char *file, uint32_t line)
{
	struct line_key key = {function, file, line};
	uint32_t at;

	if (map_add(&reading->index, &key, sizeof(key), reading->lines.count, &at)) {
		vec_push(&reading->lines, (struct line_sums){.key = key});
	}
	return reading->lines.at[at].values;
}

/* One number more of a line, in its sum and in that of everything. */
static void value_add(struct reading *reading, uint64_t *values, unsigned column, uint64_t value)
{
	number_add(&values[column], value);
	number_add(&reading->sums->totals[column], value);
}

static int take_cost(void *context, const struct callgrind_cost *cost)
{
	struct reading *reading = context;
	uint64_t *values = line_values(
		reading, cost->names[CALLGRIND_FUNCTION], cost->names[CALLGRIND_FILE], cost->line);

	reading->sums->cost_lines++;
	for (unsigned i = 0; i < reading->count; i++) {
		int k = reading->column_of[i];

		if (k >= 0)
			value_add(reading, values, (unsigned)k, cost->values[i]);
		if (k == 0)
			callgrind_loops_add_cost(&reading->loops, cost, cost->values[i]);
	}
	return 0;
}

/* Where it is called from, with the callee as function. */
static int take_call(void *context, const struct callgrind_call *call)
{
	struct reading *reading = context;
	const struct callgrind_cost *from = call->from;

	value_add(reading,
		line_values(reading, call->callee, from->names[CALLGRIND_FILE], from->line),
		CACHEGRIND_CALLS, call->count);
	return 0;
}

static int take_jump(void *context, const struct callgrind_jump *jump)
{
	callgrind_loops_add_jump(&((struct reading *)context)->loops, jump);
	return 0;
}

static int take_loop(void *context, const struct callgrind_loop *loop)
{
	struct reading *reading = context;
	uint64_t *values = line_values(reading, loop->function, loop->file, loop->line);

	value_add(reading, values, CACHEGRIND_LOOP_ENTRIES, loop->entries);
	value_add(reading, values, CACHEGRIND_LOOP_TRIPS, loop->trips);
	return 0;
}

static int lines_emit(const struct reading *reading)
{
	int r = 0;

	for (uint32_t i = 0; reading->sink && r >= 0 && i < reading->lines.count; i++) {
		const struct line_sums *line = &reading->lines.at[i];
		struct emit_place place = {.function = line->key.function,
			.file = line->key.file,
			.line = (uint32_t)line->key.line};

		for (uint32_t k = 0; r >= 0 && k < reading->list->specs.count; k++) {
			place.event = k + 1;
			place.value = sum_of(line->values, reading->which[k]);
			if (place.value)
				r = emit_place(reading->sink, &place);
		}
	}
	return r;
}

static void reading_done(struct reading *reading)
{
	callgrind_loops_done(&reading->loops);
	vec_done(&reading->lines);
	map_done(&reading->index);
	free(reading->which);
}

/* Where the line before `at` begins. */
static const char *line_before(struct import_text text, const char *at)
{
	const char *start = at > text.at ? at - 1 : at;

	while (start > text.at && start[-1] != '\n')
		start--;
	return start;
}

/* Above the names of the events stands the command as it is: with newlines in its words it looks
 * like anything.  Below them no line begins so.  callgrind says right above them what positions
 * are. */
static struct import_text behind_command(struct import_text text)
{
	static const char mark[] = "\nevents:";
	struct import_text rest = text;
	const char *found, *above;

	while ((found = memmem(rest.at, rest.len, mark, sizeof(mark) - 1)))
		rest = (struct import_text){found + 1, rest.len - (size_t)(found + 1 - rest.at)};
	above = line_before(text, rest.at);
	if ((size_t)(rest.at - above) > 10 && memcmp(above, "positions:", 10) == 0)
		rest = (struct import_text){above, rest.len + (size_t)(rest.at - above)};
	return rest;
}

int cachegrind_read(struct cachegrind_sums *sums, const struct event_list *list, const char *bytes,
	size_t len, const struct wire_sink *sink)
{
	struct import_text text = behind_command((struct import_text){bytes, len});
	struct import_report report = {0};
	struct reading reading = {.sums = sums, .list = list, .sink = sink};
	struct callgrind_text reader = {.take_events = take_events,
		.take_cost = take_cost,
		.take_call = take_call,
		.take_jump = take_jump,
		.context = &reading,
		.report = &report};
	uint64_t before = sums->cost_lines;
	int r;

	if (!callgrind_text_is(text, NULL))
		return -EINVAL;
	reading.which = mem_new(list->specs.count + 1, sizeof(*reading.which));
	for (uint32_t i = 0; i < list->specs.count; i++)
		reading.which[i] = cachegrind_columns_of(list->specs.at[i].name);
	r = callgrind_text_read(&reader, text);
	if (r >= 0)
		r = callgrind_loops_find(&reading.loops, take_loop, &reading);
	if (r >= 0)
		r = lines_emit(&reading);
	callgrind_text_done(&reader);
	reading_done(&reading);
	sums->malformed += report.skipped[IMPORT_MALFORMED] + report.skipped[IMPORT_TRUNCATED];
	if (r < 0)
		return r;
	if (sums->cost_lines == before)
		return -EINVAL;
	sums->texts++;
	return 0;
}

int cachegrind_emit_counts(const struct cachegrind_sums *sums, const struct event_list *list,
	uint32_t execution, const struct wire_sink *sink)
{
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < list->specs.count; i++) {
		uint32_t which = cachegrind_columns_of(list->specs.at[i].name);
		struct wire_count count = {
			.head = {WIRE_COUNT, sizeof(count)},
			.event = i + 1,
			.execution = execution,
			.value = sum_of(sums->totals, which),
		};

		if (which)
			r = sink->take(sink->context, &count.head);
	}
	return r;
}
