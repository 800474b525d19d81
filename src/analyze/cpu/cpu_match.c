/* cpu_match.c - which table a CPU has.
 *
 * Exact on purpose: the same event number means something else one model further (0x0e08 counts
 * page walks on Ice Lake and something else on Sapphire Rapids), and a wrong code gives a plausible
 * number instead of an error.  So an unknown model has no table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cpu_parts.h"

enum { STEP_LAST = 0xffff };

static int number_parse(const char *text, unsigned *ret_number)
{
	uint64_t number;

	if (str_to_u64(text, &number) < 0 || number > 0xffff)
		return -EINVAL;
	*ret_number = (unsigned)number;
	return 0;
}

/* "0x10" or "0x10-0x1f". */
static int range_parse(char *text, unsigned *ret_low, unsigned *ret_high)
{
	char *dash = strchr(text, '-');
	int r;

	if (dash)
		*dash++ = '\0';
	r = number_parse(text, ret_low);
	*ret_high = *ret_low;
	if (r == 0 && dash)
		r = number_parse(dash, ret_high);
	return r < 0 || *ret_low > *ret_high ? -EINVAL : 0;
}

/* "r0p2" as variant << 4 | revision. */
static int revision_parse(const char *text, unsigned *ret_step)
{
	char *end;
	unsigned long variant, revision;

	if (text[0] != 'r' || text[1] < '0' || text[1] > '9')
		return -EINVAL;
	variant = strtoul(text + 1, &end, 10);
	if (*end != 'p' || end[1] < '0' || end[1] > '9')
		return -EINVAL;
	revision = strtoul(end + 1, &end, 10);
	if (*end || variant > 15 || revision > 15)
		return -EINVAL;
	*ret_step = (unsigned)(variant << 4 | revision);
	return 0;
}

static int revisions_parse(char *text, struct cpu_rule *rule)
{
	char *dash = strchr(text, '-');
	int r;

	if (!dash)
		return -EINVAL;
	*dash++ = '\0';
	r = revision_parse(text, &rule->step_low);
	if (r == 0)
		r = revision_parse(dash, &rule->step_high);
	return r < 0 || rule->step_low > rule->step_high ? -EINVAL : 0;
}

static int rule_parse(char *text, struct cpu_rule *rule)
{
	char *words[8], *rest = text, *word;
	unsigned count = 0;
	int r;

	while ((word = text_word_next(&rest)) && count < 8)
		words[count++] = word;
	if (word || count < 3)
		return -EINVAL;
	rule->step_high = STEP_LAST;
	rule->vendor = str_equal(words[0], "arm") ? NULL : words[0];
	r = number_parse(words[1], &rule->family);
	if (r == 0)
		r = range_parse(words[2], &rule->model_low, &rule->model_high);
	for (unsigned i = 3; r == 0 && i < count; i++) {
		if (words[i][0] == 'r' && !rule->vendor)
			r = revisions_parse(words[i], rule);
		else if (str_equal(words[i], "pmu") && i + 1 < count && rule->vendor)
			rule->pmu = words[++i];
		else
			r = -EINVAL;
	}
	return r;
}

static bool rules_overlap(const struct cpu_rule *a, const struct cpu_rule *b)
{
	return str_same(a->vendor, b->vendor) && a->family == b->family &&
	       a->model_low <= b->model_high && b->model_low <= a->model_high &&
	       a->step_low <= b->step_high && b->step_low <= a->step_high &&
	       (!a->pmu || !b->pmu || str_equal(a->pmu, b->pmu));
}

int cpu_rule_add(struct cpu_draft *draft, const struct text_pair *pair)
{
	struct cpu_rule rule = {.table = draft->book->tables.count};
	char *text = arena_copy(&draft->book->arena, pair->value);

	if (rule_parse(text, &rule) < 0)
		return text_refuse(&draft->reader, pair->line,
			"for: expected \"VENDOR FAMILY MODEL[-MODEL] [pmu NAME]\" or \"arm "
			"IMPLEMENTER PART [rXpY-rXpY]\", not",
			pair->value);
	vec_foreach (const struct cpu_rule, other, &draft->book->rules)
		if (rules_overlap(&rule, other))
			return text_refuse(&draft->reader, pair->line,
				"another table also covers this CPU:", pair->value);
	vec_foreach (const struct cpu_rule, other, &draft->rules)
		if (rules_overlap(&rule, other))
			return text_refuse(
				&draft->reader, pair->line, "a second line for", pair->value);
	vec_push(&draft->rules, rule);
	return 0;
}

const struct cpu_table *cpu_book_match(const struct cpu_book *book, const struct cpu_asked *asked)
{
	bool arm = !asked->vendor || !*asked->vendor;
	/* MIDR_EL1: implementer 31-24, variant 23-20, part 15-4, revision 3-0. */
	unsigned midr = (unsigned)asked->midr;
	struct cpu_rule wanted = {
		.vendor = arm ? NULL : asked->vendor,
		.family = arm ? midr >> 24 : asked->family,
		.model_low = arm ? (midr >> 4) & 0xfff : asked->model,
		.step_low = arm ? ((midr >> 20) & 0xf) << 4 | (midr & 0xf) : asked->stepping,
	};

	if (arm && !asked->midr)
		return NULL;
	wanted.model_high = wanted.model_low;
	wanted.step_high = wanted.step_low;
	vec_foreach (const struct cpu_rule, rule, &book->rules)
		if (rules_overlap(&wanted, rule) &&
			(!rule->pmu || (asked->pmu && str_equal(rule->pmu, asked->pmu))))
			return &book->tables.at[rule->table];
	return NULL;
}
