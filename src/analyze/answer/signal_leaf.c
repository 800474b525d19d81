/* signal_leaf.c - the numbers of a run that signals are made of, each with its SQL.
 *
 * Where a run has several executions a leaf is their mean: quotients of means are then quotients of
 * sums.  Warm-ups do not count. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyze/function_class.h"
#include "base/stats.h"
#include "model/run.h"
#include "signal_parts.h"

const char leaf_start_only[] = "the simulation ended before the program reached its hot code";

const char *leaf_literal(const struct leaf_reader *reader, const char *name)
{
	str_auto struct str text = {0};

	str_add_sql(&text, name);
	return arena_str(reader->arena, &text);
}

struct leaf leaf_known(double value, const char *sql)
{
	return (struct leaf){value, "", sql};
}

struct leaf leaf_unknown(const char *reason, const char *sql)
{
	return (struct leaf){(double)NAN, reason, sql};
}

/* ---- facts ---- */

static struct leaf fact_leaf(const struct leaf_reader *reader, const char *name)
{
	const struct run *run = reader->run;
	const char *reason = "assay stat ran without --proc";
	const char *sql = arena_format(reader->arena,
		"(SELECT avg(value) FROM facts WHERE name = '%s' AND value IS NOT NULL)", name);
	double sum = 0;
	uint32_t count = 0;

	vec_foreach (const struct fact_row, fact, &run->facts) {
		if (!str_equal(run_text(run, fact->name), name))
			continue;
		if (fact->reason)
			reason = run_text(run, fact->reason);
		if (!isfinite(fact->value))
			continue;
		sum += fact->value;
		count++;
	}
	return count ? leaf_known(sum / count, sql) : leaf_unknown(reason, sql);
}

/* ---- executions ---- */

struct execution_column {
	const char *name;
	size_t offset;
	uint32_t with, without; /* flags that must be set, must not */
};

static const struct execution_column columns[] = {
	{"wall_ns", offsetof(struct execution_row, wall_ns), 0, 0},
	{"user_ns", offsetof(struct execution_row, user_ns), 0, EXECUTION_NO_USAGE},
	{"system_ns", offsetof(struct execution_row, system_ns), 0, EXECUTION_NO_USAGE},
	{"max_rss_bytes", offsetof(struct execution_row, max_rss_bytes), 0, EXECUTION_NO_USAGE},
	{"minor_faults", offsetof(struct execution_row, minor_faults), 0, EXECUTION_NO_USAGE},
	{"major_faults", offsetof(struct execution_row, major_faults), 0, EXECUTION_NO_USAGE},
	{"voluntary_switches", offsetof(struct execution_row, voluntary_switches), 0,
		EXECUTION_NO_USAGE},
	{"involuntary_switches", offsetof(struct execution_row, involuntary_switches), 0,
		EXECUTION_NO_USAGE},
	{"steal_ns", offsetof(struct execution_row, steal_ns), EXECUTION_STEAL, 0},
	{"pressure_ns", offsetof(struct execution_row, pressure_ns), EXECUTION_PRESSURE, 0},
};

static const struct execution_column *column_find(const char *name)
{
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		if (str_equal(columns[i].name, name))
			return &columns[i];
	return NULL;
}

/* How many are known; the values into `values`, which has room for all. */
static uint32_t column_take(
	const struct run *run, const struct execution_column *column, double *values)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < run->executions.count; i++) {
		const struct execution_row row = run_execution(run, i + 1);
		uint64_t value;

		if ((row.flags & EXECUTION_WARMUP) || (row.flags & column->without) ||
			(row.flags & column->with) != column->with)
			continue;
		memcpy(&value, (const char *)&row + column->offset, sizeof(value));
		values[count++] = (double)value;
	}
	return count;
}

/* The spread of the wall time of whole runs: its standard deviation over its mean. */
static struct leaf spread_leaf(const struct leaf_reader *reader)
{
	static const char sql[] =
		"(SELECT CASE WHEN count(*) > 2 THEN sqrt(total((wall_ns - m) * (wall_ns - m)) / "
		"(count(*) - 1)) / m END FROM executions, (SELECT avg(wall_ns) AS m FROM "
		"executions WHERE warmup + interrupted + timed_out = 0) WHERE warmup + interrupted "
		"+ timed_out = 0)";
	static const struct execution_column whole = {"wall_ns",
		offsetof(struct execution_row, wall_ns), 0,
		EXECUTION_INTERRUPTED | EXECUTION_TIMED_OUT};
	double *values =
		arena_take(reader->arena, (reader->run->executions.count + 1) * sizeof(*values));
	uint32_t count = column_take(reader->run, &whole, values);

