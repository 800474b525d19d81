/* call_tree.c - see call_tree.h.
 *
 * A stack's caller is an older row, so one pass in the order of the rows finds the node of every
 * stack from that of its caller; nodes too stand behind their parents, so one pass backwards sums
 * the totals.  Children are found through one hash table over (parent, label).  An inverted tree
 * has to walk each sampled stack outwards, which a file made for it could make long: hence the
 * bounds on depth and nodes. */
#include "analyze/call_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile_parts.h"

enum { DEPTH_DEFAULT = 1024, NODES_DEFAULT = 4 << 20, TABLE_FIRST = 1024 };

/* Where a stack stands in the tree, beside the index of a node. */
#define OUTSIDE UINT32_MAX	    /* the root's function was not met yet */
#define CUT_BIT (UINT32_C(1) << 31) /* frames are missing below the node */

struct builder {
	const struct run *run;
	struct call_tree *tree;
	const struct stack_forest *forest;
	uint32_t *table; /* indices of nodes, 0: free */
	uint32_t room;	 /* a power of two */
	uint32_t depth, nodes;
	const bool *root; /* by label; NULL: whole stacks */
};

static uint32_t pair_hash(uint32_t parent, uint32_t label)
{
	uint64_t mixed = ((uint64_t)parent << 32 | label) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)(mixed >> 32);
}

static uint32_t *table_slot(const struct builder *b, uint32_t parent, uint32_t label)
{
	uint32_t at = pair_hash(parent, label) & (b->room - 1);

	for (;; at = (at + 1) & (b->room - 1)) {
		const struct call_tree_node *node = &b->tree->nodes.at[b->table[at]];

		if (!b->table[at] || (node->parent == parent && node->label == label))
			return &b->table[at];
	}
}

static void table_grow(struct builder *b)
{
	free(b->table);
	b->room = b->room ? b->room * 2 : TABLE_FIRST;
	b->table = mem_new(b->room, sizeof(*b->table));
	for (uint32_t i = 1; i < b->tree->nodes.count; i++) {
		const struct call_tree_node *node = &b->tree->nodes.at[i];

		*table_slot(b, node->parent, node->label) = i;
	}
}

/* The child of `parent` with this label; `parent` with CUT_BIT when there is no room for it. */
static uint32_t tree_child(struct builder *b, uint32_t parent, uint32_t label)
{
	struct call_tree *tree = b->tree;
	uint32_t *slot = table_slot(b, parent, label), known = *slot;
	struct call_tree_node node = {.label = label, .parent = parent};

	if (known)
		return known;
	node.depth = tree->nodes.at[parent].depth + 1;
	if (node.depth > b->depth || tree->nodes.count > b->nodes)
		return parent | CUT_BIT;
	node.next_sibling = tree->nodes.at[parent].first_child;
	*slot = tree->nodes.at[parent].first_child = tree->nodes.count;
	vec_push(&tree->nodes, node);
	tree->deepest = node.depth > tree->deepest ? node.depth : tree->deepest;
	if (tree->nodes.count * 2 > b->room)
		table_grow(b);
	return tree->nodes.count - 1;
}

static void tree_take(struct builder *b, uint32_t place, const struct profile_cost *cost)
{
	if (place == OUTSIDE)
		return;
	profile_cost_add(&b->tree->nodes.at[place & ~CUT_BIT].self, cost);
	b->tree->cut += place & CUT_BIT ? cost->samples : 0;
}

/* The function at `place` really stands there: it was not inlined. */
static void place_is_call(struct builder *b, uint32_t place)
{
	if (place != OUTSIDE && !(place & CUT_BIT))
		b->tree->nodes.at[place].called = true;
}

/* One frame further in from `place`. */
static uint32_t place_step(struct builder *b, uint32_t place, uint32_t label)
{
	if (place == OUTSIDE)
		return b->root && b->root[label] ? tree_child(b, 0, label) : OUTSIDE;
	return place & CUT_BIT ? place : tree_child(b, place, label);
}

