/* import_events.c - what a program says of itself: JSON lines with an `event` of perf.profile.*.
 *
 *     run_start {run_id, scenario, toolchain_version or rust_version, hardware}
 *     sample_collected {sample_count, duration_sec}
 *     span_summary {span or span_name, cumulative_us or cumulative, count, p50_us or p50,
 *       p95_us or p95, p99, p99_9, max, category (CPU), evidence ("-")}
 *     hypothesis_evaluated {name, verdict, evidence}
 *     scaling_law {axis, sizes[], p95s[], verdict}
 *     run_complete {duration_sec, artifacts_written}
 *
 * Times of a span are microseconds in either spelling; p99_us, p99_9_us and max_us are known too.
 * Programs write such lines into their log, so lines of something else are counted and left.  What
 * a program did not say is unknown, never 0.  include/assay_events.h writes them. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "import_format.h"
#include "source/emit.h"
#include "wire/build.h"

enum { ROWS_MAX = 4096, WORD_MAX = 600, RECORD_SIZE = 4096, DETECT_LINES = 1000 };
#define PREFIX "perf.profile."
#define LONGEST_US 1e15 /* 31 years */

struct events_reader {
	const struct wire_sink *sink;
	struct import_report *report;
	struct arena arena;
	uint64_t starts, ends, rows;
};

/* ---- the fields of an object ---- */

static json_t *object_get(const json_t *object, const char *key, const char *other)
{
	json_t *value = json_object_get(object, key);

	return value && !json_is_null(value) ? value : json_object_get(object, other);
}

/* A text of the object as one line, cut when it is long; NULL: there is none. */
static const char *object_word(
	struct events_reader *in, const json_t *object, const char *key, const char *other)
{
	const char *text = json_string_value(object_get(object, key, other));
	char *copy;

	if (!text || !*text)
		return NULL;
	copy = arena_text(&in->arena, text, strnlen(text, WORD_MAX));
	str_flatten(copy);
	return copy;
}

/* Microseconds as nanoseconds, NAN when there are none; false: no time at all. */
static bool object_time(const json_t *object, const char *key, const char *other, double *ret_ns)
{
	const json_t *value = object_get(object, key, other);

	*ret_ns = (double)NAN;
	if (!value || json_is_null(value))
		return true;
	if (!json_is_number(value) ||
		!(json_number_value(value) >= 0 && json_number_value(value) <= LONGEST_US))
		return false;
	*ret_ns = json_number_value(value) * 1000;
	return true;
}

/* ---- events ---- */

static int skip(struct events_reader *in, enum import_skip why)
{
	in->report->skipped[why]++;
	return 0;
}

static int take_start(struct events_reader *in, const json_t *object)
{
	static const struct {
		const char *field, *key, *other;
	} fields[] = {
		{"run_id", "run_id", NULL},
		{"scenario", "scenario", NULL},
		{"toolchain", "toolchain_version", "rust_version"},
		{"hardware", "hardware", NULL},
	};
	int r = 0;

	if (in->starts++) /* a log of several runs: the first one gives it its name */
		return 0;
	for (unsigned i = 0; r == 0 && i < sizeof(fields) / sizeof(*fields); i++) {
		const char *word = object_word(in, object, fields[i].key,
			fields[i].other ? fields[i].other : fields[i].key);

		if (word)
			r = emit_field(
				in->sink, "program", fields[i].field, WIRE_FIELD_VALUE, word);
	}
	return r;
}

/* A number that the program tells about the whole run. */
static int take_fact(
	struct events_reader *in, const json_t *value, const char *name, const char *unit)
{
	struct emit_fact fact = {.name = name, .unit = unit, .witness = "program"};

	if (!value || json_is_null(value))
		return 0;
	if (json_is_array(value))
		fact.value = (double)json_array_size(value);
	else if (json_is_number(value) && json_number_value(value) >= 0)
		fact.value = json_number_value(value);
	else
		return skip(in, IMPORT_RANGE);
	return emit_fact(in->sink, &fact);
}