	if (count < 3)
		return leaf_unknown("needs three runs or more", sql);
	return leaf_known(stats_variation(values, count), sql);
}

static bool execution_leaf(const struct leaf_reader *reader, const char *name, struct leaf *leaf)
{
	const struct execution_column *column = column_find(name);
	const char *sql;
	double *values;
	uint32_t count;

	if (str_equal(name, "wall_spread")) {
		*leaf = spread_leaf(reader);
		return true;
	}
	if (!column)
		return false;
	sql = arena_format(
		reader->arena, "(SELECT avg(%s) FROM executions WHERE warmup = 0)", name);
	values = arena_take(reader->arena, (reader->run->executions.count + 1) * sizeof(*values));
	count = column_take(reader->run, column, values);
	*leaf = count ? leaf_known(stats_mean(values, count), sql)
		      : leaf_unknown("no run of the program measured it", sql);
	return true;
}

/* ---- counts ---- */

/* As the view `counts` has it; false: not known. */
static bool count_value(
	const struct event_row *event, const struct count_row *count, double *ret_value)
{
	double value = event->scale * (double)count->value;

	if (count->at_ns || event->status != EVENT_COUNTED)
		return false;
	if (count->running_ns < count->enabled_ns) {
		if (!count->running_ns)
			return false;
		if (!(event->flags & EVENT_PRESCALED))
			value = round(1000 * value * (double)count->enabled_ns /
					(double)count->running_ns) /
				1000;
	}
	*ret_value = value;
	return true;
}

/* Whether totals are those of a whole execution: a simulation may be cut at its time limit. */
static bool run_is_cut(const struct run *run)
{
	bool cut = run->partial;

	for (uint32_t i = 0; i < run->executions.count; i++)
		cut |= (run_execution(run, i + 1).flags & EXECUTION_OF_A_PART) != 0;
	return cut;
}

struct count_sum {
	double sum;
	uint32_t found, executions;
	const char *reason;
};

static struct count_sum count_sum_make(
	const struct leaf_reader *reader, const char *name, bool simulated)
{
	const struct run *run = reader->run;
	struct count_sum sum = {
		.reason = simulated ? "it was not simulated" : "it was not counted"};
	bool *seen = arena_take(reader->arena, (run->executions.count + 2) * sizeof(*seen));
	double value;

	vec_foreach (const struct event_row, event, &run->events)
		if (str_equal(run_text(run, event->name), name) && event->reason)
			sum.reason = run_text(run, event->reason);
	vec_foreach (const struct count_row, count, &run->counts) {
		const struct event_row *event = &run->events.at[count->event - 1];

		if (!str_equal(run_text(run, event->name), name) ||
			simulated != ((event->flags & EVENT_SIMULATED) != 0) ||
			!count_value(event, count, &value))
			continue;
		sum.sum += value;
		sum.found++;
		sum.executions += count->execution && !seen[count->execution];
		seen[count->execution] = true;
	}
	return sum;
}

/* Per execution; the sum over core types. */
static struct leaf count_leaf(
	const struct leaf_reader *reader, const char *name, bool simulated, bool whole)
{
	const struct count_sum sum = count_sum_make(reader, name, simulated);
	const char *sql = arena_format(reader->arena,
		"(SELECT 1.0 * sum(value) / max(count(DISTINCT execution), 1) FROM counts WHERE "
		"event = %s AND at_ns IS NULL AND status = 'counted' AND value IS NOT NULL AND "
		"event IN (SELECT name FROM events WHERE simulated = %d))",
		leaf_literal(reader, name), simulated);

	if (!sum.found)
		return leaf_unknown(sum.reason, sql);
	if (simulated && reader->is_start_only)
		return leaf_unknown(leaf_start_only, sql);
	if (whole && run_is_cut(reader->run))
		return leaf_unknown("the simulation was cut short: it has rates, no totals", sql);
	return leaf_known(sum.sum / (sum.executions ? sum.executions : 1), sql);
}

