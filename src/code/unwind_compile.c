/* unwind_compile.c - the program of one FDE, run once into rows.
 *
 * The machine of DWARF keeps a column per register; here only the columns of the frame pointer and
 * the return address exist, and operations on others only move the cursor.  A row is emitted when
 * the address advances and the rule is another one than before.  The length of the bytes bounds
 * everything: there are no loops in these programs. */
#include <string.h>

#include "unwind_parts.h"

enum { REMEMBERED_LIMIT = 16 };

struct state {
	uint64_t cfa_register;
	struct unwind_rule rule; /* .cfa is told from cfa_register, or CFA_EXPRESSION */
};

struct compiler {
	const struct frame_entry *entry;
	const struct image_bytes *frames;
	struct unwind_numbers numbers;
	struct cursor program;
	struct state state, first, remembered[REMEMBERED_LIMIT];
	unsigned depth;
	uint64_t pc_offset;
	bool failed, emitted;
	struct unwind_rule last; /* the one of the newest row */
	unwind_row_taker *take;
	void *context;
};

struct unwind_numbers unwind_numbers(enum image_machine machine)
{
	return machine == IMAGE_AARCH64 ? (struct unwind_numbers){.fp = 29, .sp = 31, .ra = 30}
					: (struct unwind_numbers){.fp = 6, .sp = 7, .ra = 16};
}

/* The state as a rule: equal ones are equal bytes. */
static struct unwind_rule state_rule(const struct compiler *c)
{
	struct unwind_rule rule = c->state.rule;

	if (rule.ra == SAVED_UNDEFINED)
		return (struct unwind_rule){.ra = SAVED_UNDEFINED};
	if (rule.cfa != CFA_EXPRESSION) {
		if (c->state.cfa_register == c->numbers.sp)
			rule.cfa = CFA_SP;
		else if (c->state.cfa_register == c->numbers.fp)
			rule.cfa = CFA_FP;
		else
			return (struct unwind_rule){0};
	}
	rule.signal = c->entry->signal;
	return rule;
}

static void emit(struct compiler *c)
{
	struct unwind_rule rule = state_rule(c);

	if (c->pc_offset >= c->entry->pc_bytes ||
		(c->emitted && memcmp(&rule, &c->last, sizeof(rule)) == 0))
		return;
	c->take(c->context, (uint32_t)c->pc_offset, &rule);
	c->last = rule;
	c->emitted = true;
}

static void advance(struct compiler *c, uint64_t units)
{
	uint64_t bytes;

	/* Behind the function's end nothing matters any more. */
	if (__builtin_mul_overflow(units, c->entry->code_align, &bytes) ||
		bytes > c->entry->pc_bytes)
		bytes = c->entry->pc_bytes;
	if (bytes)
		emit(c);
	c->pc_offset += bytes;
	if (c->pc_offset > c->entry->pc_bytes)
		c->pc_offset = c->entry->pc_bytes;
}

static void advance_to(struct compiler *c)
{
	uint64_t addr = c->frames->addr + (uint64_t)(c->program.at - c->frames->at);
	uint64_t pc = cursor_encoded(&c->program, c->entry->encoding, addr);

	if (pc - c->entry->pc < c->pc_offset || pc - c->entry->pc > c->entry->pc_bytes) {
		c->failed = true;
		return;
	}
	emit(c);
	c->pc_offset = pc - c->entry->pc;
}

static void save(struct compiler *c, uint64_t number, enum rule_saved saved, int64_t offset)
{
	struct unwind_rule *rule = &c->state.rule;

	if (offset != (int32_t)offset) {
		saved = SAVED_ELSEWHERE;
		offset = 0;
	}
	if (number == c->numbers.fp) {
		rule->fp = (uint8_t)saved;
		rule->fp_offset = (int32_t)offset;
	} else if (number == c->numbers.ra) {
		rule->ra = (uint8_t)saved;
		rule->ra_offset = (int32_t)offset;
	}
}

static void restore(struct compiler *c, uint64_t number)
{
	const struct unwind_rule *first = &c->first.rule;

	if (number == c->numbers.fp)
		save(c, number, (enum rule_saved)first->fp, first->fp_offset);
	else if (number == c->numbers.ra)
		save(c, number, (enum rule_saved)first->ra, first->ra_offset);
}

static int64_t scaled(const struct compiler *c, uint64_t factor)
{
	return (int64_t)(factor * (uint64_t)c->entry->data_align);
}

static void cfa_set_offset(struct compiler *c, int64_t offset)
{
	c->failed |= offset != (int32_t)offset || c->state.rule.cfa == CFA_EXPRESSION;
	c->state.rule.cfa_offset = (int32_t)offset;
}

static void cfa_set(struct compiler *c, uint64_t number, int64_t offset)
{
	c->state.rule.cfa = CFA_UNKNOWN;
	c->state.cfa_register = number;
	cfa_set_offset(c, offset);
}

/* Where the expression stands, and over it. */
static int64_t expression_skip(struct compiler *c)
{
	int64_t offset = c->program.at - c->frames->at;

	cursor_skip(&c->program, cursor_uleb(&c->program));
	return offset;
}

