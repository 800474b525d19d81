/* call_tree.c - see call_tree.h.
 *
 * The tree is made level by level: a step stands for the stacks that go on from a node, and each
 * level takes every step one frame further.  When a level is done the totals of all nodes are
 * final, so where there are too many of them the lightest are not followed: no child is heavier
 * than its parent, and the order of the stacks in the file does not matter.  Children are found
 * through one hash table over (parent, label). */
#include "analyze/call_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile_parts.h"

enum { DEPTH_DEFAULT = 1024, NODES_DEFAULT = 1 << 20, TABLE_FIRST = 1024 };

#define OUTERMOST UINT32_MAX /* frame of a location */

struct step {
	uint32_t knot; /* whose samples they are */
	row_id stack;
	uint32_t frame; /* the next one, of those at the stack's location: 0 is the innermost */
	uint32_t node;	/* its parent */
};

struct builder {
	const struct run *run;
	struct call_tree *tree;
	const struct stack_forest *forest;
	uint32_t *table;   /* indices of nodes, 0: free */
	uint32_t capacity; /* a power of two */
	uint32_t depth, nodes;
	bool inverted;
	const bool *root; /* by label; NULL: whole stacks */
	vec_of(struct step) steps;
	vec_of(struct step) next; /* of the next level */
	uint32_t weigh_at;	  /* so many nodes are too many */
};

static uint32_t pair_hash(uint32_t parent, uint32_t label)
{
	uint64_t mixed = ((uint64_t)parent << 32 | label) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)(mixed >> 32);
}

static uint32_t *table_slot(const struct builder *b, uint32_t parent, uint32_t label)
{
	uint32_t at = pair_hash(parent, label) & (b->capacity - 1);

	for (;; at = (at + 1) & (b->capacity - 1)) {
		const struct call_tree_node *node = &b->tree->nodes.at[b->table[at]];

		if (!b->table[at] || (node->parent == parent && node->label == label))
			return &b->table[at];
	}
}

static void table_grow(struct builder *b)
{
	free(b->table);
	b->capacity = b->capacity ? b->capacity * 2 : TABLE_FIRST;
	b->table = mem_new(b->capacity, sizeof(*b->table));
	for (uint32_t i = 1; i < b->tree->nodes.count; i++) {
		const struct call_tree_node *node = &b->tree->nodes.at[i];

		*table_slot(b, node->parent, node->label) = i;
	}
}

static uint32_t tree_child(struct builder *b, uint32_t parent, uint32_t label)
{
	struct call_tree *tree = b->tree;
	uint32_t *slot = table_slot(b, parent, label), known = *slot;
	struct call_tree_node node = {.label = label, .parent = parent};

	if (known)
		return known;
	node.depth = tree->nodes.at[parent].depth + 1;
	node.next_sibling = tree->nodes.at[parent].first_child;
	*slot = tree->nodes.at[parent].first_child = tree->nodes.count;
	vec_push(&tree->nodes, node);
	tree->deepest = node.depth > tree->deepest ? node.depth : tree->deepest;
	if (tree->nodes.count * 2 > b->capacity)
		table_grow(b);
	return tree->nodes.count - 1;
}

/* ---- steps ---- */

/* Inverted, whole stacks count where they end; all others with what they called. */
static const struct profile_cost *step_cost(const struct builder *b, const struct step *step)
{
	const struct stack_knot *knot = &b->forest->knots[step->knot];

	return b->inverted && !b->root ? &knot->self : &knot->total;
}

/* What the node's last frame of a stack called. */
static void steps_in(struct builder *b, const struct step *step, uint32_t node)
{
	const struct stack_knot *knots = b->forest->knots;

	if (step->stack < knots[step->knot].last) {
		vec_push(&b->next, (struct step){step->knot, step->stack + 1, OUTERMOST, node});
		return;
	}
	profile_cost_add(&b->tree->nodes.at[node].self, &knots[step->knot].self);
	for (uint32_t i = 0; i < knots[step->knot].child_count; i++) {
		uint32_t child = knots[step->knot].first_child + i;

		vec_push(&b->next, (struct step){child, knots[child].first, OUTERMOST, node});
	}
}

/* What called the node's first frame of a stack. */
static void step_out(struct builder *b, const struct step *step, uint32_t node)
{
	row_id parent = b->run->stacks.at[step->stack - 1].parent;

	if (parent)
		vec_push(&b->next, (struct step){step->knot, parent, 0, node});
	else
		profile_cost_add(&b->tree->nodes.at[node].self, step_cost(b, step));
}