static int take_samples(struct events_reader *in, const json_t *object)
{
	int r = take_fact(
		in, json_object_get(object, "sample_count"), "program_samples", "samples");

	return r < 0 ? r
		     : take_fact(in, json_object_get(object, "duration_sec"),
			       "program_sampled_seconds", "s");
}

static int take_complete(struct events_reader *in, const json_t *object)
{
	int r = take_fact(in, json_object_get(object, "duration_sec"), "program_seconds", "s");

	in->ends++;
	return r < 0 ? r
		     : take_fact(in, json_object_get(object, "artifacts_written"),
			       "program_artifacts", "files");
}

/* "cpu" is CPU, "I/O" is IO; what is none of the four stays as it is written. */
static const char *category_of(const char *word)
{
	static const char *const known[] = {"CPU", "IO", "alloc", "lock"};

	if (!word)
		return "CPU";
	for (unsigned i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strcasecmp(word, known[i]) == 0)
			return known[i];
	return strcasecmp(word, "I/O") == 0 ? "IO" : word;
}

static int take_span(struct events_reader *in, const json_t *object)
{
	union {
		struct wire_span span;
		unsigned char bytes[RECORD_SIZE];
	} space;
	struct wire_builder b = wire_begin(&space, sizeof(space), WIRE_SPAN, sizeof(space.span));
	const char *name = object_word(in, object, "span", "span_name");
	const char *evidence = object_word(in, object, "evidence", "evidence");
	const json_t *count = json_object_get(object, "count");
	struct wire_span *span = &space.span;

	if (!name || !json_is_integer(count))
		return skip(in, IMPORT_MALFORMED);
	if (json_integer_value(count) < 0 ||
		!object_time(object, "cumulative_us", "cumulative", &span->total_ns) ||
		!object_time(object, "p50_us", "p50", &span->p50_ns) ||
		!object_time(object, "p95_us", "p95", &span->p95_ns) ||
		!object_time(object, "p99_us", "p99", &span->p99_ns) ||
		!object_time(object, "p99_9_us", "p99_9", &span->p999_ns) ||
		!object_time(object, "max_us", "max", &span->max_ns))
		return skip(in, IMPORT_RANGE);
	if (in->rows++ >= ROWS_MAX)
		return skip(in, IMPORT_TOO_MANY);
	span->count = (uint64_t)json_integer_value(count);
	wire_add_text(&b, &span->name, name);
	wire_add_text(
		&b, &span->category, category_of(object_word(in, object, "category", "category")));
	wire_add_text(&b, &span->evidence, evidence ? evidence : "-");
	return in->sink->take(in->sink->context, wire_end(&b));
}

static int claim_emit(
	struct events_reader *in, const char *name, const char *verdict, const char *evidence)
{
	union {
		struct wire_claim claim;
		unsigned char bytes[RECORD_SIZE];
	} space;
	struct wire_builder b = wire_begin(&space, sizeof(space), WIRE_CLAIM, sizeof(space.claim));

	if (in->rows++ >= ROWS_MAX)
		return skip(in, IMPORT_TOO_MANY);
	wire_add_text(&b, &space.claim.name, name);
	wire_add_text(&b, &space.claim.verdict, verdict);
	wire_add_text(&b, &space.claim.evidence, evidence ? evidence : "-");
	return in->sink->take(in->sink->context, wire_end(&b));
}

static int take_hypothesis(struct events_reader *in, const json_t *object)
{
	static const char *const verdicts[] = {
		"supports", "rejects", "inconclusive", "untested", "conflict"};
	const char *name = object_word(in, object, "name", "name");
	const char *verdict = object_word(in, object, "verdict", "verdict");

	for (unsigned i = 0; name && verdict && i < sizeof(verdicts) / sizeof(*verdicts); i++)
		if (str_equal(verdict, verdicts[i]))
			return claim_emit(
				in, name, verdict, object_word(in, object, "evidence", "evidence"));
	return skip(in, IMPORT_MALFORMED);
}

