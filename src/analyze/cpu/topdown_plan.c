/* topdown_plan.c - see topdown_plan.h.
 *
 * A group that does not fit is cut into pieces.  What costs no general counter (cycles on Intel,
 * slots and its metric events) goes into every piece, so that the pieces have a common measure by
 * which the view brings runs of different length together. */
#include "analyze/topdown_plan.h"

#include <string.h>

#include "base/str.h"

enum { COUNTERS_ASSUMED = 4, GROUP_EVENTS = 32, PLAN_PASSES = 64 };

struct planner {
	struct arena *arena;
	struct topdown_plan *plan;
	const struct topdown_core *cores;
	/* The groups of each core, in the order of its passes. */
	struct topdown_group groups[TOPDOWN_CORES][PLAN_PASSES];
	uint32_t counts[TOPDOWN_CORES];
};

/* One group while it is read. */
struct draft {
	uint32_t events[GROUP_EVENTS];
	uint32_t count;
};

static unsigned counters_of(const struct topdown_core *core)
{
	if (core->counters)
		return core->counters;
	return core->table && core->table->counters ? core->table->counters : COUNTERS_ASSUMED;
}

static bool event_is_free(const struct cpu_event *event)
{
	return event->flags & (CPU_EVENT_FIXED | CPU_EVENT_MEMBER | CPU_EVENT_LEADER);
}

static bool group_holds(const struct topdown_group *group, const uint32_t *events, uint32_t count)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < group->count; k++)
			found += group->events[k] == events[i];
	return found == count;
}

/* Level 2 often counts level 1 along: a group that is part of another one needs no run. */
static bool group_is_needless(struct planner *planner, unsigned core, const struct draft *draft)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < planner->counts[core]; i++)
		if (group_holds(&planner->groups[core][i], draft->events, draft->count))
			return true;
	for (uint32_t i = 0; i < planner->counts[core]; i++) {
		const struct topdown_group *old = &planner->groups[core][i];
		const struct topdown_group new = {.events = draft->events, .count = draft->count};

		if (!group_holds(&new, old->events, old->count))
			planner->groups[core][kept++] = *old;
	}
	planner->counts[core] = kept;
	return false;
}

static void group_push(struct planner *planner, unsigned core, const struct draft *draft, bool cut)
{
	const uint32_t *events;

	if (!draft->count || planner->counts[core] == PLAN_PASSES ||
		group_is_needless(planner, core, draft))
		return;
	events = arena_keep(planner->arena, draft->events, sizeof(*events) * draft->count);
	planner->groups[core][planner->counts[core]++] =
		(struct topdown_group){core, events, draft->count};
	planner->plan->cut |= cut;
}

static bool draft_has(const struct draft *draft, uint32_t event)
{
	for (uint32_t i = 0; i < draft->count; i++)
		if (draft->events[i] == event)
			return true;
	return false;
}

static void draft_add(struct draft *draft, uint32_t event)
{
	if (draft->count < GROUP_EVENTS && !draft_has(draft, event))
		draft->events[draft->count++] = event;
}

/* Cut a group to the counters that there are.  The first event of all is the common measure even
 * where it costs a counter (cycles on AMD). */
static void group_fit(struct planner *planner, unsigned core, const struct draft *whole)
{
	const struct cpu_table *table = planner->cores[core].table;
	unsigned counters_left = counters_of(&planner->cores[core]), general = 0, used = 0;
	struct draft base = {0}, piece;
	bool cut;

	for (uint32_t i = 0; i < whole->count; i++)
		general += !event_is_free(&table->events[whole->events[i]]);
	cut = general > counters_left;
	if (!cut) {
		group_push(planner, core, whole, false);
		return;
	}
	for (uint32_t i = 0; i < whole->count; i++)
		if (i == 0 || event_is_free(&table->events[whole->events[i]]))
			draft_add(&base, whole->events[i]);
	counters_left -= counters_left > 1 && !event_is_free(&table->events[whole->events[0]]);
	piece = base;
	for (uint32_t i = 0; i < whole->count; i++) {
		if (draft_has(&base, whole->events[i]))
			continue;
		if (used == counters_left) {
			group_push(planner, core, &piece, true);
			piece = base;
			used = 0;
		}
		draft_add(&piece, whole->events[i]);
		used++;
	}
	group_push(planner, core, &piece, true);
}

static bool event_index(
	const struct cpu_table *table, const char *name, size_t len, uint32_t *ret_index)
{
	for (uint32_t i = 0; i < table->events_count; i++)
		if (strlen(table->events[i].name) == len &&
			strncmp(table->events[i].name, name, len) == 0) {
			*ret_index = i;
			return true;
		}
	return false;
}

/* "{A,B},{A,C},D" into groups that fit. */
static void groups_read(struct planner *planner, unsigned core, const char *text)
{
	const struct cpu_table *table = planner->cores[core].table;
	struct draft draft = {0};
	bool inside = false;

	for (const char *at = text; *at;) {
		size_t len = strcspn(at, "{},");
		uint32_t event;

		if (len && event_index(table, at, len, &event)) {
			draft_add(&draft, event);
			planner->plan->metrics |= table->events[event].flags & CPU_EVENT_MEMBER;
		}
		at += len;
		inside = *at == '{' || (inside && *at != '}');
		if (!inside) {
			group_fit(planner, core, &draft);
			draft.count = 0;
		}
		at += *at != '\0';
	}
}

/* Level 2 where the table has it; else the same question in cycles, which on those CPUs tells
 * memory from the rest. */
