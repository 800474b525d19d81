/* topdown_tree.c - counts of one kind of core into nodes.
 *
 * The groups of a tree may come from different runs of the program, whose lengths differ a little.
 * A quotient inside a group is right as it is; across groups the counts of each are first scaled by
 * an event that all have in common (cycles or slots), so that the runs are of one length.
 * Nodes are computed for each round of runs, and the median is shown with the bounds: never a node
 * of medians, which no run ever had. */
#include <math.h>
#include <string.h>

#include "base/interval.h"
#include "base/mem.h"
#include "base/stats.h"
#include "base/str.h"
#include "topdown_parts.h"

enum { DEPENDENCY_DEPTH = 8, TREE_EVENTS = 256 };

#define ROUNDING 0.0005 /* less than what is shown is no disagreement */

/* One event of the tree as one group counted it. */
struct cell {
	struct stat_event *counted;
	uint32_t event; /* of the table */
	uint32_t group;
};

struct tree_work {
	const struct cpu_table *table;
	const struct topdown_core *core;
	struct topdown_view *view;
	struct arena *arena;
	struct cell cells[TREE_EVENTS];
	uint32_t cell_count;
	uint32_t measure; /* the table's event that brings runs together */
	uint32_t rounds;
	double *values; /* rounds x nodes, raw */
	double *counts; /* of one round, per event of the table */
};

/* "CYCLES:u" is the table's CYCLES. */
static bool name_matches(const char *counted, const char *name)
{
	size_t len = strlen(name);

	return strncmp(counted, name, len) == 0 && (!counted[len] || counted[len] == ':');
}

static bool table_find(const struct cpu_table *table, const char *counted, uint32_t *ret_event)
{
	for (uint32_t i = 0; i < table->events_count; i++)
		if (name_matches(counted, table->events[i].name)) {
			*ret_event = i;
			return true;
		}
	return false;
}

/* The events of this core that come from its table.  Generic events have the names that the kernel
 * gives them and are the same events to the eye; only those in a pass of the table count here. */
static void cells_find(struct tree_work *work, bool hybrid)
{
	struct stat_view *stat = &work->view->stat;

	for (uint32_t i = 0; i < stat->event_count && work->cell_count < TREE_EVENTS; i++) {
		struct stat_event *counted = &stat->events[i];
		uint32_t event;

		if (hybrid && !str_equal(counted->core, work->core->pmu))
			continue;
		if (!table_find(work->table, counted->name, &event))
			continue;
		work->cells[work->cell_count++] = (struct cell){counted, event, counted->group};
	}
}

/* The event that the most groups have, the first of those: cycles, or slots. */
static void measure_find(struct tree_work *work)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < work->cell_count; i++) {
		uint32_t count = 0;

		for (uint32_t k = 0; k < work->cell_count; k++)
			count += work->cells[k].event == work->cells[i].event;
		if (count > most) {
			most = count;
			work->measure = work->cells[i].event;
		}
	}
}

/* The value of a cell in a round: the run of its group in that round. */
static double cell_value(const struct tree_work *work, const struct cell *cell, uint32_t round)
{
	const struct stat_view *stat = &work->view->stat;
	uint32_t passes = work->view->facts->passes ? work->view->facts->passes : 1;
	uint32_t first = round * passes;

	for (uint32_t x = first; x < first + passes && x < stat->execution_count; x++)
		if (stat->executions[x].used && !isnan(cell->counted->each[x]))
			return cell->counted->each[x];
	return (double)NAN;
}

/* What the counts of `group` are multiplied by in this round. */
static double group_factor(const struct tree_work *work, uint32_t group, uint32_t round)
{
	double first = (double)NAN, own = (double)NAN;

	for (uint32_t i = 0; i < work->cell_count; i++) {
		const struct cell *cell = &work->cells[i];

		if (cell->event != work->measure)
			continue;
		if (isnan(first))
			first = cell_value(work, cell, round);
		if (cell->group == group)
			own = cell_value(work, cell, round);
	}
	return first > 0 && own > 0 ? first / own : 1;
}

