/* call_tree.h - the stacks of a run merged into one tree: flame graphs, callers, callees.
 *
 * Does: merge what is called alike under the same parent, over all threads or those of the filter.
 * Does not: print, choose what is worth showing.
 * Owns: nodes and labels; texts are the run's, which must live longer.  Pure.
 *
 * Top-down the root's children are the outermost functions; inverted they are the innermost ones
 * and their children the callers.  With `root` the tree holds only what is below (or, inverted,
 * above) the outermost call of that function, so that recursion counts a sample once. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/label.h"
#include "analyze/profile_filter.h"
#include "base/err.h"
#include "base/vec.h"

struct call_tree_options {
	struct profile_filter filter;
	enum label_kind by; /* FUNCTION or LINE for flame graphs; any works */
	bool inverted;
	const char *root; /* a function, see label_book_find(); NULL: whole stacks */
	uint32_t depth;	  /* frames from the root that are kept, 0: 1024 */
	uint32_t nodes;	  /* the heaviest that are followed further, 0: a million */
};

struct call_tree_node {
	uint32_t label;			    /* an id of `labels`; 0: the root */
	uint32_t parent;		    /* index of a node */
	uint32_t first_child, next_sibling; /* 0: none */
	uint32_t depth;			    /* of the root 0 */
	bool called;			    /* false: wherever it stands here, it was inlined */
	bool is_end;			    /* too light: stacks that go on from it end here */
	/* self: stacks that end here; total: with everything below. */
	struct profile_cost self, total;
};

struct call_tree {
	struct label_book labels;
	vec_of(struct call_tree_node) nodes; /* at[0] is the root, parents stand before children */
	struct profile_samples samples;	     /* what was let through; the root may hold less */
	uint64_t cut;			     /* samples that lost frames beyond `depth` */
	/* Where there are more than `nodes`: what was not heavier than this was not followed, which
	 * left out one node or more below each of `left_out` nodes.  0, 0: everything is here. */
	uint64_t least;
	uint32_t left_out;
	uint32_t deepest; /* the largest depth of a node */
};

enum call_tree_order {
	CALL_TREE_BY_TOTAL, /* the heaviest child first */
	CALL_TREE_BY_NAME,
};

int call_tree_make(const struct run *run, const struct call_tree_options *options,
	struct call_tree *ret_tree, struct err *err);
void call_tree_done(struct call_tree *tree);
#define call_tree_auto __attribute__((cleanup(call_tree_done)))

/* Put the children of every node in this order; made, they are in no order to rely on. */
void call_tree_sort(struct call_tree *tree, enum call_tree_order order);

/* The nodes worth showing, parents before their children and these in their order: at most `limit`
 * (0: all) of the heaviest, each of at least `min_share` of the root.  `ret_nodes` has room for
 * every node; returns how many. */
uint32_t call_tree_pick(
	const struct call_tree *tree, uint32_t limit, double min_share, uint32_t *ret_nodes);

/* The label of a node that is not the root. */
static inline const struct label *call_tree_label(
	const struct call_tree *tree, const struct call_tree_node *node)
{
	return &tree->labels.labels.at[node->label - 1];
}
