/* formula.c - recursive descent into postfix steps.
 *
 *     sum     = product { (+|-) product }
 *     product = factor { (*|/) factor }
 *     factor  = number | name | - factor | ( sum ) | min( sum , sum ) | max( sum , sum )
 *
 * Postfix keeps evaluation a loop over a small fixed stack.  The depth limit of the parser bounds
 * both its recursion and that stack, whatever a text file or the fuzzer brings. */
#include "analyze/formula.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum formula_op {
	OP_NUMBER,
	OP_NAME,
	OP_NEGATE,
	OP_ADD,
	OP_SUBTRACT,
	OP_MULTIPLY,
	OP_DIVIDE,
	OP_LEAST,
	OP_MOST,
};

struct formula_step {
	enum formula_op op;
	uint32_t name;
	double number;
};

struct parser {
	const char *text, *at;
	struct arena *arena;
	struct formula *formula;
	struct formula_step *steps;
	unsigned depth;
	unsigned calls; /* open min( and max(: there a comma ends a word */
	struct err *err;
};

static int parse_sum(struct parser *p);

static int refuse(struct parser *p, const char *what)
{
	return err_set(p->err, ERR_USAGE, EINVAL, "formula '%.200s': %s at character %td", p->text,
		what, p->at - p->text + 1);
}

static void skip_blanks(struct parser *p)
{
	while (*p->at == ' ' || *p->at == '\t')
		p->at++;
}

static int add_step(struct parser *p, struct formula_step step)
{
	if (p->formula->steps_count == FORMULA_STEPS)
		return refuse(p, "it is too long");
	p->steps[p->formula->steps_count++] = step;
	return 0;
}

static uint32_t name_index(struct parser *p, const char *name, size_t len)
{
	struct formula *formula = p->formula;

	for (uint32_t i = 0; i < formula->names_count; i++)
		if (strlen(formula->names[i]) == len && memcmp(formula->names[i], name, len) == 0)
			return i;
	formula->names[formula->names_count] = arena_text(p->arena, name, len);
	return formula->names_count++;
}

static bool char_is_name(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_.:-/=,", c));
}

/* Whether the word goes on here; `slashes` of it were seen. */
static bool word_goes_on(const struct parser *p, unsigned slashes)
{
	return char_is_name(*p->at) && !(*p->at == ',' && p->calls && slashes % 2 == 0);
}

static int parse_name(struct parser *p)
{
	const char *start = p->at;
	unsigned slashes = 0;

	for (; word_goes_on(p, slashes); p->at++)
		slashes += *p->at == '/';
	if (slashes % 2)
		return refuse(p, "a slash without spaces around it ends");
	if (strchr("-:=,", p->at[-1]))
		return refuse(p, "an unfinished name ends");
	if (p->formula->steps_count == FORMULA_STEPS) /* before a name is kept: names <= steps */
		return refuse(p, "it is too long");
	return add_step(p, (struct formula_step){OP_NAME, name_index(p, start, p->at - start), 0});
}

static int parse_number(struct parser *p)
{
	char *end;
	double number = strtod(p->at, &end);

	if (end == p->at || !isfinite(number) || (char_is_name(*end) && !(*end == ',' && p->calls)))
		return refuse(p, "a malformed number");
	p->at = end;
	return add_step(p, (struct formula_step){OP_NUMBER, 0, number});
}

static int parse_sign(struct parser *p, char sign, const char *what)
{
	skip_blanks(p);
	if (*p->at != sign)
		return refuse(p, what);
	p->at++;
	return 0;
}

/* "min(a, b)" and "max(a, b)", standing behind the parenthesis. */
static int parse_call(struct parser *p, enum formula_op op)
{
	int r;

	if (++p->depth > FORMULA_DEPTH)
		return refuse(p, "it is nested too deeply");
	p->calls++;
	r = parse_sum(p);
	if (r == 0)
		r = parse_sign(p, ',', "a missing ','");
	if (r == 0)
		r = parse_sum(p);
	if (r == 0)
		r = parse_sign(p, ')', "a missing ')'");
	p->calls--;
	p->depth--;
	return r < 0 ? r : add_step(p, (struct formula_step){.op = op});
}

static int parse_factor(struct parser *p)
{
	int r;

	skip_blanks(p);
	if (str_starts(p->at, "min(") || str_starts(p->at, "max(")) {
		enum formula_op op = p->at[1] == 'i' ? OP_LEAST : OP_MOST;

		p->at += 4;
		return parse_call(p, op);
	}
	if (isalpha((unsigned char)*p->at) || *p->at == '_')
		return parse_name(p);
	if (isdigit((unsigned char)*p->at) || *p->at == '.')
		return parse_number(p);
	if (*p->at != '-' && *p->at != '(')
		return refuse(p,
			*p->at ? "something that is neither a name nor a number" : "an early end");
	if (++p->depth > FORMULA_DEPTH)
		return refuse(p, "it is nested too deeply");
	if (*p->at++ == '-') {
		r = parse_factor(p);
		r = r < 0 ? r : add_step(p, (struct formula_step){.op = OP_NEGATE});
	} else {
		r = parse_sum(p);
		if (r == 0 && *p->at++ != ')') {
			p->at--;
			r = refuse(p, "a missing ')'");
		}
	}
	p->depth--;
	return r;
}

