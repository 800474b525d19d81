/* cpu_tables.c - see cpu_tables.h. */
#include "cpu_tables.h"

#include <stdio.h>

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

/* A set of one kind of core means that kind alone, also where another one has the same names. */
int cpu_tables_add_set(
	const struct cpu_tables *tables, const char *name, struct event_list *list, struct err *err)
{
	int added = 0, r = 0;

	for (unsigned k = 0; r >= 0 && k < tables->identity.kinds; k++) {
		const struct cpu_table *table = tables->table[k];
		const struct cpu_set *set = table ? cpu_table_set(table, name) : NULL;

		if (!set)
			continue;
		list->aliases = tables->aliases.at + tables->alias_first[k];
		list->aliases_count = tables->alias_first[k + 1] - tables->alias_first[k];
		r = event_list_parse(list, set->groups, err);
		added++;
	}
	cpu_tables_lend(tables, list);
	return r < 0 ? r : added;
}

bool cpu_tables_know_set(const struct cpu_tables *tables, const char *name)
{
	vec_foreach (const struct cpu_table, table, &tables->book.tables)
		if (cpu_table_set(table, name))
			return true;
	return false;
}

void cpu_tables_name(const struct cpu_tables *tables, char *out, size_t room)
{
	const struct cpu_kind *kind = &tables->identity.kind[0];

	for (unsigned k = 0; k < tables->identity.kinds; k++)
		if (tables->table[k]) {
			snprintf(out, room, "%s", tables->table[k]->title);
			return;
		}
	if (kind->vendor[0])
		snprintf(out, room, "%s family %u model 0x%x", kind->vendor, kind->family,
			kind->model);
	else if (kind->midr)
		snprintf(out, room, "ARM implementer 0x%02x part 0x%03x",
			(unsigned)(kind->midr >> 24) & 0xff, (unsigned)(kind->midr >> 4) & 0xfff);
	else
		snprintf(out, room, "an unknown CPU");
}