static void round_compute(struct tree_work *work, uint32_t round)
{
	for (uint32_t i = 0; i < work->table->events_count; i++)
		work->counts[i] = (double)NAN;
	for (uint32_t i = 0; i < work->cell_count; i++) {
		const struct cell *cell = &work->cells[i];

		if (cell->counted->known && isnan(work->counts[cell->event]))
			work->counts[cell->event] = cell_value(work, cell, round) *
						    group_factor(work, cell->group, round);
	}
	cpu_table_compute(work->table, work->counts, work->core->width,
		work->values + (size_t)round * work->table->nodes_count);
}

static bool cell_is_zero(const struct tree_work *work, const struct cell *cell)
{
	const struct stat_view *stat = &work->view->stat;

	for (uint32_t x = 0; x < stat->execution_count; x++)
		if (!isnan(cell->counted->each[x]) && cell->counted->each[x] > 0)
			return false;
	return true;
}

/* Whether the program ran on this core at all; without a hybrid CPU it did. */
static bool core_was_used(const struct tree_work *work)
{
	const struct stat_view *stat = &work->view->stat;

	if (work->view->facts->core_count < 2)
		return stat->execution_count > 0;
	for (uint32_t i = 0; i < work->cell_count; i++)
		if (!cell_is_zero(work, &work->cells[i]))
			return true;
	for (uint32_t i = 0; i < stat->event_count; i++)
		if (stat->events[i].known && stat->events[i].value > 0 &&
			str_equal(stat->events[i].core, work->core->pmu))
			return true;
	return false;
}

/* An event that must count and did not although the program ran: a silent zero. */
static void cells_distrust(struct tree_work *work)
{
	bool alive = core_was_used(work);

	for (uint32_t i = 0; alive && i < work->cell_count; i++) {
		struct cell *cell = &work->cells[i];
		const struct cpu_event *event = &work->table->events[cell->event];

		if (!cell->counted->known || !(event->flags & CPU_EVENT_NONZERO) ||
			!cell_is_zero(work, cell))
			continue;
		cell->counted->known = false;
		cell->counted->value = (double)NAN;
		cell->counted->status = "not_trusted";
		cell->counted->reason =
			"it reads 0, which no running program does: this PMU does not really "
			"count it";
	}
}

static const struct cell *cell_of(const struct tree_work *work, const char *name)
{
	for (uint32_t i = 0; i < work->cell_count; i++)
		if (str_equal(work->table->events[work->cells[i].event].name, name))
			return &work->cells[i];
	return NULL;
}

static const struct cpu_value *value_of(const struct cpu_table *table, const char *name)
{
	for (uint32_t i = 0; i < table->values_count; i++)
		if (str_equal(table->values[i].name, name))
			return &table->values[i];
	for (uint32_t i = 0; i < table->nodes_count; i++)
		if (str_equal(table->nodes[i].value.name, name))
			return &table->nodes[i].value;
	return NULL;
}

static double coverage_of(
	const struct tree_work *work, const struct cpu_value *value, unsigned depth);

/* NAN: it takes an event that was not counted, so this alternative was not used. */
static double coverage_of_formula(
	const struct tree_work *work, const struct formula *formula, unsigned depth)
{
	double least = 1;

	for (uint32_t i = 0; i < formula->names_count; i++) {
		const char *name = formula->names[i];
		const struct cell *cell = cell_of(work, name);
		const struct cpu_value *inner = value_of(work->table, name);
		double part = 1;

		if (!cell && cpu_table_event(work->table, name))
			return (double)NAN;
		if (cell && !isnan(cell->counted->running_share))
			part = cell->counted->running_share;
		else if (!cell && inner && depth < DEPENDENCY_DEPTH)
			part = coverage_of(work, inner, depth + 1);
		least = part < least ? part : least;
	}
	return least;
}

/* The least time on the PMU of all events that a value is made from. */
static double coverage_of(
	const struct tree_work *work, const struct cpu_value *value, unsigned depth)
{
	for (unsigned a = 0; a < value->alternatives_count; a++) {
		double part = coverage_of_formula(work, &value->alternatives[a], depth);

		if (!isnan(part))
			return part;
	}
	return 1;
}