/* What the program says about its growth is a claim too: the sizes and times are its evidence. */
static int take_scaling(struct events_reader *in, const json_t *object)
{
	const json_t *sizes = json_object_get(object, "sizes");
	const json_t *times = json_object_get(object, "p95s");
	const char *axis = object_word(in, object, "axis", "axis");
	const char *verdict = object_word(in, object, "verdict", "verdict");
	str_auto struct str evidence = {0};

	if (!axis || !verdict || !json_is_array(sizes) || !json_is_array(times) ||
		json_array_size(sizes) != json_array_size(times))
		return skip(in, IMPORT_MALFORMED);
	for (size_t i = 0; i < json_array_size(sizes); i++) {
		const json_t *size = json_array_get(sizes, i), *time = json_array_get(times, i);

		if (!json_is_number(size) || !json_is_number(time))
			return skip(in, IMPORT_MALFORMED);
		if (evidence.len < WORD_MAX)
			str_addf(&evidence, "%sp95 %g at %g", i ? ", " : "",
				json_number_value(time), json_number_value(size));
	}
	return claim_emit(in, arena_format(&in->arena, "scaling with %s", axis), verdict,
		evidence.len ? evidence.at : NULL);
}

typedef int (*take_event)(struct events_reader *in, const json_t *object);

/* NULL: it is no event of ours. */
static take_event event_of(const json_t *object)
{
	static const struct {
		const char *name;
		take_event take;
	} events[] = {
		{"run_start", take_start},
		{"sample_collected", take_samples},
		{"span_summary", take_span},
		{"hypothesis_evaluated", take_hypothesis},
		{"scaling_law", take_scaling},
		{"run_complete", take_complete},
	};
	const char *name = json_string_value(json_object_get(object, "event"));

	for (unsigned i = 0; name && i < sizeof(events) / sizeof(*events); i++)
		if (str_starts(name, PREFIX) && str_equal(name + strlen(PREFIX), events[i].name))
			return events[i].take;
	return NULL;
}

/* ---- the file ---- */

static int take_line(struct events_reader *in, struct import_text line, bool whole)
{
	json_t *object = line.at[0] == '{' ? json_loadb(line.at, line.len, 0, NULL) : NULL;
	take_event take = event_of(object);
	int r;

	if (take)
		r = take(in, object);
	else if (line.at[0] == '{' && !object)
		r = skip(in, whole ? IMPORT_MALFORMED : IMPORT_TRUNCATED);
	else
		r = skip(in, IMPORT_FOREIGN);
	json_decref(object);
	return r;
}

static int note_runs(const struct events_reader *in)
{
	int r = 0;

	if (in->starts > 1)
		r = emit_note(in->sink, "events-several-runs",
			"the file has the events of several runs; their spans are shown side by "
			"side",
			"use a separate ASSAY_EVENTS file for each run");
	if (r == 0 && in->starts > in->ends)
		r = emit_note(in->sink, "events-incomplete",
			"a run started but never reported its end",
			"it may have crashed or may still be running; its events until then are "
			"kept");
	return r;
}

static int read_events(
	struct import_text text, const struct wire_sink *sink, struct import_report *report)
{
	struct events_reader in = {.sink = sink, .report = report};
	struct import_text line;
	bool whole;
	int r = 0;

	while (r >= 0 && import_line_next(report->quota, &text, &line, &whole)) {
		if (import_line_is_empty(line))
			continue;
		report->lines++;
		r = take_line(&in, line, whole);
		arena_done(&in.arena);
	}
	if (r >= 0)
		r = note_runs(&in);
	return r;
}

/* One of the first lines is an event; the ones before may be a program's own words. */
static bool detect(struct import_text text, struct quota *quota)
{
	struct import_text line;
	bool whole, found = false;

	for (unsigned i = 0; i < DETECT_LINES && !found; i++) {
		json_t *object;

		if (!import_line_next(quota, &text, &line, &whole))
			break;
		if (!line.len || line.at[0] != '{' ||
			!memmem(line.at, line.len, PREFIX, strlen(PREFIX)))
			continue;
		object = import_json_fits(quota, line) ? json_loadb(line.at, line.len, 0, NULL)
						       : NULL;
		found = event_of(object);
		json_decref(object);
	}
	return found;
}

const struct import_format import_events = {"events", IMPORT_SPANS, detect, read_events};
