/* flame_view_test.c - call trees laid out and compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "analyze/flame_view.h"
#include "base/str.h"
#include "model/run.h"
#include "profile_text.h"

struct pair {
	struct run *run_a, *run_b;
	struct call_tree a, b;
	struct flame_view view;
};

static void tree_make(struct call_tree *tree, struct run **run, const char *text, uint32_t nodes)
{
	struct call_tree_options options = {.nodes = nodes};
	struct err err = {0};

	*run = profile_text_run(text);
	assert_int_equal(call_tree_make(*run, &options, tree, &err), 0);
	call_tree_sort(tree, CALL_TREE_BY_NAME);
}

static void pair_make(struct pair *pair, const char *a, const char *b)
{
	struct flame_view_options options = {0};

	*pair = (struct pair){0};
	tree_make(&pair->a, &pair->run_a, a, 0);
	if (b)
		tree_make(&pair->b, &pair->run_b, b, 0);
	if (b)
		flame_view_compare(&pair->a, &pair->b, &options, &pair->view);
	else
		flame_view_make(&pair->a, &options, &pair->view);
}

static void pair_done(struct pair *pair)
{
	flame_view_done(&pair->view);
	call_tree_done(&pair->a);
	call_tree_done(&pair->b);
	run_close(pair->run_a);
	run_close(pair->run_b);
}
#define pair_auto __attribute__((cleanup(pair_done)))

static const struct flame_box *box_find(const struct flame_view *view, const char *name)
{
	vec_foreach (const struct flame_box, box, &view->boxes)
		if (box->label && str_equal(box->label->name, name))
			return box;
	return NULL;
}

static void boxes_stand_behind_their_callers_and_sum_up(void **state)
{
	static const struct {
		const char *name;
		uint32_t depth;
		uint64_t self, total;
	} expected[] = {{"all", 0, 0, 8}, {"main", 1, 1, 8}, {"f", 2, 0, 3}, {"g", 3, 3, 3},
		{"h", 2, 4, 4}};
	pair_auto struct pair pair;

	(void)state;
	pair_make(&pair, "event cpu-clock ns\nperiod 10\n1 main\n3 main;f;g\n4 main;h\n", NULL);
	assert_int_equal(pair.view.boxes.count, 5);
	for (unsigned i = 0; i < 5; i++) {
		const struct flame_box *box = &pair.view.boxes.at[i];

		if (i)
			assert_string_equal(box->label->name, expected[i].name);
		assert_int_equal(box->depth, expected[i].depth);
		assert_true(box->a.self.samples == expected[i].self);
		assert_true(box->a.total.samples == expected[i].total);
		assert_true(fabs(box->width - (double)expected[i].total / 8) < 1e-12);
	}
	assert_int_equal(pair.view.deepest, 3);
}

static void a_function_is_inlined_only_where_it_never_was_called(void **state)
{
	pair_auto struct pair pair;

	(void)state;
	pair_make(&pair,
		"event cpu-clock ns\n3 main;work;+tiny\n1 main;both\n1 main;work;both\n"
		"1 main;work;+both\n",
		NULL);
	assert_true(box_find(&pair.view, "tiny")->inlined);
	assert_false(box_find(&pair.view, "work")->inlined);
	assert_false(box_find(&pair.view, "both")->inlined);
}

static void what_is_left_out_is_counted_and_takes_its_callees_along(void **state)
{
	pair_auto struct pair pair;
	struct flame_view view;

	(void)state;
	pair_make(&pair, "event cpu-clock ns\n90 main;wide\n5 main;narrow;deep;deeper\n5 main;x\n",
		NULL);
	flame_view_make(&pair.a, &(struct flame_view_options){.min_share = 0.06}, &view);
	assert_int_equal(view.boxes.count, 3);
	assert_int_equal(view.left_out, 4);
	assert_true(view.narrowest == 0.06);
	assert_int_equal(view.deepest, 2);
	flame_view_done(&view);
	flame_view_make(&pair.a, &(struct flame_view_options){.boxes = 5}, &view);
	assert_int_equal(view.boxes.count, 3); /* the four of the same width go together */
	assert_int_equal(view.left_out, 4);
	flame_view_done(&view);
}