/* Share of the simulated instructions in functions of a class: "place.allocator". */
static bool place_leaf(const struct leaf_reader *reader, const char *word, struct leaf *ret_leaf)
{
	const struct run *run = reader->run;
	struct function_book *book = function_book_open();
	str_auto struct str names = {0};
	double all = 0, some = 0;
	text_id last = 0;
	bool inside = false;
	const char *sql;

	vec_foreach (const struct place_row, place, &run->places) {
		const char *function = run_text(run, place->function);

		if (!str_equal(
			    run_text(run, run->events.at[place->event - 1].name), "instructions"))
			continue;
		all += (double)place->value;
		if (place->function != last) {
			last = place->function;
			inside = str_equal(
				function_class_word(function_class_of(book, function, false)),
				word);
			if (inside)
				str_addf(&names, "%s%u", names.len ? ", " : "", last);
		}
		if (inside)
			some += (double)place->value;
	}
	function_book_close(book);
	sql = arena_format(reader->arena,
		"((SELECT total(value) FROM place WHERE event IN (SELECT id FROM events WHERE name "
		"= 'instructions') AND function IN (%s)) / (SELECT total(value) FROM place WHERE "
		"event IN (SELECT id FROM events WHERE name = 'instructions')))",
		str_text(&names));
	*ret_leaf = all > 0 && reader->is_start_only ? leaf_unknown(leaf_start_only, sql)
		    : all > 0			     ? leaf_known(some / all, sql)
			      : leaf_unknown("no instructions were simulated by line", sql);
	return true;
}

/* A number of the fingerprint: "field.GROUP.NAME". */
static struct leaf field_leaf(const struct leaf_reader *reader, const char *name)
{
	size_t len = strcspn(name, ".");
	const char *group = arena_text(reader->arena, name, len);
	const char *field = name[len] ? name + len + 1 : "";
	const char *value = run_get_field(reader->run, group, field, "");
	const char *sql = arena_format(reader->arena,
		"(SELECT CAST(value AS REAL) FROM fingerprint WHERE \"group\" = '%s' AND name = "
		"'%s' AND value GLOB '[0-9]*')",
		group, field);

	return *value >= '0' && *value <= '9' ? leaf_known(strtod(value, NULL), sql)
					      : leaf_unknown("the fingerprint does not say", sql);
}

/* ---- the rest ---- */

static struct leaf quality_leaf(const struct leaf_reader *reader, const char *name)
{
	const char *sql = arena_format(
		reader->arena, "(SELECT value FROM quality_of_run WHERE name = '%s')", name);
	uint64_t value;

	return run_get_quality(reader->run, name, &value)
		       ? leaf_known((double)value, sql)
		       : leaf_unknown("the run does not say", sql);
}

/* Time of the program's own spans of one category: "span.lock_ns". */
static struct leaf span_leaf(const struct leaf_reader *reader, const char *name)
{
	const struct run *run = reader->run;
	size_t len = strcspn(name, "_");
	const char *category = arena_text(reader->arena, name, len);
	const char *sql = arena_format(reader->arena,
		"(SELECT total(total_ns) FROM spans WHERE lower(category) = '%s')", category);
	double sum = 0;

	vec_foreach (const struct span_row, span, &run->spans)
		if (strcasecmp(run_text(run, span->category), category) == 0 &&
			isfinite(span->total_ns))
			sum += span->total_ns;
	return run->spans.count ? leaf_known(sum, sql)
				: leaf_unknown("the program timed nothing itself", sql);
}

bool leaf_read(struct leaf_reader *reader, const char *name, struct leaf *ret_leaf)
{
	if (str_starts(name, "fact."))
		*ret_leaf = fact_leaf(reader, name + 5);
	else if (str_starts(name, "execution."))
		return execution_leaf(reader, name + 10, ret_leaf);
	else if (str_starts(name, "count."))
		*ret_leaf = count_leaf(reader, name + 6, false, false);
	else if (str_starts(name, "simulated."))
		*ret_leaf = count_leaf(reader, name + 10, true, false);
	else if (str_starts(name, "whole."))
		*ret_leaf = count_leaf(reader, name + 6, true, true);
	else if (str_starts(name, "place."))
		return place_leaf(reader, name + 6, ret_leaf);
	else if (str_starts(name, "field."))
		*ret_leaf = field_leaf(reader, name + 6);
	else if (str_starts(name, "quality."))
		*ret_leaf = quality_leaf(reader, name + 8);
	else if (str_starts(name, "span."))
		*ret_leaf = span_leaf(reader, name + 5);
	else if (str_starts(name, "causal."))
		return leaf_causal(reader, name + 7, ret_leaf);
	else if (str_starts(name, "growth."))
		return leaf_growth(reader, name + 7, ret_leaf);
	else
		return leaf_profile(reader, name, ret_leaf);
	return true;
}
