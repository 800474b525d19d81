/* import_perf_stat.c - the lines of perf stat added up into events and counts.
 *
 * Lines per CPU, core, socket, node or thread are summed, which is what perf shows without that
 * option; intervals (-I) are kept and summed for the whole.  Events are emitted at the end, because
 * an event may be "<not counted>" in one interval and counted in the next.
 *
 * perf scales before it prints and does not print the raw count.  The value is kept as given and
 * marked WIRE_EVENT_PRESCALED; running is perf's runtime and enabled follows from its share, so
 * that how much was extrapolated stays visible. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "import_format.h"
#include "source/emit.h"
#include "stat_line.h"
#include "wire/build.h"

enum { IMPORT_EVENTS = 4096 }; /* perf on 500 cgroups with 8 events each; more is no perf stat */

struct import_count {
	uint32_t event;
	uint64_t at_ns, value, enabled_ns, running_ns;
};

struct import_event {
	const char *name, *core, *unit;
	double scale;
	unsigned decimals; /* digits behind the point that the value keeps */
	struct import_count total;
	uint32_t last; /* its newest count, index + 1 */
	uint64_t counted, not_counted, not_supported;
	bool share_unknown; /* ran so little that perf prints 0.00 % */
};

struct import_table {
	struct arena arena;
	vec_of(struct import_event) events;
	vec_of(struct import_count) counts; /* of intervals */
	struct map ids;			    /* name, core, cgroup, occurrence -> event */
	struct map seen;		    /* what stood in this interval already -> how often */
	uint64_t at_ns;			    /* the interval `seen` is about */
	bool labels;
	double spread_pct;
	const char *spread_event; /* the widest, NULL: not repeated */
};

static void import_table_done(struct import_table *table)
{
	vec_done(&table->events);
	vec_done(&table->counts);
	map_done(&table->ids);
	map_done(&table->seen);
	arena_done(&table->arena);
}

/* perf prints clocks in ms and everything else in its own unit; whole numbers stay whole, and six
 * decimals are what -j prints. */
static struct import_event event_make(struct import_table *table, const struct stat_line *line)
{
	const char *point = strchr(line->number, '.');
	bool whole = !point || !point[1 + strspn(point + 1, "0")];
	struct import_event event = {.core = "", .unit = "", .scale = 1};

	event.name = *line->cgroup ? arena_format(&table->arena, "%s cgroup=%s", line->event,
					     line->cgroup)
				   : arena_copy(&table->arena, line->event);
	import_core_split(&table->arena, &event.name, &event.core);
	if (str_equal(line->unit, "msec")) {
		event.unit = "ns";
		event.decimals = 6;
	} else if (str_equal(line->unit, "ns")) {
		event.unit = "ns";
	} else if (*line->unit || !whole) {
		event.unit = arena_copy(&table->arena, line->unit);
		event.decimals = 6;
		event.scale = 1e-6;
	}
	return event;
}

/* How often this event stood on this label in this interval before: `-e cycles,cycles` are two
 * events, CPU0 and CPU1 are one. */
static uint32_t occurrence(struct import_table *table, const struct stat_line *line)
{
	str_auto struct str key = {0};
	uint32_t before = 0;

	if (line->at_ns != table->at_ns)
		map_done(&table->seen);
	table->at_ns = line->at_ns;
	str_addf(&key, "%s\n%s\n%s", line->label, line->event, line->cgroup);
	map_get(&table->seen, key.at, key.len, &before);
	map_put(&table->seen, key.at, key.len, before + 1);
	return before;
}

/* 0, or -E2BIG when it would be one event too many. */
static int event_find(struct import_table *table, const struct stat_line *line, uint32_t *ret_id)
{
	str_auto struct str key = {0};

	str_addf(&key, "%s\n%s\n%u", line->event, line->cgroup, occurrence(table, line));
	if (map_get(&table->ids, key.at, key.len, ret_id))
		return 0;
	if (table->events.count == IMPORT_EVENTS)
		return -E2BIG;
	*ret_id = table->events.count;
	vec_push(&table->events, event_make(table, line));
	map_put(&table->ids, key.at, key.len, *ret_id);
	return 0;
}

