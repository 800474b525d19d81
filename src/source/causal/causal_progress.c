/* causal_progress.c - progress points: those of the program and those of the kernel side.
 *
 * The table in shared memory is written by the target, so a name is copied once and cleaned, a type
 * is checked, and a count is only ever subtracted from a later one.  Counters of the same name and
 * type are one point (two threads may have asked at once); a beginning and an ending of the same
 * name are one point too, whose latency can be told. */
#include <string.h>

#include "causal_parts.h"

void causal_progress_read(struct causal *causal, struct causal_snapshot *snapshot)
{
	for (uint32_t i = 0; i < WIRE_CAUSAL_POINTS; i++)
		snapshot->points[i] =
			__atomic_load_n(&causal->board->points[i].count, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < WIRE_CAUSAL_PROBED; i++)
		snapshot->probed[i] = __atomic_load_n(&causal->kernel->visits[i], __ATOMIC_RELAXED);
}

void causal_progress_forget(struct causal *causal)
{
	memset(causal->counters, 0, sizeof(causal->counters));
}

/* What the program called it, without what a terminal would obey. */
static void counter_see(struct causal *causal, uint32_t index)
{
	const struct wire_causal_point *shared = &causal->board->points[index];
	struct causal_counter *counter = &causal->counters[index];
	struct wire_causal_point point;

	if (counter->type || causal_load32(&shared->state) != WIRE_POINT_READY)
		return;
	causal_copy(&point, shared, sizeof(point));
	if (point.type < WIRE_POINT_THROUGHPUT || point.type >= WIRE_POINT_TYPES)
		return;
	memcpy(counter->name, point.name, sizeof(counter->name));
	counter->name[sizeof(counter->name) - 1] = '\0';
	for (char *c = counter->name; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	counter->type = point.type;
}

/* The row of a point, new or known. */
static struct causal_visits *visits_of(
	struct causal *causal, enum causal_progress_kind kind, const char *name)
{
	struct causal_visits row = {.kind = kind, .point = causal->visits.count + 1};

	vec_foreach (struct causal_visits, known, &causal->visits)
		if (known->kind == kind && strcmp(known->name, name) == 0)
			return known;
	strncpy(row.name, name, sizeof(row.name) - 1);
	vec_push(&causal->visits, row);
	return &causal->visits.at[causal->visits.count - 1];
}

static uint64_t gained(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

static void counter_conclude(struct causal *causal, uint32_t index)
{
	const struct causal_counter *counter = &causal->counters[index];
	uint64_t before = causal->before.points[index], after = causal->after.points[index];
	bool throughput = counter->type == WIRE_POINT_THROUGHPUT;
	struct causal_visits *row =
		visits_of(causal, throughput ? CAUSAL_THROUGHPUT : CAUSAL_LATENCY, counter->name);

	if (counter->type != WIRE_POINT_END) {
		row->arrivals += gained(before, after);
		row->open_before += before;
		row->open_after += after;
	}
	if (counter->type != WIRE_POINT_BEGIN) {
		row->departures += gained(before, after);
		row->open_before -= before;
		row->open_after -= after;
	}
}

static void probed_conclude(struct causal *causal, uint32_t index)
{
	struct causal_visits *row =
		visits_of(causal, CAUSAL_THROUGHPUT, causal->points.at[index].name);
	uint64_t visits = gained(causal->before.probed[index], causal->after.probed[index]);

	row->arrivals += visits;
	row->departures += visits;
}

void causal_progress_conclude(struct causal *causal)
{
	vec_foreach (struct causal_visits, row, &causal->visits)
		row->arrivals = row->departures = row->open_before = row->open_after = 0;
	for (uint32_t i = 0; i < causal->points.count; i++)
		probed_conclude(causal, i);
	for (uint32_t i = 0; i < WIRE_CAUSAL_POINTS; i++) {
		counter_see(causal, i);
		if (causal->counters[i].type)
			counter_conclude(causal, i);
	}
	/* More ends than beginnings: they began before we counted, or the program lies. */
	vec_foreach (struct causal_visits, row, &causal->visits) {
		if ((int64_t)row->open_before < 0)
			row->open_before = 0;
		if ((int64_t)row->open_after < 0)
			row->open_after = 0;
	}
}

void causal_progress_end(struct causal *causal)
{
	struct causal_visits *row = visits_of(causal, CAUSAL_END, CAUSAL_END_NAME);

	row->arrivals = row->departures = 1;
}

uint64_t causal_visits_total(struct causal *causal)
{
	uint64_t total = 0;

	causal_progress_read(causal, &causal->after);
	for (uint32_t i = 0; i < WIRE_CAUSAL_POINTS; i++)
		if (causal_load32(&causal->board->points[i].type) != WIRE_POINT_END)
			total += causal->after.points[i];
	for (uint32_t i = 0; i < causal->points.count; i++)
		total += causal->after.probed[i];
	return total;
}

const struct causal_visits *causal_visits(const struct causal *causal, uint32_t *ret_count)
{
	*ret_count = causal->visits.count;
	return causal->visits.at;
}