static void run_cfa(struct compiler *c, unsigned operation)
{
	uint64_t number;

	switch (operation) {
	case 0x0c: /* def_cfa */
		number = cursor_uleb(&c->program);
		cfa_set(c, number, (int64_t)cursor_uleb(&c->program));
		break;
	case 0x0d: /* def_cfa_register */
		c->state.cfa_register = cursor_uleb(&c->program);
		c->failed |= c->state.rule.cfa == CFA_EXPRESSION;
		break;
	case 0x0e: /* def_cfa_offset */
		cfa_set_offset(c, (int64_t)cursor_uleb(&c->program));
		break;
	case 0x0f: /* def_cfa_expression */
		cfa_set(c, 0, expression_skip(c));
		c->state.rule.cfa = CFA_EXPRESSION;
		break;
	case 0x12: /* def_cfa_sf */
		number = cursor_uleb(&c->program);
		cfa_set(c, number, scaled(c, (uint64_t)cursor_sleb(&c->program)));
		break;
	default: /* 0x13, def_cfa_offset_sf */
		cfa_set_offset(c, scaled(c, (uint64_t)cursor_sleb(&c->program)));
	}
}

static void run_column(struct compiler *c, unsigned operation)
{
	uint64_t number = cursor_uleb(&c->program);

	switch (operation) {
	case 0x05: /* offset_extended */
		save(c, number, SAVED_AT, scaled(c, cursor_uleb(&c->program)));
		break;
	case 0x06: /* restore_extended */
		restore(c, number);
		break;
	case 0x07: /* undefined */
		save(c, number, SAVED_UNDEFINED, 0);
		break;
	case 0x08: /* same_value */
		save(c, number, SAVED_SAME, 0);
		break;
	case 0x09: /* register */
		cursor_uleb(&c->program);
		save(c, number, SAVED_ELSEWHERE, 0);
		break;
	case 0x10: /* expression */
		save(c, number, SAVED_AT_EXPRESSION, expression_skip(c));
		break;
	case 0x11: /* offset_extended_sf */
		save(c, number, SAVED_AT, scaled(c, (uint64_t)cursor_sleb(&c->program)));
		break;
	case 0x14: /* val_offset */
		save(c, number, SAVED_IS, scaled(c, cursor_uleb(&c->program)));
		break;
	case 0x15: /* val_offset_sf */
		save(c, number, SAVED_IS, scaled(c, (uint64_t)cursor_sleb(&c->program)));
		break;
	case 0x16: /* val_expression */
		save(c, number, SAVED_IS_EXPRESSION, expression_skip(c));
		break;
	default: /* 0x2f, GNU_negative_offset_extended */
		save(c, number, SAVED_AT, scaled(c, -cursor_uleb(&c->program)));
	}
}

static void remember(struct compiler *c)
{
	if (c->depth == REMEMBERED_LIMIT)
		c->failed = true;
	else
		c->remembered[c->depth++] = c->state;
}

static void recall(struct compiler *c)
{
	if (c->depth == 0)
		c->failed = true;
	else
		c->state = c->remembered[--c->depth];
}

static void run_extended(struct compiler *c, unsigned operation)
{
	switch (operation) {
	case 0x00: /* nop */
	case 0x2c: /* AARCH64_negate_ra_state_with_pc */
	case 0x2d: /* AARCH64_negate_ra_state: return addresses are always stripped */
		break;
	case 0x01: /* set_loc */
		advance_to(c);
		break;
	case 0x02: /* advance_loc1, 2, 4 */
	case 0x03:
	case 0x04:
		advance(c, cursor_number(&c->program, 1u << (operation - 2)));
		break;
	case 0x0a:
		remember(c);
		break;
	case 0x0b:
		recall(c);
		break;
	case 0x1d: /* MIPS_advance_loc8 */
		advance(c, cursor_number(&c->program, 8));
		break;
	case 0x2e: /* GNU_args_size: bytes pushed for a call; def_cfa_offset says it too */
		cursor_uleb(&c->program);
		break;
	default:
		if ((operation >= 0x0c && operation <= 0x0f) || operation == 0x12 ||
			operation == 0x13)
			run_cfa(c, operation);
		else if ((operation >= 0x05 && operation <= 0x11) ||
			 (operation >= 0x14 && operation <= 0x16) || operation == 0x2f)
			run_column(c, operation);
		else
			c->failed = true;
	}
}

static void run(struct compiler *c, struct cursor program)
{
	c->program = program;
	while (cursor_left(&c->program) && !c->failed) {
		unsigned operation = (unsigned)cursor_number(&c->program, 1);
		unsigned low = operation & 0x3f;

		switch (operation >> 6) {
		case 1: /* advance_loc */
			advance(c, low);
			break;
		case 2: /* offset */
			save(c, low, SAVED_AT, scaled(c, cursor_uleb(&c->program)));
			break;
		case 3: /* restore */
			restore(c, low);
			break;
		default:
			run_extended(c, low);
		}
	}
	c->failed |= c->program.broken;
}

bool frame_entry_compile(const struct frame_entry *entry, const struct image_bytes *frames,
	enum image_machine machine, unwind_row_taker *take, void *context)
{
	struct compiler c = {
		.entry = entry,
		.frames = frames,
		.numbers = unwind_numbers(machine),
		.take = take,
		.context = context,
		.state.cfa_register = UINT64_MAX,
	};

	if (entry->unusual)
		return false;
	run(&c, entry->first);
	/* A CIE has no addresses to advance over. */
	if (c.failed || c.pc_offset)
		return false;
	c.first = c.state;
	run(&c, entry->program);
	if (!c.failed)
		emit(&c);
	return !c.failed;
}
