/* cpu_tables.c - see cpu_tables.h. */
#include "job/cpu_tables.h"

#include <stdio.h>

#include "analyze/topdown_plan.h"
#include "base/str.h"

const char *cpu_tables_core(const struct cpu_tables *tables, unsigned kind)
{
	return tables->identity.kinds > 1 ? tables->identity.kind[kind].pmu : NULL;
}

static void aliases_fill(struct cpu_tables *tables)
{
	for (unsigned k = 0; k < tables->identity.kinds; k++) {
		const struct cpu_table *table = tables->table[k];

		tables->alias_first[k] = tables->aliases.count;
		for (uint32_t i = 0; table && i < table->events_count; i++)
			vec_push(&tables->aliases,
				(struct event_alias){table->events[i].name, table->events[i].config,
					table->events[i].config1, cpu_tables_core(tables, k)});
		tables->alias_first[k + 1] = tables->aliases.count;
	}
}

int cpu_tables_load(struct cpu_tables *tables, struct err *err)
{
	struct err unknown = {0};
	int r = cpu_book_load(&tables->book, err);

	if (r < 0)
		return r;
	if (cpu_identity_read("", &tables->identity, &unknown) < 0)
		return 0; /* a machine that does not say what it is has the generic events */
	for (unsigned k = 0; k < tables->identity.kinds; k++) {
		const struct cpu_kind *kind = &tables->identity.kind[k];
		const struct cpu_asked asked = {kind->vendor, kind->family, kind->model,
			kind->stepping, kind->midr, kind->pmu};

		tables->table[k] = cpu_book_match(&tables->book, &asked);
	}
	aliases_fill(tables);
	return 0;
}

void cpu_tables_done(struct cpu_tables *tables)
{
	cpu_book_done(&tables->book);
	vec_done(&tables->aliases);
}

void cpu_tables_lend(const struct cpu_tables *tables, struct event_list *list)
{
	list->aliases = tables->aliases.at;
	list->aliases_count = tables->aliases.count;
}

/* Events of one kind of core mean that kind alone, also where another one has the same names. */
static int kind_parse(const struct cpu_tables *tables, unsigned kind, const char *groups,
	struct event_list *list, struct err *err)
{
	int r;

	list->aliases = tables->aliases.at + tables->alias_first[kind];
	list->aliases_count = tables->alias_first[kind + 1] - tables->alias_first[kind];
	r = event_list_parse(list, groups, err);
	cpu_tables_lend(tables, list);
	return r;
}

int cpu_tables_add_set(
	const struct cpu_tables *tables, const char *name, struct event_list *list, struct err *err)
{
	int added = 0, r = 0;

	for (unsigned k = 0; r >= 0 && k < tables->identity.kinds; k++) {
		const struct cpu_table *table = tables->table[k];
		const struct cpu_set *set = table ? cpu_table_set(table, name) : NULL;

		if (!set)
			continue;
		r = kind_parse(tables, k, set->groups, list, err);
		added++;
	}
	return r < 0 ? r : added;
}

static unsigned counters_of(const struct pmu_report *report, const char *pmu)
{
	for (unsigned i = 0; i < report->cores; i++)
		if (str_equal(report->core[i].name, pmu) || report->cores == 1)
			return report->core[i].counters;
	return 0;
}

int cpu_tables_add_fitting(const struct cpu_tables *tables, const char *const *sets,
	const struct pmu_report *report, struct event_list *list, struct err *err)
{
	arena_auto struct arena arena = {0};
	int added = 0, r = 0;

	for (unsigned k = 0; r >= 0 && k < tables->identity.kinds; k++) {
		const struct topdown_core core = {
			.pmu = tables->identity.kind[k].pmu,
			.table = tables->table[k],
			.counters = counters_of(report, tables->identity.kind[k].pmu),
		};
		const char *groups = topdown_plan_sets(&core, sets, &arena);

		if (!*groups)
			continue;
		r = kind_parse(tables, k, groups, list, err);
		added++;
	}
	return r < 0 ? r : added;
}

bool cpu_tables_know_set(const struct cpu_tables *tables, const char *name)
{
	vec_foreach (const struct cpu_table, table, &tables->book.tables)
		if (cpu_table_set(table, name))
			return true;
	return false;
}

void cpu_tables_name(const struct cpu_tables *tables, char *out, size_t capacity)
{
	const struct cpu_kind *kind = &tables->identity.kind[0];

	for (unsigned k = 0; k < tables->identity.kinds; k++)
		if (tables->table[k]) {
			snprintf(out, capacity, "%s", tables->table[k]->title);
			return;
		}
	if (kind->vendor[0])
		snprintf(out, capacity, "%s family %u model 0x%x", kind->vendor, kind->family,
			kind->model);
	else if (kind->midr)
		snprintf(out, capacity, "ARM implementer 0x%02x part 0x%03x",
			(unsigned)(kind->midr >> 24) & 0xff, (unsigned)(kind->midr >> 4) & 0xfff);
	else
		snprintf(out, capacity, "an unknown CPU");
}
