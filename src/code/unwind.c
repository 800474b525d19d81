/* unwind.c - the walk up one stack.
 *
 * Pure: it reads what it is given and asks find(), nothing else; after the first samples it takes
 * no memory.  Every address it returns was written on the stack by a call or by the kernel, lies in
 * executable memory and was found by a rule, or by a frame pointer that points up the stack.  Where
 * none of that holds the walk stops and says why: a short true stack is worth more than a long one
 * that is partly made up.
 *
 * A return address may stand behind the last instruction of its function (a call that never
 * returns), so callers are looked up one byte before it.  The innermost frame and the one below a
 * signal trampoline were interrupted, not called: they are looked up as they are. */
#include <string.h>

#include "unwind_parts.h"

enum {
	STACK_LIMIT = 64 << 20, /* farther up than this is no stack of ours */
};

struct walk {
	const struct unwind_world *world;
	const struct unwind_stack *stack;
	struct unwind_registers registers;
	struct unwind_place place;
	bool exact;	     /* ip was interrupted, not called from */
	bool by_frame_chain; /* the last step was one of frame pointers */
	enum unwind_end end; /* why a step or a read failed */
};

static bool walk_end(struct walk *walk, enum unwind_end end)
{
	walk->end = end;
	return false;
}

static bool walk_read(struct walk *walk, uint64_t addr, uint64_t *ret_value)
{
	const struct unwind_stack *stack = walk->stack;
	uint64_t offset = addr - stack->base;

	if (addr >= stack->base && stack->len >= sizeof(*ret_value) &&
		offset <= stack->len - sizeof(*ret_value)) {
		memcpy(ret_value, stack->bytes + offset, sizeof(*ret_value));
		return true;
	}
	if (addr >= stack->base && stack->cut && offset < STACK_LIMIT)
		return walk_end(walk, UNWIND_TRUNCATED);
	return walk_end(walk, UNWIND_BROKEN);
}

static bool walk_read_for_expression(void *context, uint64_t addr, uint64_t *ret_value)
{
	return walk_read(context, addr, ret_value);
}

static uint64_t walk_lookup(const struct walk *walk)
{
	return walk->exact ? walk->registers.ip : walk->registers.ip - 1;
}

/* Signed return addresses carry their signature above the 48 bits of a user's address. */
static uint64_t address_strip(const struct walk *walk, uint64_t addr)
{
	return walk->world->machine == IMAGE_AARCH64 ? addr & ((1ull << 48) - 1) : addr;
}

static bool walk_evaluate(struct walk *walk, int32_t offset, const uint64_t *cfa, uint64_t *ret)
{
	struct expression_world world = {.machine = walk->world->machine,
		.registers = &walk->registers,
		.read = walk_read_for_expression,
		.context = walk};

	walk->end = UNWIND_BROKEN; /* unless a read says otherwise */
	return expression_evaluate(
		unwind_table_frames(walk->place.table), offset, cfa, &world, ret);
}

static bool walk_cfa(struct walk *walk, const struct unwind_rule *rule, uint64_t *ret_cfa)
{
	uint64_t offset = (uint64_t)(int64_t)rule->cfa_offset;

	switch (rule->cfa) {
	case CFA_SP:
		*ret_cfa = walk->registers.sp + offset;
		break;
	case CFA_FP:
		*ret_cfa = walk->registers.fp + offset;
		break;
	default:
		if (!walk_evaluate(walk, rule->cfa_offset, NULL, ret_cfa))
			return false;
	}
	/* The stack grows with each call; only a leaf of aarch64 may have no frame at all, and only
	 * a signal can come from another stack. */
	if (*ret_cfa > walk->registers.sp || rule->signal ||
		(*ret_cfa == walk->registers.sp && walk->exact &&
			walk->world->machine == IMAGE_AARCH64))
		return true;
	return walk_end(walk, UNWIND_BROKEN);
}

static bool walk_saved(
	struct walk *walk, uint8_t saved, int32_t offset, uint64_t cfa, uint64_t *value)
{
	uint64_t addr = cfa + (uint64_t)(int64_t)offset;

