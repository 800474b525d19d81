/* flame_view.h - a call tree laid out for a flame graph: boxes in the order they are drawn, and
 * what was left out.
 *
 * Does: flatten one tree, or join two that are compared; leave out what is too narrow, and count
 * it.  Does not: choose colours, know pixels.
 * Owns: its boxes; the texts in them are the runs', which must live longer.  Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/call_tree.h"
#include "base/vec.h"

/* What one run says about a box. */
struct flame_side {
	struct profile_cost self, total;
	double share, self_share; /* of the run's weight */
};

enum {
	FLAME_CHANGE_MOST = 4,
	FLAME_NODES = 1 << 18, /* of the tree: more than are drawn, of any run */
};

struct flame_box {
	const struct label *label; /* NULL: the root, "all" */
	uint32_t depth;		   /* of the root 0 */
	bool inlined;		   /* it never was called, only inlined into its neighbour */
	double width;		   /* share of the whole */
	struct flame_side a, b;	   /* b: only when two are compared */
	/* Compared: how much its share grew (1 to 4) or shrank (-1 to -4): 1 below a tenth, 2 below
	 * a quarter, 3 below a half, 4 more, of |b - a| / (a + b).  0: within what chance does in
	 * samples of this number (two standard errors). */
	int change;
};

struct flame_view {
	enum label_kind by;
	bool inverted, compared;
	const struct profile_samples *samples_a, *samples_b; /* the trees' */
	vec_of(struct flame_box) boxes;			     /* callers before callees */
	uint32_t deepest;
	uint32_t left_out;    /* boxes narrower than `narrowest` */
	bool is_more;	      /* and more: not all of them were counted */
	double narrowest;     /* share; 0: everything is here */
	uint64_t cut_samples; /* that lost frames beyond the tree's depth */
};

struct flame_view_options {
	double min_share; /* leave out what is narrower */
	uint32_t boxes;	  /* at most, 0: 100,000; the narrowest go first */
};

/* One tree, its children in the order they have. */
void flame_view_make(const struct call_tree *tree, const struct flame_view_options *options,
	struct flame_view *ret_view);

/* From `a` to `b`, both sorted by name here.  Boxes are joined by name and by the file's name of
 * the module (folders differ between builds); a box is as wide as the mean of its two shares, so
 * that what vanished is seen as well as what is new. */
void flame_view_compare(struct call_tree *a, struct call_tree *b,
	const struct flame_view_options *options, struct flame_view *ret_view);

void flame_view_done(struct flame_view *view);
#define flame_view_auto __attribute__((cleanup(flame_view_done)))
