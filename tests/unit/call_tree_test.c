/* call_tree_test.c - stacks merged into trees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/call_tree.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/run.h"
#include "profile_text.h"

static const char shop[] = "event cpu-clock ns\n"
			   "thread 7 7 prog\n"
			   "10 main;work;leaf\n"
			   "20 main;work;+tiny\n"
			   "30 main;twice;twice;leaf\n"
			   "5 ?@libx.so;leaf\n"
			   "1 -\n";

/* The node at the end of a path of names, NULL when there is none. */
static const struct call_tree_node *node_at(const struct call_tree *tree, const char *path)
{
	mem_auto char *copy = mem_copy_text(path, strlen(path));
	const struct call_tree_node *node = tree->nodes.at;
	char *save = NULL;

	for (char *word = strtok_r(copy, ";", &save); word; word = strtok_r(NULL, ";", &save)) {
		uint32_t child = node->first_child;

		while (child &&
			strcmp(call_tree_label(tree, &tree->nodes.at[child])->name, word) != 0)
			child = tree->nodes.at[child].next_sibling;
		if (!child)
			return NULL;
		node = &tree->nodes.at[child];
	}
	return node;
}

static void assert_node(
	const struct call_tree *tree, const char *path, uint64_t self, uint64_t total)
{
	const struct call_tree_node *node = node_at(tree, path);

	if (!node) {
		print_message("# no node at %s\n", path);
		fail();
		return;
	}
	assert_int_equal(node->self.samples, self);
	assert_int_equal(node->total.samples, total);
}

static void make(struct call_tree *tree, const struct run *run, struct call_tree_options options)
{
	struct err err = {0};

	if (call_tree_make(run, &options, tree, &err) < 0)
		print_message("# %s\n", err.text);
	assert_int_equal(err.code, 0);
}

static void a_tree_merges_stacks_by_function_with_inlines_between(void **state)
{
	run_auto struct run *run = profile_text_run(shop);
	call_tree_auto struct call_tree tree = {0};

	(void)state;
	make(&tree, run, (struct call_tree_options){0});
	assert_node(&tree, "", 0, 66);
	assert_node(&tree, "main", 0, 60);
	assert_node(&tree, "main;work", 0, 30);
	assert_node(&tree, "main;work;tiny", 20, 20);
	assert_node(&tree, "main;twice;twice;leaf", 30, 30);
	assert_node(&tree, "[unknown];leaf", 5, 5);
	assert_node(&tree, "[no stack]", 1, 1);
	assert_int_equal(tree.deepest, 4);
	assert_int_equal(tree.cut, 0);
}

static void an_inverted_tree_starts_at_the_innermost_function(void **state)
{
	run_auto struct run *run = profile_text_run(shop);
	call_tree_auto struct call_tree tree = {0};

	(void)state;
	make(&tree, run, (struct call_tree_options){.inverted = true});
	assert_node(&tree, "", 0, 66);
	assert_node(&tree, "leaf", 0, 45);
	assert_node(&tree, "leaf;work", 0, 10);
	assert_node(&tree, "leaf;work;main", 10, 10);
	assert_node(&tree, "leaf;twice;twice;main", 30, 30);
	assert_node(&tree, "leaf;[unknown]", 5, 5);
	assert_node(&tree, "tiny;work;main", 20, 20);
}

static void callees_of_a_recursive_function_count_each_sample_once(void **state)
{
	run_auto struct run *run = profile_text_run(shop);
	call_tree_auto struct call_tree tree = {0};

	(void)state;
	make(&tree, run, (struct call_tree_options){.root = "twice"});
	assert_node(&tree, "", 0, 30);
	assert_node(&tree, "twice", 0, 30);
	assert_node(&tree, "twice;twice;leaf", 30, 30);
	assert_null(node_at(&tree, "main"));
	assert_null(node_at(&tree, "[no stack]"));
}