/* Median and bounds of a node over the rounds. */
static void node_fill(const struct tree_work *work, uint32_t index, struct topdown_node *node)
{
	mem_auto double *sorted = mem_new(work->rounds + 1, sizeof(*sorted));
	struct interval bounds;
	uint32_t count = 0;

	for (uint32_t r = 0; r < work->rounds; r++) {
		double value = work->values[(size_t)r * work->table->nodes_count + index];

		if (!isnan(value))
			sorted[count++] = value;
	}
	node->known = count > 0;
	if (!count)
		return;
	stats_sort(sorted, count);
	node->raw = stats_median_sorted(sorted, count);
	node->share = fmin(fmax(node->raw, 0), 1);
	if (count > 1) {
		bounds = interval_of_quantile(sorted, count, 0.5, 0.95);
		node->lo = fmin(fmax(isfinite(bounds.lo) ? bounds.lo : sorted[0], 0), 1);
		node->hi = fmin(fmax(isfinite(bounds.hi) ? bounds.hi : sorted[count - 1], 0), 1);
	}
	node->coverage = coverage_of(work, &work->table->nodes[index].value, 0);
	if (node->raw < -ROUNDING || node->raw > 1 + ROUNDING)
		node->flag = arena_format(work->arena,
			"the result is %.1f %% and is shown as %.0f %%: the counters disagree",
			node->raw * 100, node->share * 100);
}

/* Why a node has no value; NULL when one of its events was never asked for. */
static const char *node_reason(const struct tree_work *work, const struct cpu_node *source)
{
	const struct cpu_event *missing = cpu_node_missing(work->table, source, work->counts);
	const struct cell *cell = missing ? cell_of(work, missing->name) : NULL;

	if (missing && !cell)
		return NULL;
	if (!missing)
		return "its denominator is 0";
	return arena_format(work->arena, "%s: %s", missing->name,
		*cell->counted->reason ? cell->counted->reason : "it was not counted");
}

static enum metric_assessment node_assess(
	const struct topdown_node *node, const struct topdown_node *parent)
{
	bool useful = str_starts(node->advice, "retiring") && !str_ends(node->advice, ".heavy");

	if (!node->known || isnan(node->threshold))
		return METRIC_NONE;
	if (useful)
		return node->share > node->threshold ? METRIC_HEALTHY : METRIC_NONE;
	if (parent && parent->assessment != METRIC_INVESTIGATE &&
		parent->assessment != METRIC_WATCH && !str_starts(parent->advice, "retiring"))
		return METRIC_NONE; /* a part of what is small is smaller */
	if (!isnan(node->lo) && node->lo <= node->threshold && node->hi > node->threshold)
		return METRIC_WATCH;
	return node->share > node->threshold ? METRIC_INVESTIGATE : METRIC_HEALTHY;
}

static struct topdown_node *node_named(struct topdown_tree *tree, const char *name)
{
	for (uint32_t i = 0; i < tree->node_count; i++)
		if (str_equal(tree->nodes[i].name, name))
			return &tree->nodes[i];
	return NULL;
}

/* Append node `index` of the table, then its children. */
static void node_add(struct tree_work *work, uint32_t index, struct topdown_tree *tree)
{
	const struct cpu_node *source = &work->table->nodes[index];
	const char *parent =
		source->parent == CPU_NO_NODE ? "" : work->table->nodes[source->parent].value.name;
	struct topdown_node node = {
		.name = source->value.name,
		.meaning = source->meaning,
		.source = source->source,
		.advice = source->advice,
		.parent = parent,
		.level = source->level,
		.reason = "",
		.flag = "",
		.share = (double)NAN,
		.raw = (double)NAN,
		.lo = (double)NAN,
		.hi = (double)NAN,
		.coverage = (double)NAN,
		.threshold = source->threshold,
	};

	node_fill(work, index, &node);
	if (!node.known)
		node.reason = node_reason(work, source);
	if (!node.reason)
		return;
	node.assessment = node_assess(&node, *parent ? node_named(tree, parent) : NULL);
	tree->nodes[tree->node_count++] = node;
	for (uint32_t i = index + 1; i < work->table->nodes_count; i++) {
		const struct cpu_node *child = &work->table->nodes[i];

		if (child->parent == (int)index && child->level <= work->view->facts->level)
			node_add(work, i, tree);
	}
}