static void build_down(struct builder *b)
{
	const struct run *run = b->run;
	mem_auto uint32_t *places = mem_new((size_t)run->stacks.count + 1, sizeof(*places));
	uint32_t labels[LABEL_INLINES_MAX];

	places[0] = b->root ? OUTSIDE : 0;
	for (row_id stack = 1; stack <= run->stacks.count; stack++) {
		const struct stack_row *row = &run->stacks.at[stack - 1];
		unsigned count;

		if (!b->forest->total[stack].samples)
			continue;
		count = label_book_at(&b->tree->labels, row->location, labels);
		places[stack] = place_step(b, places[row->parent], labels[--count]);
		place_is_call(b, places[stack]);
		while (count)
			places[stack] = place_step(b, places[stack], labels[--count]);
		tree_take(b, places[stack], &b->tree->samples.by_stack[stack]);
	}
}

/* From frame `inner` of a stack's location (0: the innermost) outwards. */
static void build_chain_up(
	struct builder *b, row_id stack, unsigned inner, const struct profile_cost *cost)
{
	uint32_t labels[LABEL_INLINES_MAX], place = 0;

	for (; stack && !(place & CUT_BIT); stack = b->run->stacks.at[stack - 1].parent) {
		unsigned count = label_book_at(
			&b->tree->labels, b->run->stacks.at[stack - 1].location, labels);

		for (; inner < count && !(place & CUT_BIT); inner++)
			place = tree_child(b, place, labels[inner]);
		place_is_call(b, place);
		inner = 0;
	}
	tree_take(b, place, cost);
}

static void build_up(struct builder *b)
{
	for (row_id stack = 1; stack <= b->run->stacks.count; stack++)
		if (b->tree->samples.by_stack[stack].samples)
			build_chain_up(b, stack, 0, &b->tree->samples.by_stack[stack]);
}

/* Upwards from where the root's function is first met on the way in, with all that it called. */
static void build_callers(struct builder *b)
{
	const struct run *run = b->run;
	mem_auto bool *met = mem_new((size_t)run->stacks.count + 1, sizeof(*met));
	uint32_t labels[LABEL_INLINES_MAX];

	for (row_id stack = 1; stack <= run->stacks.count; stack++) {
		const struct stack_row *row = &run->stacks.at[stack - 1];
		unsigned count;

		met[stack] = met[row->parent];
		if (met[stack] || !b->forest->total[stack].samples)
			continue;
		count = label_book_at(&b->tree->labels, row->location, labels);
		while (count && !b->root[labels[count - 1]])
			count--;
		met[stack] = count > 0;
		if (count)
			build_chain_up(b, stack, count - 1, &b->forest->total[stack]);
	}
}

static void tree_build(struct builder *b, const struct call_tree_options *options)
{
	struct call_tree *tree = b->tree;

	vec_push(&tree->nodes, (struct call_tree_node){0});
	table_grow(b);
	if (!b->root && tree->samples.by_stack[0].samples) {
		uint32_t place = tree_child(b, 0, LABEL_NO_STACK);

		place_is_call(b, place);
		tree_take(b, place, &tree->samples.by_stack[0]);
	}
	if (!options->inverted)
		build_down(b);
	else if (!b->root)
		build_up(b);
	else
		build_callers(b);
	for (uint32_t i = tree->nodes.count; i-- > 0;) {
		struct call_tree_node *node = &tree->nodes.at[i];

		profile_cost_add(&node->total, &node->self);
		if (i)
			profile_cost_add(&tree->nodes.at[node->parent].total, &node->total);
	}
	free(b->table);
}

int call_tree_make(const struct run *run, const struct call_tree_options *options,
	struct call_tree *ret_tree, struct err *err)
{
	call_tree_auto struct call_tree tree = {0};
	stack_forest_auto struct stack_forest forest = {0};
	mem_auto bool *root = NULL;
	struct builder builder = {
		.run = run,
		.tree = &tree,
		.forest = &forest,
		.depth = options->depth ? options->depth : DEPTH_DEFAULT,
		.nodes = options->nodes ? options->nodes : NODES_DEFAULT,
	};
	int r = profile_samples_take(run, &options->filter, &tree.samples, err);