static void callers_of_a_function_lead_outwards_from_its_outermost_call(void **state)
{
	run_auto struct run *run = profile_text_run(shop);
	call_tree_auto struct call_tree tree = {0};
	call_tree_auto struct call_tree inlined = {0};

	(void)state;
	make(&tree, run, (struct call_tree_options){.root = "twice", .inverted = true});
	assert_node(&tree, "", 0, 30);
	assert_node(&tree, "twice;main", 30, 30);
	make(&inlined, run, (struct call_tree_options){.root = "work", .inverted = true});
	assert_node(&inlined, "work;main", 30, 30);
	assert_null(node_at(&inlined, "tiny"));
}

static void frames_beyond_the_depth_are_counted_as_cut(void **state)
{
	run_auto struct run *run = profile_text_run(shop);
	call_tree_auto struct call_tree down = {0}, up = {0};

	(void)state;
	make(&down, run, (struct call_tree_options){.depth = 2});
	assert_node(&down, "main;twice", 0, 30); /* nothing ended there */
	assert_node(&down, "main;work", 0, 30);
	assert_int_equal(down.cut, 60);
	make(&up, run, (struct call_tree_options){.depth = 2, .inverted = true});
	assert_node(&up, "leaf;twice", 0, 30);
	assert_node(&up, "", 0, 66);
	assert_int_equal(down.left_out + up.left_out, 0);
}

/* The node of `tree` that node `index` of the whole tree is, NULL: it is not there. */
static const struct call_tree_node *same_node(
	const struct call_tree *tree, const struct call_tree *whole, uint32_t index)
{
	const struct call_tree_node *node = &whole->nodes.at[index], *above;

	if (!index)
		return tree->nodes.at;
	above = same_node(tree, whole, node->parent);
	for (uint32_t child = above ? above->first_child : 0; child;
		child = tree->nodes.at[child].next_sibling)
		if (tree->nodes.at[child].label == node->label)
			return &tree->nodes.at[child];
	return NULL;
}

/* Told as what it is: not as depth, and not by where a stack stands in the file. */
static void a_bound_on_nodes_leaves_out_the_lightest_and_says_so(void **state)
{
	run_auto struct run *run = profile_text_run(shop);
	unsigned bounded = 0;

	(void)state;
	for (unsigned i = 0; i < 24; i++) {
		call_tree_auto struct call_tree tree = {0}, whole = {0};

		make(&whole, run, (struct call_tree_options){.inverted = i % 2});
		make(&tree, run, (struct call_tree_options){.inverted = i % 2, .nodes = 1 + i / 2});
		assert_int_equal(tree.nodes.at[0].total.samples, 66);
		assert_int_equal(tree.cut, 0);
		for (uint32_t n = 0; n < whole.nodes.count; n++) {
			const struct call_tree_node *same = same_node(&tree, &whole, n);

			if (whole.nodes.at[n].total.weight > tree.least)
				assert_non_null(same);
			if (same) {
				assert_int_equal(
					same->total.weight, whole.nodes.at[n].total.weight);
				assert_int_equal(same->self.weight, whole.nodes.at[n].self.weight);
			}
		}
		assert_int_equal(tree.left_out > 0, tree.nodes.count < whole.nodes.count);
		assert_in_range(tree.left_out, 0, whole.nodes.count - tree.nodes.count);
		bounded += tree.left_out > 0;
	}
	assert_in_range(bounded, 4, 20);
}

/* Seven stacks go on from one function's lines, but only one box is missing below it. */
static void boxes_that_are_left_out_are_counted_and_not_the_stacks(void **state)
{
	run_auto struct run *run = profile_text_run("event cpu-clock ns\n"
						    "100 main;wide\n"
						    "1 main;f:1;leaf\n1 main;f:2;leaf\n"
						    "1 main;f:3;leaf\n1 main;f:4;leaf\n"
						    "1 main;f:5;leaf\n1 main;f:6;leaf\n"
						    "1 main;f:7;leaf\n");
	call_tree_auto struct call_tree tree = {0};

	(void)state;
	make(&tree, run, (struct call_tree_options){.nodes = 2});
	assert_non_null(node_at(&tree, "main;f"));
	assert_null(node_at(&tree, "main;f;leaf"));
	assert_int_equal(tree.left_out, 1);
}