/* A tree without any value says why once. */
static void tree_reason(struct tree_work *work, struct topdown_tree *tree)
{
	for (uint32_t i = 0; i < tree->node_count; i++)
		tree->measured |= tree->nodes[i].known;
	if (!tree->measured && tree->node_count)
		tree->reason = arena_format(work->arena,
			"no node of this CPU's tree has a value: %s", tree->nodes[0].reason);
}

/* Level 1 of a whole tree must add up to 1; far off, the counters cannot be believed. */
static void tree_check(struct tree_work *work, struct topdown_tree *tree)
{
	double sum = 0;

	for (uint32_t i = 0; i < tree->node_count; i++)
		if (tree->nodes[i].level == 1)
			sum += tree->nodes[i].raw;
	if (tree->whole && !isnan(sum) && fabs(sum - 1) > 0.1)
		tree->flag = arena_format(work->arena,
			"level 1 adds up to %.0f %% instead of 100 %%: the counters disagree",
			sum * 100);
}

static void tree_make(struct tree_work *work, enum cpu_basis basis)
{
	const struct cpu_table *table = work->table;
	struct topdown_view *view = work->view;
	struct topdown_tree *tree = &view->trees[view->tree_count];
	bool hybrid = view->facts->core_count > 1;

	*tree = (struct topdown_tree){
		.core = work->core,
		.label = hybrid ? work->core->pmu : "",
		.title = table->title,
		.basis = basis == CPU_SLOTS ? "issue slots" : "cycles",
		.reason = "",
		.flag = "",
		.note = basis == table->basis ? table->note : "",
		.whole = table->whole && basis == table->basis,
		.width = work->core->width ? work->core->width : table->width,
		.part = (double)NAN,
		.nodes = arena_take(work->arena, sizeof(*tree->nodes) * (table->nodes_count + 1)),
	};
	for (uint32_t i = 0; i < table->nodes_count; i++)
		if (table->nodes[i].parent == CPU_NO_NODE && table->nodes[i].basis == basis)
			node_add(work, i, tree);
	tree_check(work, tree);
	tree_reason(work, tree);
	if (tree->node_count)
		view->tree_count++;
}

/* Cycles (or slots over width) of the first round that has them: the weight of this core. */
static double work_cycles(const struct tree_work *work)
{
	bool slots = work->table->events[work->measure].flags & CPU_EVENT_LEADER;
	unsigned width = work->core->width ? work->core->width : work->table->width;

	for (uint32_t r = 0; r < work->rounds; r++)
		for (uint32_t i = 0; i < work->cell_count; i++)
			if (work->cells[i].event == work->measure) {
				double value = cell_value(work, &work->cells[i], r);

				if (!isnan(value))
					return slots && width ? value / width : value;
			}
	return 0;
}

void topdown_trees_make(
	unsigned core, struct arena *arena, struct topdown_view *view, double *ret_cycles)
{
	struct tree_work *work = arena_take(arena, sizeof(*work));
	bool hybrid = view->facts->core_count > 1;

	*ret_cycles = 0;
	work->core = &view->facts->cores[core];
	work->table = work->core->table;
	work->view = view;
	work->arena = arena;
	work->rounds = view->rounds;
	if (!work->table)
		return;
	work->values = arena_take(
		arena, sizeof(double) * ((size_t)work->rounds * work->table->nodes_count + 1));
	work->counts = arena_take(arena, sizeof(double) * (work->table->events_count + 1));
	cells_find(work, hybrid);
	measure_find(work);
	cells_distrust(work);
	*ret_cycles = work_cycles(work);
	for (uint32_t r = work->rounds; r-- > 0;) /* the first one last: it gives the reasons */
		round_compute(work, r);
	tree_make(work, work->table->basis);
	tree_make(work, work->table->basis == CPU_SLOTS ? CPU_CYCLES : CPU_SLOTS);
}