	if (r < 0)
		return r;
	label_book_init(&tree.labels, run, options->by);
	if (options->root) {
		root = mem_new((size_t)tree.labels.labels.count + 1, sizeof(*root));
		r = label_book_find(&tree.labels, options->root, root, err);
		if (r < 0)
			return r;
		builder.root = root;
	}
	stack_forest_init(&forest, run, &tree.samples);
	tree_build(&builder, options);
	*ret_tree = tree;
	tree = (struct call_tree){0};
	return 0;
}

void call_tree_done(struct call_tree *tree)
{
	label_book_done(&tree->labels);
	vec_done(&tree->nodes);
	profile_samples_done(&tree->samples);
}

/* ---- order ---- */

static int compare_names(const struct label *a, const struct label *b)
{
	int order = strcmp(a->name, b->name);

	if (!order)
		order = strcmp(a->module, b->module);
	return order ? order : (a->line > b->line) - (a->line < b->line);
}

static int compare_by_name(const void *a, const void *b, void *context)
{
	const struct call_tree *tree = context;
	const struct call_tree_node *x = &tree->nodes.at[*(const uint32_t *)a];
	const struct call_tree_node *y = &tree->nodes.at[*(const uint32_t *)b];
	int order = compare_names(call_tree_label(tree, x), call_tree_label(tree, y));

	return order ? order : (x->label > y->label) - (x->label < y->label);
}

static int compare_by_total(const void *a, const void *b, void *context)
{
	const struct call_tree *tree = context;
	const struct call_tree_node *x = &tree->nodes.at[*(const uint32_t *)a];
	const struct call_tree_node *y = &tree->nodes.at[*(const uint32_t *)b];

	if (x->total.weight != y->total.weight)
		return x->total.weight < y->total.weight ? 1 : -1;
	return compare_by_name(a, b, context);
}

void call_tree_sort(struct call_tree *tree, enum call_tree_order order)
{
	vec_of(uint32_t) children = {0};

	for (uint32_t i = 0; i < tree->nodes.count; i++) {
		uint32_t *link = &tree->nodes.at[i].first_child;

		children.count = 0;
		for (uint32_t child = *link; child; child = tree->nodes.at[child].next_sibling)
			vec_push(&children, child);
		if (children.count < 2)
			continue;
		qsort_r(children.at, children.count, sizeof(*children.at),
			order == CALL_TREE_BY_NAME ? compare_by_name : compare_by_total, tree);
		vec_foreach (const uint32_t, child, &children) {
			*link = *child;
			link = &tree->nodes.at[*child].next_sibling;
		}
		*link = 0;
	}
	vec_done(&children);
}

/* ---- what is worth showing ---- */

static int compare_weights(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y) - (x > y);
}

/* The weight of the `limit`-th heaviest node.  A child is never heavier than its parent, so the
 * nodes above it are connected. */
static uint64_t weight_at(const struct call_tree *tree, uint32_t limit)
{
	mem_auto uint64_t *weights = mem_new(tree->nodes.count, sizeof(*weights));

	for (uint32_t i = 1; i < tree->nodes.count; i++)
		weights[i - 1] = tree->nodes.at[i].total.weight;
	qsort(weights, tree->nodes.count - 1, sizeof(*weights), compare_weights);
	return weights[limit - 1];
}

uint32_t call_tree_pick(
	const struct call_tree *tree, uint32_t limit, double min_share, uint32_t *ret_nodes)
{
	const struct call_tree_node *nodes = tree->nodes.at;
	uint64_t least = 0;
	uint32_t count = 0, at;

	if (!limit)
		limit = UINT32_MAX;
	if (limit < tree->nodes.count - 1)
		least = weight_at(tree, limit);
	at = nodes[0].first_child;
	while (at && count < limit) {
		bool shown =
			nodes[at].total.weight >= least &&
			(double)nodes[at].total.weight >= min_share * (double)nodes[0].total.weight;

		if (shown)
			ret_nodes[count++] = at;
		if (shown && nodes[at].first_child) {
			at = nodes[at].first_child;
			continue;
		}
		while (at && !nodes[at].next_sibling)
			at = nodes[at].parent;
		at = nodes[at].next_sibling;
	}
	return count;
}
