/* flame_view.c - see flame_view.h.
 *
 * Both trees are walked depth-first at once, with a stack of our own (a chain of calls may be as
 * deep as memory).  A box that is left out takes everything below it along, which is narrower
 * still. */
#include "analyze/flame_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BOXES_DEFAULT = 100000 };

/* A node of each tree, UINT32_MAX: not in this one. */
struct pair {
	uint32_t a, b, depth;
};
#define ABSENT UINT32_MAX

struct walker {
	const struct call_tree *a, *b; /* b: NULL when nothing is compared */
	vec_of(struct pair) todo;
	vec_of(struct pair) children; /* of the one box */
	bool *joined;		      /* nodes of b that have their partner */
};

static void side_fill(struct flame_side *side, const struct call_tree *tree, uint32_t node)
{
	double whole = (double)tree->nodes.at[0].total.weight;

	if (node == ABSENT)
		return;
	side->self = tree->nodes.at[node].self;
	side->total = tree->nodes.at[node].total;
	if (whole > 0) {
		side->share = (double)side->total.weight / whole;
		side->self_share = (double)side->self.weight / whole;
	}
}

/* Whether two shares differ by more than chance: the pooled test of two proportions. */
static int change_of(const struct flame_side *a, const struct flame_side *b, double n_a, double n_b)
{
	double pooled = (a->share * n_a + b->share * n_b) / (n_a + n_b);
	double error = sqrt(pooled * (1 - pooled) * (1 / n_a + 1 / n_b));
	double delta = b->share - a->share, ratio = fabs(delta) / (a->share + b->share);
	int level = ratio < 0.1 ? 1 : ratio < 0.25 ? 2 : ratio < 0.5 ? 3 : FLAME_CHANGE_MOST;

	if (!(n_a > 0 && n_b > 0) || !(fabs(delta) > 2 * error))
		return 0;
	return delta > 0 ? level : -level;
}

static struct flame_box box_make(const struct walker *w, const struct pair *pair)
{
	const struct call_tree *tree = pair->a == ABSENT ? w->b : w->a;
	uint32_t node = pair->a == ABSENT ? pair->b : pair->a;
	struct flame_box box = {
		.label = node ? call_tree_label(tree, &tree->nodes.at[node]) : NULL,
		.depth = pair->depth,
		.inlined = node && !tree->nodes.at[node].called,
	};

	side_fill(&box.a, w->a, pair->a);
	box.width = box.a.share;
	if (w->b) {
		side_fill(&box.b, w->b, pair->b);
		box.width = (box.a.share + box.b.share) / 2;
		box.change = change_of(&box.a, &box.b, (double)w->a->nodes.at[0].total.samples,
			(double)w->b->nodes.at[0].total.samples);
	}
	return box;
}

/* A function that moved is still the same function; a line is not. */
static bool same_place(const struct label *a, const struct label *b, enum label_kind by)
{
	return strcmp(a->name, b->name) == 0 && (by != LABEL_LINE || a->line == b->line) &&
	       strcmp(label_base(a->module), label_base(b->module)) == 0;
}

/* The partner of `label` among the siblings from `node` on, which are sorted by name. */
static uint32_t partner_find(const struct walker *w, uint32_t node, const struct label *label)
{
	for (; node; node = w->b->nodes.at[node].next_sibling) {
		const struct label *other = call_tree_label(w->b, &w->b->nodes.at[node]);

		if (!w->joined[node] && same_place(label, other, w->b->labels.kind))
			return node;
		if (strcmp(other->name, label->name) > 0)
			break;
	}
	return ABSENT;
}

static uint32_t first_child(const struct call_tree *tree, uint32_t node)
{
	return node == ABSENT ? 0 : tree->nodes.at[node].first_child;
}

/* The second list moves on with the first, so a join costs their lengths. */
static void children_join(struct walker *w, const struct pair *of)
{
	uint32_t from = first_child(w->b, of->b);

	for (uint32_t a = first_child(w->a, of->a); a; a = w->a->nodes.at[a].next_sibling) {
		const struct label *label = call_tree_label(w->a, &w->a->nodes.at[a]);
		uint32_t partner;

		while (from &&
			strcmp(call_tree_label(w->b, &w->b->nodes.at[from])->name, label->name) < 0)
			from = w->b->nodes.at[from].next_sibling;
		partner = partner_find(w, from, label);
		if (partner != ABSENT)
			w->joined[partner] = true;
		vec_push(&w->children, (struct pair){a, partner, of->depth + 1});
	}
	for (uint32_t b = first_child(w->b, of->b); b; b = w->b->nodes.at[b].next_sibling)
		if (!w->joined[b])
			vec_push(&w->children, (struct pair){ABSENT, b, of->depth + 1});
}

/* Too light for a tree of too many nodes: what is below it is not known, which is not nothing. */
static bool is_end(const struct call_tree *tree, uint32_t node)
{
	return node != ABSENT && tree->least && tree->nodes.at[node].total.weight <= tree->least;
}