	switch (saved) {
	case SAVED_SAME:
		return true;
	case SAVED_AT:
		return walk_read(walk, addr, value);
	case SAVED_IS:
		*value = addr;
		return true;
	case SAVED_AT_EXPRESSION:
		return walk_evaluate(walk, offset, &cfa, &addr) && walk_read(walk, addr, value);
	case SAVED_IS_EXPRESSION:
		return walk_evaluate(walk, offset, &cfa, value);
	default: /* a frame pointer that is lost: 0 is below every stack, so it cannot mislead */
		*value = 0;
		return true;
	}
}

static bool walk_return_address(
	struct walk *walk, const struct unwind_rule *rule, uint64_t cfa, uint64_t *ret_ra)
{
	if (rule->ra == SAVED_ELSEWHERE)
		return walk_end(walk, UNWIND_BROKEN);
	if (rule->ra == SAVED_SAME) {
		/* In the link register, but only until the function's first call. */
		if (walk->world->machine != IMAGE_AARCH64 || !walk->exact)
			return walk_end(walk, UNWIND_BROKEN);
		*ret_ra = walk->registers.lr;
		return true;
	}
	return walk_saved(walk, rule->ra, rule->ra_offset, cfa, ret_ra);
}

/* gcc leaves out that a pop brought the register back: in an epilogue the rule still names the
 * slot, now below the stack pointer, where no bytes were copied.  The register holds the same
 * value. */
static bool walk_frame_pointer(
	struct walk *walk, const struct unwind_rule *rule, uint64_t cfa, uint64_t *fp)
{
	if (rule->fp == SAVED_AT && cfa + (uint64_t)(int64_t)rule->fp_offset < walk->registers.sp)
		return true;
	return walk_saved(walk, rule->fp, rule->fp_offset, cfa, fp);
}

static bool step_by_rule(struct walk *walk, const struct unwind_rule *rule)
{
	struct unwind_registers next = walk->registers;

	if (rule->ra == SAVED_UNDEFINED)
		return walk_end(walk, UNWIND_ROOT);
	/* Not a case for frame pointers: the function keeps its frame in another register, as the
	 * resolver of lazy binding does in rbx, and the chain would leave out its caller. */
	if (rule->cfa == CFA_UNKNOWN)
		return walk_end(walk, UNWIND_BROKEN);
	if (!walk_cfa(walk, rule, &next.sp) ||
		!walk_return_address(walk, rule, next.sp, &next.ip) ||
		!walk_frame_pointer(walk, rule, next.sp, &next.fp))
		return false;
	walk->registers = next;
	walk->exact = rule->signal;
	walk->by_frame_chain = false;
	return true;
}

/* Is this a frame that a call made?  Where the caller's code is at hand, a call must stand before
 * the return address; its frame pointer may then be anything, as above __do_global_dtors_aux, which
 * has a frame and no rules.  For JIT code the chain itself must go up. */
static bool walk_believes(const struct walk *walk, const struct unwind_registers *caller)
{
	uint64_t addr = address_strip(walk, caller->ip);
	struct unwind_place place = {0};

	if (addr == 0)
		return caller->fp == 0;
	if (!walk->world->find(walk->world->context, addr - 1, &place))
		return false;
	if (place.table)
		return unwind_table_has_call_before(place.table, addr - place.bias);
	return caller->fp == 0 || caller->fp >= caller->sp;
}

/* Saved frame pointer and return address lie side by side on both machines. */
static bool step_by_frame_pointer(struct walk *walk)
{
	uint64_t sp = walk->registers.sp, fp = walk->registers.fp;
	struct unwind_registers next = {.sp = fp + 16};

	if (fp == 0 && walk->by_frame_chain)
		return walk_end(walk, UNWIND_ROOT);
	if (fp < sp || fp % 8 || fp - sp > STACK_LIMIT)
		return walk_end(walk, UNWIND_BROKEN);
	if (!walk_read(walk, fp, &next.fp) || !walk_read(walk, fp + 8, &next.ip)) {
		/* Without JIT code this was only a try, and says nothing about the stack. */
		return walk_end(walk, walk->place.table ? UNWIND_BROKEN : walk->end);
	}
	/* The chain ends with 0: below the first function of a goroutine there is a return address
	 * that no call made. */
	if (!walk_believes(walk, &next))
		return walk_end(
			walk, next.fp == 0 && walk->by_frame_chain ? UNWIND_ROOT : UNWIND_BROKEN);
	walk->registers = next;
	walk->exact = false;
	walk->by_frame_chain = true;
	return true;
}

