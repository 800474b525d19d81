/* stack_forest.c - see profile_parts.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "profile_parts.h"

void stack_forest_init(
	struct stack_forest *forest, const struct run *run, const struct profile_samples *samples)
{
	size_t count = (size_t)run->stacks.count + 1;

	*forest = (struct stack_forest){
		.run = run,
		.first_child = mem_new(count, sizeof(row_id)),
		.next_sibling = mem_new(count, sizeof(row_id)),
		.total = mem_new(count, sizeof(struct profile_cost)),
	};
	for (row_id stack = run->stacks.count; stack; stack--) {
		row_id parent = run->stacks.at[stack - 1].parent;

		profile_cost_add(&forest->total[stack], &samples->by_stack[stack]);
		if (!forest->total[stack].samples)
			continue;
		profile_cost_add(&forest->total[parent], &forest->total[stack]);
		forest->next_sibling[stack] = forest->first_child[parent];
		forest->first_child[parent] = stack;
	}
}

void stack_forest_done(struct stack_forest *forest)
{
	free(forest->first_child);
	free(forest->next_sibling);
	free(forest->total);
	*forest = (struct stack_forest){0};
}

void stack_forest_walk(const struct stack_forest *forest, stack_visit *visit, void *context)
{
	row_id stack = forest->first_child[0];

	while (stack) {
		visit(context, stack, true);
		if (forest->first_child[stack]) {
			stack = forest->first_child[stack];
			continue;
		}
		visit(context, stack, false);
		while (stack && !forest->next_sibling[stack]) {
			stack = forest->run->stacks.at[stack - 1].parent;
			if (stack)
				visit(context, stack, false);
		}
		stack = forest->next_sibling[stack];
	}
}