static void children_of(struct walker *w, const struct pair *of)
{
	w->children.count = 0;
	if (w->b) {
		children_join(w, of);
		return;
	}
	for (uint32_t a = first_child(w->a, of->a); a; a = w->a->nodes.at[a].next_sibling)
		vec_push(&w->children, (struct pair){a, ABSENT, of->depth + 1});
}

/* What a tree of too many nodes did not follow: boxes are not wider, and not all are there. */
static double width_followed(const struct call_tree *tree)
{
	return tree && tree->least ? (double)tree->least / (double)tree->nodes.at[0].total.weight
				   : 0;
}

/* One side would compare its calls with nothing. */
static void children_leave_out(const struct walker *w, struct flame_view *view)
{
	vec_foreach (const struct pair, pair, &w->children) {
		double width = nextafter(box_make(w, pair).width, 2);

		view->left_out++;
		view->narrowest = width > view->narrowest ? width : view->narrowest;
	}
}

static void boxes_collect(struct walker *w, struct flame_view *view)
{
	double least = (width_followed(w->a) + width_followed(w->b)) / (w->b ? 2 : 1);

	vec_push(&w->todo, (struct pair){0, w->b ? 0 : ABSENT, 0});
	while (w->todo.count) {
		struct pair pair = w->todo.at[--w->todo.count];
		struct flame_box box = box_make(w, &pair);

		if (least > 0 && box.width <= least) {
			view->left_out++;
			if (view->narrowest < nextafter(least, 2))
				view->narrowest = nextafter(least, 2);
			continue;
		}
		vec_push(&view->boxes, box);
		children_of(w, &pair);
		if (w->b && (is_end(w->a, pair.a) || is_end(w->b, pair.b))) {
			children_leave_out(w, view);
			continue;
		}
		for (uint32_t i = w->children.count; i; i--)
			vec_push(&w->todo, w->children.at[i - 1]);
	}
	vec_done(&w->todo);
	vec_done(&w->children);
	free(w->joined);
}

static int widest_first(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* The width below which boxes go, so that at most `most` stay. */
static double narrowest_of(const struct flame_view *view, uint32_t most)
{
	double *widths, cut = 0;

	if (view->boxes.count <= most)
		return 0;
	widths = mem_new(view->boxes.count, sizeof(*widths));
	for (uint32_t i = 0; i < view->boxes.count; i++)
		widths[i] = view->boxes.at[i].width;
	qsort(widths, view->boxes.count, sizeof(*widths), widest_first);
	cut = nextafter(widths[most], 2); /* just more: a tie goes as a whole */
	free(widths);
	return cut;
}

static void narrow_leave_out(struct flame_view *view, const struct flame_view_options *options)
{
	double cut = narrowest_of(view, options->boxes ? options->boxes : BOXES_DEFAULT);
	uint32_t kept = 1;

	cut = cut < options->min_share ? options->min_share : cut;
	for (uint32_t i = 1; i < view->boxes.count; i++)
		if (view->boxes.at[i].width >= cut)
			view->boxes.at[kept++] = view->boxes.at[i];
	view->left_out += view->boxes.count - kept;
	if (kept < view->boxes.count && cut > view->narrowest)
		view->narrowest = cut;
	view->boxes.count = kept;
	vec_foreach (const struct flame_box, box, &view->boxes)
		view->deepest = box->depth > view->deepest ? box->depth : view->deepest;
}

void flame_view_make(const struct call_tree *tree, const struct flame_view_options *options,
	struct flame_view *ret_view)
{
	struct walker walker = {.a = tree};

	*ret_view = (struct flame_view){
		.by = tree->labels.kind,
		.samples_a = &tree->samples,
		.left_out = tree->left_out,
		.is_more = tree->left_out,
		.cut_samples = tree->cut,
	};
	boxes_collect(&walker, ret_view);
	narrow_leave_out(ret_view, options);
}

void flame_view_compare(struct call_tree *a, struct call_tree *b,
	const struct flame_view_options *options, struct flame_view *ret_view)
{
	struct walker walker = {.a = a, .b = b};

	call_tree_sort(a, CALL_TREE_BY_NAME);
	call_tree_sort(b, CALL_TREE_BY_NAME);
	walker.joined = mem_new(b->nodes.count, sizeof(bool));
	*ret_view = (struct flame_view){
		.by = a->labels.kind,
		.compared = true,
		.samples_a = &a->samples,
		.samples_b = &b->samples,
		.left_out = a->left_out + b->left_out,
		.is_more = a->left_out || b->left_out,
		.cut_samples = a->cut + b->cut,
	};
	boxes_collect(&walker, ret_view);
	narrow_leave_out(ret_view, options);
}

void flame_view_done(struct flame_view *view)
{
	vec_done(&view->boxes);
}