/* Left-associative chain of `first` and `second` over the next level down. */
static int parse_chain(struct parser *p, int (*next)(struct parser *), const char *signs,
	const enum formula_op *ops)
{
	int r = next(p);

	while (r == 0) {
		enum formula_op op;

		skip_blanks(p);
		if (*p->at != signs[0] && *p->at != signs[1])
			break;
		op = *p->at++ == signs[0] ? ops[0] : ops[1];
		r = next(p);
		r = r < 0 ? r : add_step(p, (struct formula_step){.op = op});
	}
	return r;
}

static int parse_product(struct parser *p)
{
	return parse_chain(
		p, parse_factor, "*/", (const enum formula_op[]){OP_MULTIPLY, OP_DIVIDE});
}

static int parse_sum(struct parser *p)
{
	return parse_chain(p, parse_product, "+-", (const enum formula_op[]){OP_ADD, OP_SUBTRACT});
}

int formula_parse(
	struct arena *arena, const char *text, struct formula *ret_formula, struct err *err)
{
	struct formula formula = {0};
	struct formula_step steps[FORMULA_STEPS];
	const char *names[FORMULA_STEPS];
	struct parser p = {text, text, arena, &formula, steps, 0, 0, err};
	int r;

	formula.names = names;
	r = parse_sum(&p);
	if (r == 0 && *p.at)
		r = refuse(&p, "something extra");
	if (r < 0)
		return r;
	formula.steps = arena_keep(arena, steps, formula.steps_count * sizeof(*steps));
	formula.names = arena_keep(arena, names, formula.names_count * sizeof(*names));
	*ret_formula = formula;
	return 0;
}

static int apply(enum formula_op op, double *left, double right)
{
	switch (op) {
	case OP_ADD:
		*left += right;
		return 0;
	case OP_SUBTRACT:
		*left -= right;
		return 0;
	case OP_MULTIPLY:
		*left *= right;
		return 0;
	case OP_DIVIDE:
		if (fpclassify(right) == FP_ZERO)
			return -EDOM;
		*left /= right;
		return 0;
	case OP_LEAST:
		*left = right < *left ? right : *left;
		return 0;
	case OP_MOST:
		*left = right > *left ? right : *left;
		return 0;
	case OP_NUMBER:
	case OP_NAME:
	case OP_NEGATE:
		break;
	}
	return -EINVAL;
}

int formula_value(const struct formula *formula, const double *values, double *ret_value)
{
	/* Each open parenthesis, call or sign holds at most a sum's and a product's left side and
	 * the first argument. */
	double stack[4 * (FORMULA_DEPTH + 1)] = {0};
	unsigned top = 0;

	for (uint32_t i = 0; i < formula->steps_count; i++) {
		const struct formula_step *step = &formula->steps[i];
		int r = 0;

		if (step->op == OP_NUMBER)
			stack[top++] = step->number;
		else if (step->op == OP_NAME)
			stack[top++] = values[step->name];
		else if (step->op == OP_NEGATE)
			stack[top - 1] = -stack[top - 1];
		else if (top--)
			r = apply(step->op, &stack[top - 1], stack[top]);
		if (r < 0)
			return r;
	}
	if (!isfinite(stack[0]))
		return -ERANGE;
	*ret_value = stack[0];
	return 0;
}

/* One operand, as a number with a fraction: SQL divides whole numbers to a whole number. */
static const char *operand_write(
	const struct formula_step *step, const char *const *parts, struct arena *arena)
{
	const char *text;

	if (step->op == OP_NAME)
		return arena_format(arena, "CAST(%s AS REAL)", parts[step->name]);
	text = arena_format(arena, "%.17g", step->number);
	return strpbrk(text, ".e") ? text : arena_format(arena, "%s.0", text);
}

static const char *operator_write(
	enum formula_op op, const char *a, const char *b, struct arena *arena)
{
	static const char *const signs[] = {
		[OP_ADD] = "+", [OP_SUBTRACT] = "-", [OP_MULTIPLY] = "*", [OP_DIVIDE] = "/"};

	if (op == OP_LEAST || op == OP_MOST)
		return arena_format(arena, "%s(%s, %s)", op == OP_LEAST ? "min" : "max", a, b);
	return arena_format(arena, "(%s %s %s)", a, signs[op], b);
}

void formula_write(const struct formula *formula, const char *const *parts, struct str *out)
{
	const char *stack[3 * (FORMULA_DEPTH + 1)] = {0};
	arena_auto struct arena arena = {0};
	unsigned top = 0;

	for (uint32_t i = 0; i < formula->steps_count; i++) {
		const struct formula_step *step = &formula->steps[i];

		if (step->op == OP_NUMBER || step->op == OP_NAME) {
			stack[top++] = operand_write(step, parts, &arena);
		} else if (step->op == OP_NEGATE) {
			stack[top - 1] = arena_format(&arena, "(-%s)", stack[top - 1]);
		} else {
			top--;
			stack[top - 1] =
				operator_write(step->op, stack[top - 1], stack[top], &arena);
		}
	}
	str_add(out, stack[0] ? stack[0] : "NULL");
}
