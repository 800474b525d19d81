/* fake_pmu.h - a PMU that is not here: a text says what the counters of a machine read, and the
 * records go the way that those of a real one go, through ingest into a run.
 *
 *     core      cpu zen4 6            its PMU, its table in data/cpus ("-": none), its counters
 *     count     cycles 100 101 99     an event ("cpu_atom/cycles" on a hybrid), one value per round
 *     lies      branches it reads 0   an event that is not trusted, and why
 *     user                            only the user side is counted
 *     running   0.5                   the share of the time that events were on the PMU
 *
 * An event without a line is not supported. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/topdown_plan.h"
#include "base/str.h"
#include "source/event.h"
#include "wire/build.h"

enum { FAKE_ROUNDS = 8, FAKE_VALUES = 64 };

struct fake_value {
	char core[32], event[80];
	double each[FAKE_ROUNDS];
	unsigned count;
	const char *lies; /* the reason, NULL: it counts */
};

struct fake_pmu {
	struct arena arena;
	struct cpu_book cpus;
	struct topdown_core cores[TOPDOWN_CORES];
	unsigned core_count;
	struct fake_value values[FAKE_VALUES];
	unsigned value_count;
	bool user;
	double running;
	/* Where the records go, and the last ids used. */
	struct wire_sink sink;
	uint32_t events, groups, execution;
};

static inline void fake_pmu_begin(struct fake_pmu *pmu)
{
	struct err err = {0};

	*pmu = (struct fake_pmu){.running = 1};
	if (cpu_book_load(&pmu->cpus, &err) < 0)
		fail_msg("%s", err.text);
}

static inline void fake_pmu_end(struct fake_pmu *pmu)
{
	cpu_book_done(&pmu->cpus);
	arena_done(&pmu->arena);
}

static inline void fake_core(struct fake_pmu *pmu, char *words)
{
	char *name = strtok(words, " "), *table = strtok(NULL, " "), *counters = strtok(NULL, " ");
	struct topdown_core *core = &pmu->cores[pmu->core_count++];

	core->pmu = name;
	core->counters = (unsigned)atoi(counters);
	vec_foreach (const struct cpu_table, one, &pmu->cpus.tables)
		if (str_equal(one->name, table))
			core->table = one;
	assert_true(core->table || str_equal(table, "-"));
}

static inline struct fake_value *fake_value(struct fake_pmu *pmu, char *name)
{
	struct fake_value *value = &pmu->values[pmu->value_count++];
	char *slash = strchr(name, '/');

	assert_true(pmu->value_count < FAKE_VALUES);
	if (slash)
		*slash = '\0';
	snprintf(value->core, sizeof(value->core), "%s", slash ? name : "");
	snprintf(value->event, sizeof(value->event), "%s", slash ? slash + 1 : name);
	return value;
}

static inline void fake_count(struct fake_pmu *pmu, char *words)
{
	struct fake_value *value = fake_value(pmu, strtok(words, " "));
	char *word;

	while ((word = strtok(NULL, " ")))
		value->each[value->count++] = strtod(word, NULL);
}

/* One line of the text, its key cut off; false when the key is none of a PMU's. */
static inline bool fake_line(struct fake_pmu *pmu, const char *key, char *rest)
{
	if (str_equal(key, "core")) {
		fake_core(pmu, rest);
	} else if (str_equal(key, "count")) {
		fake_count(pmu, rest);
	} else if (str_equal(key, "lies")) {
		char *reason = rest + strcspn(rest, " ");

		*reason++ = '\0';
		fake_value(pmu, rest)->lies = reason;
	} else if (str_equal(key, "user")) {
		pmu->user = true;
	} else if (str_equal(key, "running")) {
		pmu->running = strtod(rest, NULL);
	} else {
		return false;
	}
	return true;
}

/* Cut the next line of a text into its key and the rest; false at the end.  Comments and empty
 * lines have no key. */
static inline bool fake_next_line(char **text, char **ret_key, char **ret_rest)
{
	char *line = strsep(text, "\n"), *rest;

	if (!line)
		return false;
	if (*line == '#')
		*line = '\0';
	rest = line + strcspn(line, " ");
	if (*rest)
		*rest++ = '\0';
	*ret_key = line;
	*ret_rest = str_trim(rest);
	return true;
}

static inline const struct fake_value *fake_find(
	const struct fake_pmu *pmu, const char *core, const char *event)
{
	for (unsigned i = 0; i < pmu->value_count; i++)
		if (str_equal(pmu->values[i].event, event) && str_equal(pmu->values[i].core, core))
			return &pmu->values[i];
	return NULL;
}

static inline void fake_execute(struct fake_pmu *pmu, uint64_t wall_ns)
{
	struct wire_execution execution = {
		.head = {WIRE_EXECUTION, sizeof(execution)},
		.execution = ++pmu->execution,
		.wall_ns = wall_ns,
		.user_ns = 90000000,
	};

	assert_int_equal(pmu->sink.take(pmu->sink.context, &execution.head), 0);
}

/* Count one event in the last execution; it belongs to the last group when `grouped`. */
static inline void fake_event(
	struct fake_pmu *pmu, uint32_t round, const char *core, const char *name, bool grouped)
{
	const struct fake_value *value = fake_find(pmu, core, name);
	double number = value && round < value->count ? value->each[round] : 0;
	struct event_spec spec = {
		.name = pmu->user ? arena_format(&pmu->arena, "%s:u", name) : name,
		.core = core,
		.unit = "",
		.reason = "",
		.scale = 1,
		.group = grouped ? pmu->groups : 0,
	};
	struct wire_count count = {
		.head = {WIRE_COUNT, sizeof(count)},
		.event = ++pmu->events,
		.execution = pmu->execution,
		.value = (uint64_t)number,
		.enabled_ns = 100000000,
		.running_ns = (uint64_t)(100000000 * pmu->running),
	};

	if (!value || value->lies) {
		spec.status = value ? WIRE_EVENT_NOT_TRUSTED : WIRE_EVENT_NOT_SUPPORTED;
		spec.reason = value ? value->lies : "this CPU has no such event";
	}
	assert_int_equal(event_emit(&spec, count.event, &pmu->sink), 0);
	if (spec.status == WIRE_EVENT_COUNTED)
		assert_int_equal(pmu->sink.take(pmu->sink.context, &count.head), 0);
}

/* "{cycles,instructions},{branches,..}": on the core `only`, or with NULL on each. */
static inline void fake_events(
	struct fake_pmu *pmu, uint32_t round, const char *only, const char *text)
{
	bool hybrid = pmu->core_count > 1;
	bool inside = false;

	for (const char *at = text; *at;) {
		size_t len = strcspn(at, "{},");
		char *name = arena_text(&pmu->arena, at, len);

		pmu->groups += *at == '{';
		inside = *at == '{' || (inside && *at != '}');
		for (unsigned c = 0; len && c < (hybrid ? pmu->core_count : 1); c++)
			if (!only || str_equal(only, pmu->cores[c].pmu))
				fake_event(
					pmu, round, hybrid ? pmu->cores[c].pmu : "", name, inside);
		at += len + (at[len] != '\0');
	}
}
