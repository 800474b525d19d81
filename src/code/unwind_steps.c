/* unwind_steps.c - see unwind.h: rules that need no expression and no third register. */
#include <string.h>

#include "unwind_parts.h"

static bool rule_is_plain(const struct unwind_rule *rule)
{
	return (rule->cfa == CFA_SP || rule->cfa == CFA_FP) && !rule->signal &&
	       (rule->ra == SAVED_AT || rule->ra == SAVED_SAME) &&
	       (rule->fp == SAVED_AT || rule->fp == SAVED_SAME || rule->fp == SAVED_UNDEFINED);
}

static struct unwind_step step_of(uint64_t addr, const struct unwind_rule *rule)
{
	struct unwind_step step = {.addr = addr};

	if (!rule_is_plain(rule))
		return step;
	step.frame = rule->cfa == CFA_SP ? UNWIND_FRAME_SP : UNWIND_FRAME_FP;
	step.cfa_offset = rule->cfa_offset;
	step.ra_offset = rule->ra == SAVED_AT ? rule->ra_offset : 0;
	step.fp_offset = rule->fp == SAVED_AT ? rule->fp_offset : 0;
	return step;
}

static bool step_is_same(const struct unwind_step *a, const struct unwind_step *b)
{
	return a->frame == b->frame && a->cfa_offset == b->cfa_offset &&
	       a->ra_offset == b->ra_offset && a->fp_offset == b->fp_offset;
}

/* The end of a function is the beginning of the next, mostly; functions made to overlap keep what
 * came first. */
static void step_take(void *context, uint64_t addr, const struct unwind_rule *rule, bool begins)
{
	unwind_step_vec *steps = context;
	struct unwind_step step = step_of(addr, rule);

	step.begins = begins;

	if (steps->count && steps->at[steps->count - 1].addr > addr)
		return;
	if (steps->count && steps->at[steps->count - 1].addr == addr)
		steps->count--;
	if (begins || !steps->count || !step_is_same(&steps->at[steps->count - 1], &step))
		vec_push(steps, step);
}

void unwind_table_steps(struct unwind_table *table, unwind_step_vec *ret_steps)
{
	unwind_table_each(table, step_take, ret_steps);
}