/* The registers lie in the frame that the kernel pushed: struct rt_sigframe of both machines. */
static bool step_over_signal(struct walk *walk)
{
	bool aarch64 = walk->world->machine == IMAGE_AARCH64;
	uint64_t sp = walk->registers.sp;
	struct unwind_registers next = {0};

	if (!walk_read(walk, sp + (aarch64 ? 568 : 168), &next.ip) ||
		!walk_read(walk, sp + (aarch64 ? 560 : 160), &next.sp) ||
		!walk_read(walk, sp + (aarch64 ? 544 : 120), &next.fp) ||
		(aarch64 && !walk_read(walk, sp + 552, &next.lr)))
		return false;
	walk->registers = next;
	walk->exact = true;
	walk->by_frame_chain = false;
	return true;
}

static bool step_over_stub(struct walk *walk, uint64_t pushed)
{
	struct unwind_registers *registers = &walk->registers;

	if (walk->world->machine == IMAGE_AARCH64)
		registers->ip = registers->lr;
	else if (walk_read(walk, registers->sp + pushed, &registers->ip))
		registers->sp += pushed + 8;
	else
		return false;
	walk->exact = false;
	return true;
}

static bool step_without_rule(struct walk *walk)
{
	uint64_t addr = walk->registers.ip - walk->place.bias;

	if (!walk->place.table)
		return step_by_frame_pointer(walk);
	switch (unwind_table_gap(walk->place.table, addr)) {
	case GAP_START:
		return walk_end(walk, UNWIND_ROOT);
	case GAP_SIGNAL:
		return step_over_signal(walk);
	case GAP_PLT:
		if (walk->exact)
			return step_over_stub(walk, 0);
		break;
	case GAP_PLT_PUSHED:
		if (walk->exact)
			return step_over_stub(walk, 8);
		break;
	case GAP_UNKNOWN:
		break;
	}
	return step_by_frame_pointer(walk);
}

static bool walk_step(struct walk *walk)
{
	const struct unwind_rule *rule = NULL;
	bool moved;

	if (walk->place.table)
		rule = unwind_table_rule(walk->place.table, walk_lookup(walk) - walk->place.bias);
	/* Kernels before 5.8 gave aarch64's trampoline rules, which lose the interrupted address.
	 */
	if (rule && rule->signal && walk->world->machine == IMAGE_AARCH64)
		moved = step_over_signal(walk);
	else
		moved = rule ? step_by_rule(walk, rule) : step_without_rule(walk);
	if (!moved)
		return false;
	walk->registers.ip = address_strip(walk, walk->registers.ip);
	if (walk->registers.ip == 0)
		return walk_end(walk, UNWIND_ROOT);
	walk->place = (struct unwind_place){0};
	if (!walk->world->find(walk->world->context, walk_lookup(walk), &walk->place))
		return walk_end(walk, UNWIND_BROKEN);
	return true;
}

size_t unwind_sample(const struct unwind_world *world, const struct unwind_registers *registers,
	const struct unwind_stack *stack, uint64_t *ret_addrs, size_t max, enum unwind_end *ret_end)
{
	struct walk walk = {.world = world, .stack = stack, .registers = *registers, .exact = true};
	size_t count = 0;

	walk.registers.ip = address_strip(&walk, registers->ip);
	walk.registers.lr = address_strip(&walk, registers->lr);
	ret_addrs[count++] = walk.registers.ip;
	*ret_end = UNWIND_BROKEN;
	if (!world->find(world->context, walk.registers.ip, &walk.place))
		return count;
	while (walk_step(&walk)) {
		if (count == max) {
			*ret_end = UNWIND_TOO_DEEP;
			return count;
		}
		ret_addrs[count++] = walk.registers.ip;
	}
	*ret_end = walk.end;
	return count;
}