static void table_plan(struct planner *planner, unsigned core, unsigned level)
{
	const struct cpu_table *table = planner->cores[core].table;
	const struct cpu_set *first = NULL, *second = NULL;

	if (table && level >= 1)
		first = cpu_table_set(table, "topdown");
	if (table && level >= 2) {
		second = cpu_table_set(table, "topdown2");
		second = second ? second : cpu_table_set(table, "topdown_cycles");
	}
	if (first)
		groups_read(planner, core, first->groups);
	if (second)
		groups_read(planner, core, second->groups);
}

static void pass_push(struct planner *planner, const char *generic)
{
	struct topdown_plan *plan = planner->plan;

	plan->passes[plan->pass_count++] = (struct topdown_pass){.generic = generic};
}

/* Generic events in pairs that belong together, as many pairs to a run as there are counters. */
static void generic_plan(struct planner *planner, unsigned counters, unsigned fixed, bool stalls)
{
	static const char *const pairs[] = {"{cycles,instructions}", "{branches,branch-misses}",
		"{cache-references,cache-misses}",
		"{stalled-cycles-frontend,stalled-cycles-backend}"};
	unsigned count = stalls ? 4 : 3, used = 0;
	str_auto struct str text = {0};

	for (unsigned i = 0; i < count; i++) {
		unsigned cost = i == 0 ? 2 - fixed : 2;

		if (text.len && used + cost > counters) {
			pass_push(planner, arena_str(planner->arena, &text));
			str_clear(&text);
			used = 0;
		}
		str_addf(&text, "%s%s", text.len ? "," : "", pairs[i]);
		used += cost;
	}
	pass_push(planner, arena_str(planner->arena, &text));
}

/* How many of cycles and instructions have counters of their own on this core. */
static unsigned fixed_of(const struct topdown_core *core)
{
	unsigned fixed = 0;

	for (uint32_t i = 0; core->table && i < core->table->events_count; i++)
		fixed += (core->table->events[i].flags & CPU_EVENT_FIXED) &&
			 !(core->table->events[i].flags & CPU_EVENT_LEADER);
	return fixed < 2 ? fixed : 2;
}

/* The n-th group of each core counts in the n-th run: different cores have different PMUs. */
static void tables_join(struct planner *planner, unsigned core_count)
{
	for (uint32_t n = 0; n < PLAN_PASSES; n++) {
		struct topdown_group *groups =
			arena_take(planner->arena, sizeof(*groups) * TOPDOWN_CORES);
		uint32_t count = 0;

		for (unsigned core = 0; core < core_count; core++)
			if (n < planner->counts[core])
				groups[count++] = planner->groups[core][n];
		if (!count)
			return;
		pass_push(planner, "");
		planner->plan->passes[planner->plan->pass_count - 1].groups = groups;
		planner->plan->passes[planner->plan->pass_count - 1].group_count = count;
	}
}

/* All passes into one, for a program that can run only once. */
static void passes_join(struct topdown_plan *plan, struct arena *arena)
{
	struct topdown_pass all = {.generic = ""};
	struct topdown_group *groups;
	uint32_t count = 0;

	for (uint32_t i = 0; i < plan->pass_count; i++)
		count += plan->passes[i].group_count;
	groups = arena_take(arena, sizeof(*groups) * (count + 1));
	for (uint32_t i = 0; i < plan->pass_count; i++) {
		const struct topdown_pass *pass = &plan->passes[i];

		for (uint32_t g = 0; g < pass->group_count; g++)
			groups[all.group_count++] = pass->groups[g];
		if (*pass->generic)
			all.generic = *all.generic ? arena_format(arena, "%s,%s", all.generic,
							     pass->generic)
						   : pass->generic;
	}
	all.groups = groups;
	plan->passes[0] = all;
	plan->pass_count = 1;
}

void topdown_plan_make(const struct topdown_core *cores, unsigned core_count,
	const struct topdown_wish *wish, struct arena *arena, struct topdown_plan *ret_plan)
{
	struct planner *planner = arena_take(arena, sizeof(*planner));
	unsigned counters = 16, fixed = core_count ? 2 : 0;
	bool stalls = !core_count;

	*ret_plan = (struct topdown_plan){
		.passes = arena_take(arena, sizeof(*ret_plan->passes) * (PLAN_PASSES + 4))};
	planner->arena = arena;
	planner->plan = ret_plan;
	planner->cores = cores;
	for (unsigned i = 0; i < core_count; i++) {
		unsigned own = counters_of(&cores[i]);

		table_plan(planner, i, wish->level);
		counters = own < counters ? own : counters;
		fixed = fixed_of(&cores[i]) < fixed ? fixed_of(&cores[i]) : fixed;
		stalls |= !cores[i].table;
	}
	tables_join(planner, core_count);
	generic_plan(planner, counters, fixed, stalls && wish->level);
	if (wish->together && ret_plan->pass_count > 1)
		passes_join(ret_plan, arena);
}

const char *topdown_plan_sets(
	const struct topdown_core *core, const char *const *sets, struct arena *arena)
{
	const struct cpu_table *table = core->table;
	struct topdown_plan ignored = {0};
	str_auto struct str text = {0};
	struct planner *planner;

	if (!table)
		return "";
	planner = arena_take(arena, sizeof(*planner));
	planner->arena = arena;
	planner->plan = &ignored;
	planner->cores = core;
	for (; *sets; sets++) {
		const struct cpu_set *set = cpu_table_set(table, *sets);

		if (set)
			groups_read(planner, 0, set->groups);
	}
	for (uint32_t g = 0; g < planner->counts[0]; g++) {
		const struct topdown_group *group = &planner->groups[0][g];

		for (uint32_t i = 0; i < group->count; i++)
			str_addf(&text, "%s%s",
				i   ? ","
				: g ? ",{"
				    : "{",
				table->events[group->events[i]].name);
		str_add_char(&text, '}');
	}
	return arena_str(arena, &text);
}