/* "122.2792" with 6 decimals is 122279200, exactly.  -ERANGE when it does not fit. */
static int number_fixed(const char *text, unsigned decimals, uint64_t *ret_value)
{
	uint64_t value = 0;
	unsigned behind = 0;
	bool point = false;

	for (; *text; text++) {
		if (*text == '.') {
			point = true;
			continue;
		}
		if (point && behind++ >= decimals)
			continue;
		if (__builtin_mul_overflow(value, 10, &value) ||
			__builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
			return -ERANGE;
	}
	for (; behind < decimals; behind++)
		if (__builtin_mul_overflow(value, 10, &value))
			return -ERANGE;
	*ret_value = value;
	return 0;
}

/* 0, or -ERANGE with `sum` unchanged. */
static int count_add(struct import_count *sum, const struct import_count *more)
{
	struct import_count result = *sum;

	if (__builtin_add_overflow(sum->value, more->value, &result.value) ||
		__builtin_add_overflow(sum->enabled_ns, more->enabled_ns, &result.enabled_ns) ||
		__builtin_add_overflow(sum->running_ns, more->running_ns, &result.running_ns))
		return -ERANGE;
	*sum = result;
	return 0;
}

static int table_add_number(struct import_table *table, uint32_t id, const struct stat_line *line)
{
	struct import_event *event = &table->events.at[id];
	struct import_count count = {.event = id, .at_ns = line->at_ns};
	double enabled_ns = (double)line->runtime_ns;

	if (line->running_share > 0)
		enabled_ns /= line->running_share;
	else
		event->share_unknown = true;
	if (enabled_ns > 9e18 || number_fixed(line->number, event->decimals, &count.value) < 0)
		return -ERANGE;
	count.running_ns = line->runtime_ns;
	count.enabled_ns =
		line->running_share < 1 ? (uint64_t)llround(enabled_ns) : line->runtime_ns;
	if (count_add(&event->total, &count) < 0)
		return -ERANGE;
	event->counted++;
	if (!line->at_ns)
		return 0;
	if (event->last && table->counts.at[event->last - 1].at_ns == line->at_ns)
		return count_add(&table->counts.at[event->last - 1], &count);
	vec_push(&table->counts, count);
	event->last = table->counts.count;
	return 0;
}

static int table_add(struct import_table *table, const struct stat_line *line)
{
	double spread_pct = line->spread ? strtod(line->spread, NULL) : 0;
	struct import_event *event;
	uint32_t id;
	int r = event_find(table, line, &id);

	if (r < 0)
		return r;
	event = &table->events.at[id];
	table->labels |= *line->label != '\0';
	if (line->spread && (!table->spread_event || spread_pct > table->spread_pct)) {
		table->spread_event = event->name;
		table->spread_pct = spread_pct;
	}
	if (line->value == STAT_NUMBER)
		return table_add_number(table, id, line);
	if (line->value == STAT_NOT_COUNTED)
		event->not_counted++;
	else
		event->not_supported++;
	return 0;
}

/* A switch and a migration happen in the kernel: restricted to user mode they read 0 always
 * (Linux 6.18: context-switches:u 0, context-switches 1,059), and perf adds the :u by itself when
 * it is not permitted to see the kernel. */
static bool event_is_blind(const char *name)
{
	return str_equal(name, "context-switches:u") || str_equal(name, "cs:u") ||
	       str_equal(name, "cpu-migrations:u") || str_equal(name, "migrations:u");
}

static enum wire_event_status event_status(
	const struct import_event *event, const char **ret_reason)
{
	if (event->counted && event_is_blind(event->name)) {
		*ret_reason =
			"it happens in the kernel, but was counted in user mode only (:u), where "
			"it is always 0";
		return WIRE_EVENT_NOT_TRUSTED;
	}
	if (event->counted && event->share_unknown) {
		*ret_reason = "it ran for less time than perf can print (0.00 %)";
		return WIRE_EVENT_NOT_TRUSTED;
	}
	*ret_reason = NULL;
	if (event->counted)
		return WIRE_EVENT_COUNTED;
	if (event->not_counted) {
		*ret_reason = "perf says <not counted>: it never got a counter";
		return WIRE_EVENT_NOT_COUNTED;
	}
	if (!event->not_supported) {
		*ret_reason = "perf's value does not fit in 64 bits";
		return WIRE_EVENT_NOT_TRUSTED;
	}
	*ret_reason = "perf says <not supported>: that machine has no such event";
	return WIRE_EVENT_NOT_SUPPORTED;
}

static int emit_event(const struct wire_sink *sink, const struct import_event *event, uint32_t id)
{
	union {
		struct wire_event event;
		unsigned char bytes[8192];
	} space;
	struct wire_builder b = wire_begin(&space, sizeof(space), WIRE_EVENT, sizeof(space.event));
	const char *reason;

	space.event.event = id;
	space.event.status = event_status(event, &reason);
	space.event.flags = WIRE_EVENT_PRESCALED;
	space.event.scale = event->scale;
	wire_add_text(&b, &space.event.unit, event->unit);
	wire_add_text(&b, &space.event.core, event->core);
	wire_add_text(&b, &space.event.reason, reason);
	wire_add_text(&b, &space.event.name, event->name);
	return sink->take(sink->context, wire_end(&b));
}

static int emit_count(
	const struct wire_sink *sink, const struct import_count *from, uint32_t execution)
{
	struct wire_count count = {
		.head = {WIRE_COUNT, sizeof(count)},
		.event = from->event + 1,
		.execution = execution,
		.at_ns = from->at_ns,
		.value = from->value,
		.enabled_ns = from->enabled_ns,
		.running_ns = from->running_ns,
	};

	return sink->take(sink->context, &count.head);
}

/* duration_time, when it was asked for, is all perf says about the execution. */
static int emit_execution(
	const struct wire_sink *sink, const struct import_table *table, uint32_t *ret_execution)
{
	struct wire_execution execution = {
		.head = {WIRE_EXECUTION, sizeof(execution)},
		.execution = 1,
		.flags = WIRE_EXECUTION_NO_USAGE,
	};

	*ret_execution = 0;
	vec_foreach (const struct import_event, event, &table->events) {
		if (!event->counted || !str_equal(event->name, "duration_time"))
			continue;
		execution.wall_ns = event->total.value;
		*ret_execution = 1;
		return sink->take(sink->context, &execution.head);
	}
	return 0;
}

/* Events of hardware that ran and saw nothing at all: virtual PMUs do that instead of failing. */
static bool event_is_suspicious(const struct import_event *event)
{
	static const char *const software[] = {"context-switches", "cs", "cpu-migrations",
		"migrations", "page-faults", "faults", "minor-faults", "major-faults",
		"alignment-faults", "emulation-faults", "cgroup-switches", "bpf-output", "dummy",
		"user_time", "system_time", "task-clock", "cpu-clock", NULL};
	size_t len = strcspn(event->name, ": ");

	if (!event->counted || event->total.value || !event->total.running_ns ||
		event_is_blind(event->name))
		return false;
	for (unsigned i = 0; software[i]; i++)
		if (strlen(software[i]) == len && !strncmp(software[i], event->name, len))
			return false;
	/* sched:sched_switch: a tracepoint may well stay silent. */
	return event->name[len] != ':' || strlen(event->name + len) <= 4;
}

static int emit_table_notes(const struct wire_sink *sink, const struct import_table *table)
{
	str_auto struct str zeros = {0}, holes = {0}, text = {0};
	unsigned scaled = 0;
	int r = 0;

	vec_foreach (const struct import_event, event, &table->events) {
		scaled += event->total.running_ns < event->total.enabled_ns;
		if (event_is_suspicious(event))
			str_addf(&zeros, "%s%s", zeros.len ? ", " : "", event->name);
		if (event->counted && (event->not_counted || event->not_supported))
			str_addf(&holes, "%s%s", holes.len ? ", " : "", event->name);
	}
	if (scaled) {
		str_addf(&text, "perf had too few counters for %u of the events and estimated them",
			scaled);
		r = emit_note(
			sink, "events-multiplexed", str_text(&text), "count fewer events at once");
	}
	if (r == 0 && zeros.len) {
		str_clear(&text);
		str_addf(&text, "counted nothing while running: %s", zeros.at);
		r = emit_note(sink, "counters-zero", str_text(&text),
			"a virtual PMU may open an event and never count it: do not trust these "
			"zeros");
	}
	if (r == 0 && holes.len) {
		str_clear(&text);
		str_addf(&text,
			"not counted in some intervals or on some CPUs: %s; totals cover the rest",
			holes.at);
		r = emit_note(sink, "counts-incomplete", str_text(&text), NULL);
	}
	if (r == 0 && table->labels)
		r = emit_note(sink, "counts-summed",
			"perf listed CPUs, cores or threads separately; their sum is kept", NULL);
	if (r == 0 && table->spread_event) {
		str_clear(&text);
		str_addf(&text,
			"the counts are means of repeated runs (perf stat -r) that differ by up to "
			"%.2f %% (%s)",
			table->spread_pct, table->spread_event);
		r = emit_note(sink, "counts-are-means", str_text(&text),
			"perf does not say how many runs there were");
	}
	return r;
}

static int table_emit(const struct import_table *table, const struct wire_sink *sink)
{
	uint32_t execution = 0;
	int r = emit_execution(sink, table, &execution);

	for (uint32_t i = 0; r == 0 && i < table->events.count; i++)
		r = emit_event(sink, &table->events.at[i], i + 1);
	for (uint32_t i = 0; r == 0 && i < table->counts.count; i++)
		r = emit_count(sink, &table->counts.at[i], execution);
	for (uint32_t i = 0; r == 0 && i < table->events.count; i++) {
		struct import_count total = table->events.at[i].total;

		total.event = i;
		if (table->events.at[i].counted)
			r = emit_count(sink, &total, execution);
	}
	return r < 0 ? r : emit_table_notes(sink, table);
}

/* Every line into the table; `separator` NULL: JSON. */
static void table_read(struct import_table *table, struct import_text text, const char *separator,
	struct import_report *report)
{
	struct import_text line;
	bool whole;

	while (import_line_next(report->quota, &text, &line, &whole)) {
		arena_auto struct arena arena = {0};
		struct stat_line parsed;
		int r;

		if (import_line_is_empty(line))
			continue;
		report->lines++;
		r = separator ? stat_line_csv(line, separator, &arena, &parsed)
			      : stat_line_json(line, &arena, &parsed);
		if (r < 0)
			report->skipped[whole ? -r - 1 : IMPORT_TRUNCATED]++;
		else if ((r = table_add(table, &parsed)) < 0)
			report->skipped[r == -E2BIG ? IMPORT_TOO_MANY : IMPORT_RANGE]++;
	}
}

static bool detect_json(struct import_text text, struct quota *quota)
{
	static const char key[] = "\"counter-value\"";
	struct import_text line;
	bool whole;

	while (import_line_next(quota, &text, &line, &whole)) {
		arena_auto struct arena arena = {0};
		struct stat_line parsed;

		if (line.len && memmem(line.at, line.len, key, sizeof(key) - 1) &&
			stat_line_json(line, &arena, &parsed) == 0)
			return true;
	}
	return false;
}

/* The separator of the first line that reads well with it. */
static bool csv_separator(
	struct import_text text, struct quota *quota, char separator[STAT_SEPARATOR])
{
	struct import_text line;
	bool whole;

	while (import_line_next(quota, &text, &line, &whole)) {
		arena_auto struct arena arena = {0};
		struct stat_line parsed;

		if (!import_line_is_empty(line) && stat_separator_find(line, separator) &&
			stat_line_csv(line, separator, &arena, &parsed) == 0)
			return true;
	}
	return false;
}

static bool detect_csv(struct import_text text, struct quota *quota)
{
	char separator[STAT_SEPARATOR];

	return csv_separator(text, quota, separator);
}

static int read_json(
	struct import_text text, const struct wire_sink *sink, struct import_report *report)
{
	struct import_table table = {0};
	int r;

	table_read(&table, text, NULL, report);
	r = table_emit(&table, sink);
	import_table_done(&table);
	return r;
}

static int read_csv(
	struct import_text text, const struct wire_sink *sink, struct import_report *report)
{
	char separator[STAT_SEPARATOR];
	struct import_table table = {0};
	int r;

	if (!csv_separator(text, report->quota, separator))
		return quota_is_left(report->quota) ? -EINVAL : 0;
	table_read(&table, text, separator, report);
	r = table_emit(&table, sink);
	import_table_done(&table);
	return r;
}

const struct import_format import_perf_stat_json = {
	"perf-stat-json", IMPORT_COUNTS, detect_json, read_json};
const struct import_format import_perf_stat_csv = {
	"perf-stat-csv", IMPORT_COUNTS, detect_csv, read_csv};