static void a_comparison_joins_by_name_and_by_the_modules_file_name(void **state)
{
	pair_auto struct pair pair;
	const struct flame_box *box;

	(void)state;
	pair_make(&pair,
		"event cpu-clock ns\n100 main;work@/old/lib.so\n100 main;same@a.so\n"
		"100 main;same@b.so\n",
		"event cpu-clock ns\n100 main;work@/new/lib.so\n200 main;same@b.so\n");
	box = box_find(&pair.view, "work");
	assert_true(box->a.total.samples == 100 && box->b.total.samples == 100);
	assert_int_equal(box->change, 0);
	box = box_find(&pair.view, "same");
	assert_string_equal(box->label->module, "a.so");
	assert_true(box->a.total.samples == 100 && box->b.total.samples == 0);
	assert_int_equal(box->change, -FLAME_CHANGE_MOST);
	assert_true(box[1].a.total.samples == 100 && box[1].b.total.samples == 200);
	assert_true(box[1].change == 3);
}

static void chance_is_no_change(void **state)
{
	pair_auto struct pair small, large;

	(void)state;
	pair_make(&small, "event cpu-clock ns\n10 main;f\n10 main;g\n",
		"event cpu-clock ns\n12 main;f\n8 main;g\n");
	assert_int_equal(box_find(&small.view, "f")->change, 0);
	pair_make(&large, "event cpu-clock ns\n10000 main;f\n10000 main;g\n",
		"event cpu-clock ns\n12000 main;f\n8000 main;g\n");
	assert_int_equal(box_find(&large.view, "f")->change, 1);
	assert_int_equal(box_find(&large.view, "g")->change, -2);
}

/* Every sample of both is in one box, whatever is joined with what. */
static void a_comparison_loses_nothing(void **state)
{
	pair_auto struct pair pair;
	uint64_t a = 0, b = 0;

	(void)state;
	pair_make(&pair, "event cpu-clock ns\n3 a;b;c\n4 a;c\n5 d\n1 -\n",
		"event cpu-clock ns\n7 a;b\n2 a;c;d\n9 e;a\n");
	vec_foreach (const struct flame_box, box, &pair.view.boxes) {
		a += box->a.self.samples;
		b += box->b.self.samples;
	}
	assert_true(a == 13 && b == 18);
	assert_true(pair.view.boxes.at[0].a.total.samples == 13);
	assert_true(pair.view.boxes.at[0].b.total.samples == 18);
}

/* B has too many boxes to follow f, so nobody knows that it does not call g there. */
static void what_one_side_did_not_follow_has_not_changed(void **state)
{
	pair_auto struct pair pair = {0};
	const struct flame_box *f;

	(void)state;
	tree_make(&pair.a, &pair.run_a, "event cpu-clock ns\n800 main;f;g\n200 main;h\n", 0);
	tree_make(&pair.b, &pair.run_b,
		"event cpu-clock ns\n300 main;f;g\n400 main;h\n300 main;i\n", 2);
	assert_true(pair.b.least && pair.b.left_out);
	flame_view_compare(&pair.a, &pair.b, &(struct flame_view_options){0}, &pair.view);
	f = box_find(&pair.view, "f");
	assert_true(f && f->change < 0); /* of f itself both are known */
	assert_null(box_find(&pair.view, "g"));
	assert_int_equal(pair.view.left_out, 3); /* g, i, and what B left out below f */
	assert_true(pair.view.is_more && pair.view.narrowest > 0.4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boxes_stand_behind_their_callers_and_sum_up),
		cmocka_unit_test(a_function_is_inlined_only_where_it_never_was_called),
		cmocka_unit_test(what_is_left_out_is_counted_and_takes_its_callees_along),
		cmocka_unit_test(a_comparison_joins_by_name_and_by_the_modules_file_name),
		cmocka_unit_test(chance_is_no_change),
		cmocka_unit_test(a_comparison_loses_nothing),
		cmocka_unit_test(what_one_side_did_not_follow_has_not_changed),
	};

	return cmocka_run_group_tests_name("flame_view", tests, NULL, NULL);
}
