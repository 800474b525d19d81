/* unwind_expression.c - DWARF expressions of unwind rules, without loops.
 *
 * They occur in three places: stubs of the PLT (sp+8, or sp+16 behind a push), signal trampolines
 * (the registers lie in the kernel's frame) and functions that realign their stack.  None of them
 * branches, so without branches one pass over the bytes is the bound. */
#include "unwind_parts.h"

enum { DEPTH_LIMIT = 16 };

struct machine { /* the small one that evaluates */
	struct cursor program;
	const struct expression_world *world;
	uint64_t stack[DEPTH_LIMIT];
	unsigned depth;
	bool failed;
};

static void stack_push(struct machine *m, uint64_t value)
{
	if (m->depth == DEPTH_LIMIT)
		m->failed = true;
	else
		m->stack[m->depth++] = value;
}

static uint64_t stack_pop(struct machine *m)
{
	if (m->depth)
		return m->stack[--m->depth];
	m->failed = true;
	return 0;
}

static void stack_copy(struct machine *m, uint64_t down)
{
	if (down >= m->depth)
		m->failed = true;
	else
		stack_push(m, m->stack[m->depth - 1 - down]);
}

static void step_register(struct machine *m, unsigned number)
{
	struct unwind_numbers numbers = unwind_numbers(m->world->machine);
	const struct unwind_registers *registers = m->world->registers;
	int64_t offset = cursor_sleb(&m->program);
	uint64_t value = 0;

	if (number == numbers.sp)
		value = registers->sp;
	else if (number == numbers.fp)
		value = registers->fp;
	else if (number == numbers.ra)
		value = m->world->machine == IMAGE_AARCH64 ? registers->lr : registers->ip;
	else
		m->failed = true;
	stack_push(m, value + (uint64_t)offset);
}

static uint64_t shift(uint64_t value, uint64_t bits, unsigned operation)
{
	if (operation == 0x26) /* arithmetic */
		return (uint64_t)((int64_t)value >> (bits < 63 ? bits : 63));
	if (bits > 63)
		return 0;
	return operation == 0x24 ? value << bits : value >> bits;
}

static void step_two(struct machine *m, unsigned operation)
{
	uint64_t b = stack_pop(m), a = stack_pop(m), value = 0;

	switch (operation) {
	case 0x1a:
		value = a & b;
		break;
	case 0x1c:
		value = a - b;
		break;
	case 0x1e:
		value = a * b;
		break;
	case 0x21:
		value = a | b;
		break;
	case 0x22:
		value = a + b;
		break;
	case 0x24:
	case 0x25:
	case 0x26:
		value = shift(a, b, operation);
		break;
	case 0x27:
		value = a ^ b;
		break;
	case 0x29:
		value = a == b;
		break;
	case 0x2a:
		value = (int64_t)a >= (int64_t)b;
		break;
	case 0x2b:
		value = (int64_t)a > (int64_t)b;
		break;
	case 0x2c:
		value = (int64_t)a <= (int64_t)b;
		break;
	case 0x2d:
		value = (int64_t)a < (int64_t)b;
		break;
	case 0x2e:
		value = a != b;
		break;
	default:
		m->failed = true;
	}
	stack_push(m, value);
}

/* DW_OP_const1u .. DW_OP_consts. */
static void step_constant(struct machine *m, unsigned operation)
{
	unsigned bytes = 1u << (operation - 0x08) / 2;

	if (operation == 0x10)
		stack_push(m, cursor_uleb(&m->program));
	else if (operation == 0x11)
		stack_push(m, (uint64_t)cursor_sleb(&m->program));
	else if (operation & 1)
		stack_push(m, (uint64_t)cursor_signed(&m->program, bytes));
	else
		stack_push(m, cursor_number(&m->program, bytes));
}

static void step_deref(struct machine *m)
{
	uint64_t value = 0;

	if (!m->world->read(m->world->context, stack_pop(m), &value))
		m->failed = true;
	stack_push(m, value);
}

static void step_one(struct machine *m, unsigned operation)
{
	if (operation >= 0x30 && operation <= 0x4f)
		stack_push(m, operation - 0x30);
	else if (operation >= 0x70 && operation <= 0x8f)
		step_register(m, operation - 0x70);
	else if (operation == 0x92)
		step_register(m, (unsigned)cursor_uleb(&m->program));
	else if (operation >= 0x08 && operation <= 0x11)
		step_constant(m, operation);
	else if (operation == 0x06)
		step_deref(m);
	else if (operation == 0x12)
		stack_copy(m, 0);
	else if (operation == 0x13)
		stack_pop(m);
	else if (operation == 0x14)
		stack_copy(m, 1);
	else if (operation == 0x1f)
		stack_push(m, -stack_pop(m));
	else if (operation == 0x20)
		stack_push(m, ~stack_pop(m));
	else if (operation == 0x23)
		stack_push(m, stack_pop(m) + cursor_uleb(&m->program));
	else if (operation != 0x96) /* DW_OP_nop */
		step_two(m, operation);
}

bool expression_evaluate(const struct image_bytes *frames, int32_t offset, const uint64_t *first,
	const struct expression_world *world, uint64_t *ret_value)
{
	struct machine m = {.world = world, .program = cursor_over(*frames, (uint64_t)offset)};
	uint64_t len = cursor_uleb(&m.program);

	if (len > cursor_left(&m.program))
		return false;
	m.program.end = m.program.at + len;
	if (first)
		stack_push(&m, *first);
	while (cursor_left(&m.program) && !m.failed)
		step_one(&m, (unsigned)cursor_number(&m.program, 1));
	*ret_value = stack_pop(&m);
	return !m.failed && !m.program.broken;
}