static void step_take(struct builder *b, const struct step *step)
{
	uint32_t labels[LABEL_INLINES_MAX], node, frame = step->frame;
	uint32_t last = label_book_at(&b->tree->labels, b->run->stacks.at[step->stack - 1].location,
				labels) -
			1;

	frame = frame == OUTERMOST ? last : frame;
	node = tree_child(b, step->node, labels[frame]);
	profile_cost_add(&b->tree->nodes.at[node].total, step_cost(b, step));
	b->tree->nodes.at[node].called |= frame == last; /* it stands there, it was not inlined */
	if (b->inverted && frame < last)
		vec_push(&b->next, (struct step){step->knot, step->stack, frame + 1, node});
	else if (b->inverted)
		step_out(b, step, node);
	else if (frame)
		vec_push(&b->next, (struct step){step->knot, step->stack, frame - 1, node});
	else
		steps_in(b, step, node);
}

/* The first frame on the way in that is the root's function, as a step; false: none in the knot. */
static bool root_find(const struct builder *b, uint32_t knot, struct step *ret_step)
{
	const struct stack_knot *rows = &b->forest->knots[knot];
	uint32_t labels[LABEL_INLINES_MAX];

	for (row_id stack = rows->first; stack <= rows->last; stack++) {
		unsigned frame = label_book_at(
			&b->tree->labels, b->run->stacks.at[stack - 1].location, labels);

		while (frame--)
			if (b->root[labels[frame]]) {
				*ret_step = (struct step){knot, stack, frame, 0};
				return true;
			}
	}
	return false;
}

/* A step for each outermost call of the root's function; `next` holds the knots to look at. */
static void steps_from_root(struct builder *b)
{
	const struct stack_knot *knots = b->forest->knots;
	uint32_t knot = 0;
	struct step at = {0};

	for (;;) {
		if (knot && root_find(b, knot, &at))
			vec_push(&b->steps, at);
		else
			for (uint32_t i = 0; i < knots[knot].child_count; i++)
				vec_push(&b->next,
					(struct step){.knot = knots[knot].first_child + i});
		if (!b->next.count)
			return;
		knot = b->next.at[--b->next.count].knot;
	}
}

static void steps_begin(struct builder *b)
{
	const struct stack_knot *knots = b->forest->knots;

	if (b->root)
		steps_from_root(b);
	for (uint32_t i = 1; b->inverted && !b->root && i <= b->forest->count; i++)
		if (knots[i].self.samples)
			vec_push(&b->steps, (struct step){i, knots[i].last, 0, 0});
	if (!b->inverted && !b->root)
		for (uint32_t i = 1; i <= knots[0].child_count; i++)
			vec_push(&b->steps, (struct step){i, knots[i].first, OUTERMOST, 0});
	vec_foreach (const struct step, step, &b->steps)
		profile_cost_add(&b->tree->nodes.at[0].total, step_cost(b, step));
}

/* ---- the tree ---- */

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

/* Steps from nodes that are too light end here.  A tie goes as a whole. */
static void light_leave(struct builder *b)
{
	uint32_t kept = 0;

	if (b->tree->nodes.count > b->weigh_at) {
		b->tree->least = weight_at(b->tree, b->nodes);
		b->weigh_at = b->tree->nodes.count + b->nodes / 4;
	}
	if (!b->tree->least)
		return;
	vec_foreach (const struct step, step, &b->steps) {
		struct call_tree_node *node = &b->tree->nodes.at[step->node];

		if (node->total.weight > b->tree->least) {
			b->steps.at[kept++] = *step;
			continue;
		}
		b->tree->left_out += !node->is_end; /* many stacks may go on from one node */
		node->is_end = true;
	}
	b->steps.count = kept;
}

static void tree_build(struct builder *b)
{
	struct call_tree *tree = b->tree;

	vec_push(&tree->nodes, (struct call_tree_node){0});
	table_grow(b);
	if (!b->root && tree->samples.no_stack.samples) {
		uint32_t at = tree_child(b, 0, LABEL_NO_STACK); /* may move the nodes */
		struct call_tree_node *node = &tree->nodes.at[at];

		node->called = true;
		node->self = node->total = tree->nodes.at[0].total = tree->samples.no_stack;
	}
	steps_begin(b);
	for (uint32_t level = 0; b->steps.count && level < b->depth; level++) {
		b->next.count = 0;
		vec_foreach (const struct step, step, &b->steps)
			step_take(b, step);
		b->steps.count = 0;
		vec_foreach (const struct step, step, &b->next)
			vec_push(&b->steps, *step);
		light_leave(b);
	}
	vec_foreach (const struct step, step, &b->steps)
		tree->cut += step_cost(b, step)->samples;
	free(b->table);
	vec_done(&b->steps);
	vec_done(&b->next);
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
		.inverted = options->inverted,
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
	builder.weigh_at = builder.nodes;
	tree_build(&builder);
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
