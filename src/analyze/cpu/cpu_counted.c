/* cpu_counted.c - which table the events of a run come from, by their names alone.
 *
 * A run that was stored elsewhere does not tell its model number, and needs none: a table whose
 * events were all asked for gives the same formulas as the one they were asked from. */
#include <string.h>

#include "analyze/cpu_book.h"
#include "base/map.h"
#include "base/str.h"
#include "model/run.h"

/* "br_retired", "br_retired:u" and "armv8_pmuv3_0/br_retired/u" are all br_retired. */
static bool event_is_called(const char *event, const char *name)
{
	const char *slash = strchr(event, '/'), *inner = slash ? slash + 1 : event;
	size_t len = strlen(name);

	return strncasecmp(inner, name, len) == 0 &&
	       (!inner[len] || inner[len] == ':' || inner[len] == '/');
}

static bool event_is_in(const struct run *run, const char *core, const char *name)
{
	vec_foreach (const struct event_row, row, &run->events)
		if (event_is_called(run_text(run, row->name), name) &&
			str_equal(run_text(run, row->core), core))
			return true;
	return false;
}

/* How many events of the set are in the run; 0 when `whole` and one is missing. */
static uint32_t set_found(const struct cpu_table *table, const struct run *run, const char *core,
	const char *name, bool whole)
{
	const struct cpu_set *set = cpu_table_set(table, name);
	uint32_t found = 0;

	for (uint32_t i = 0; set && i < set->events_count; i++)
		found += event_is_in(run, core, table->events[set->events[i]].name);
	return set && whole && found < set->events_count ? 0 : found;
}

/* The most events of the sets are there; with `whole` all of the first one. */
static const struct cpu_table *table_counted(const struct cpu_book *book, const struct run *run,
	const char *core, const char *const *sets, bool whole)
{
	const struct cpu_table *best = NULL;
	uint32_t most = 0;

	vec_foreach (const struct cpu_table, table, &book->tables) {
		uint32_t found = set_found(table, run, core, sets[0], whole);

		for (unsigned i = 1; found && sets[i]; i++)
			found += set_found(table, run, core, sets[i], false);
		if (found > most) {
			most = found;
			best = table;
		}
	}
	return best;
}

int cpu_book_metrics(const struct cpu_book *book, const struct run *run, const char *const *sets,
	bool whole, struct metric_book *metrics, struct err *err)
{
	struct map seen = {0};
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < run->events.count; i++) {
		text_id core = run->events.at[i].core;
		const struct cpu_table *table;
		uint32_t ignored;

		if (!map_add(&seen, &core, sizeof(core), 1, &ignored))
			continue;
		table = table_counted(book, run, run_text(run, core), sets, whole);
		if (table)
			r = metric_book_add_core(metrics,
				*run_text(run, core) ? run_text(run, core) : NULL, table->name,
				table->metrics, err);
	}
	map_done(&seen);
	return r;
}
