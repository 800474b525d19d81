/* branch_filter.c - see branch_filter.h.
 *
 * The sides (user, kernel) are not chosen here: the kernel takes them from the event. */
#include "source/branch_filter.h"

#include <linux/perf_event.h>
#include <string.h>

#include "base/words.h"

static const struct {
	const char *word;
	uint64_t bits;
} words[] = {
	{"any", PERF_SAMPLE_BRANCH_ANY},
	{"any_call", PERF_SAMPLE_BRANCH_ANY_CALL},
	{"any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN},
	{"ret", PERF_SAMPLE_BRANCH_ANY_RETURN},
	{"ind_call", PERF_SAMPLE_BRANCH_IND_CALL},
	{"cond", PERF_SAMPLE_BRANCH_COND},
	{"call", PERF_SAMPLE_BRANCH_CALL},
	{"ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP},
	{"ind", PERF_SAMPLE_BRANCH_IND_JUMP},
	{"uncond", PERF_SAMPLE_BRANCH_ANY},
	{"cond_call", PERF_SAMPLE_BRANCH_ANY_CALL},
	{"cond_ret", PERF_SAMPLE_BRANCH_ANY_RETURN},
	{"syscall", PERF_SAMPLE_BRANCH_ANY},
	{"sysret", PERF_SAMPLE_BRANCH_ANY},
	{"irq", PERF_SAMPLE_BRANCH_ANY},
	{"eret", PERF_SAMPLE_BRANCH_ANY},
	{"serror", PERF_SAMPLE_BRANCH_ANY},
	{"no_tx", PERF_SAMPLE_BRANCH_NO_TX | PERF_SAMPLE_BRANCH_ANY},
	{"other", PERF_SAMPLE_BRANCH_ANY},
};

static uint64_t bits_of(const char *word, size_t len)
{
	for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strlen(words[i].word) == len && strncmp(words[i].word, word, len) == 0)
			return words[i].bits;
	return 0;
}

int branch_filter_parse(const char *text, uint64_t *ret_bits, struct err *err)
{
	uint64_t bits = PERF_SAMPLE_BRANCH_ANY;
	int r = 0;

	if (text && *text)
		r = words_to_flags(text, bits_of, "branch type",
			"branch types: any, cond, uncond, call, ind_call, any_call, ret, any_ret, "
			"ind, syscall, sysret, irq; separate them with commas",
			&bits, err);
	if (r < 0)
		return r;
	/* One that asks for all makes the others needless. */
	*ret_bits = bits & PERF_SAMPLE_BRANCH_ANY
			    ? bits & (PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_NO_TX)
			    : bits;
	return 0;
}