static void children_are_put_in_order(void **state)
{
	run_auto struct run *run = profile_text_run(shop);
	call_tree_auto struct call_tree tree = {0};
	const struct call_tree_node *main_node;

	(void)state;
	make(&tree, run, (struct call_tree_options){0});
	for (unsigned i = 0; i < 3; i++) { /* also when it was in another order before */
		call_tree_sort(&tree, i == 1 ? CALL_TREE_BY_TOTAL : CALL_TREE_BY_NAME);
		main_node = node_at(&tree, "main;work");
		assert_string_equal(
			call_tree_label(&tree, &tree.nodes.at[main_node->first_child])->name,
			i == 1 ? "tiny" : "leaf");
		assert_node(&tree, "main;work;tiny", 20, 20);
		assert_node(&tree, "main;work;leaf", 10, 10);
	}
}

static void a_tree_by_line_tells_lines_of_one_function_apart(void **state)
{
	run_auto struct run *run = profile_text_run("event cycles\n"
						    "3 main:1;work:5\n"
						    "4 main:1;work:6\n"
						    "5 main:2;work:6\n");
	call_tree_auto struct call_tree lines = {0}, functions = {0};

	(void)state;
	make(&lines, run, (struct call_tree_options){.by = LABEL_LINE});
	assert_int_equal(lines.nodes.count, 1 + 2 + 3);
	make(&functions, run, (struct call_tree_options){.by = LABEL_FUNCTION});
	assert_int_equal(functions.nodes.count, 1 + 2);
	assert_node(&functions, "main;work", 12, 12);
}

static void a_deep_recursion_is_one_chain(void **state)
{
	str_auto struct str text = {0};
	run_auto struct run *run = NULL;
	call_tree_auto struct call_tree tree = {0};

	(void)state;
	str_add(&text, "event cycles\n3 main");
	for (unsigned i = 0; i < 10000; i++)
		str_add(&text, ";deep");
	str_add(&text, "\n");
	run = profile_text_run(text.at);
	make(&tree, run, (struct call_tree_options){.depth = 20000});
	assert_int_equal(tree.deepest, 10001);
	assert_int_equal(tree.nodes.at[0].total.samples, 3);
}

static void the_root_is_found_by_name_part_of_it_or_not_at_all(void **state)
{
	run_auto struct run *run = profile_text_run("event cycles\n"
						    "1 main;ore::wash(int);ore::wash(char)\n"
						    "1 main;ore::melt(int)\n");
	const char *good[] = {"ore::melt(int)", "ore::melt", "melt"};
	struct err err = {0};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		call_tree_auto struct call_tree tree = {0};

		make(&tree, run, (struct call_tree_options){.root = good[i]});
		assert_node(&tree, "ore::melt(int)", 1, 1);
	}
	assert_true(call_tree_make(run, &(struct call_tree_options){.root = "ore::wash"},
			    &(struct call_tree){0}, &err) < 0);
	assert_non_null(strstr(err.hint, "ore::wash(char)"));
	assert_true(call_tree_make(run, &(struct call_tree_options){.root = "mian"},
			    &(struct call_tree){0}, &err) < 0);
	assert_non_null(strstr(err.hint, "did you mean 'main'"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tree_merges_stacks_by_function_with_inlines_between),
		cmocka_unit_test(an_inverted_tree_starts_at_the_innermost_function),
		cmocka_unit_test(callees_of_a_recursive_function_count_each_sample_once),
		cmocka_unit_test(callers_of_a_function_lead_outwards_from_its_outermost_call),
		cmocka_unit_test(frames_beyond_the_depth_are_counted_as_cut),
		cmocka_unit_test(a_bound_on_nodes_leaves_out_the_lightest_and_says_so),
		cmocka_unit_test(boxes_that_are_left_out_are_counted_and_not_the_stacks),
		cmocka_unit_test(children_are_put_in_order),
		cmocka_unit_test(a_tree_by_line_tells_lines_of_one_function_apart),
		cmocka_unit_test(a_deep_recursion_is_one_chain),
		cmocka_unit_test(the_root_is_found_by_name_part_of_it_or_not_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
