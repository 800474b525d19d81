/* ab_builds.c - were A and B built alike where it matters for their speed?
 *
 * What a build cannot tell (a stripped program has no switches) is no difference. */
#include "analyze/ab.h"

#include "base/str.h"
#include "code/binary.h"

static const char *answer_name(enum binary_answer answer)
{
	static const char *const names[] = {[BINARY_UNKNOWN] = NULL,
		[BINARY_NO] = "no",
		[BINARY_YES] = "yes",
		[BINARY_MIXED] = "in parts"};

	return names[answer];
}

/* -O0 seen in the code and -O2 recorded by a compiler can be compared; "optimised" fits any level
 * but the first. */
static const char *optimisation_beside(
	const struct binary_facts *facts, const struct binary_facts *other)
{
	bool level = facts->optimisation && *facts->optimisation == '-';

	if (level && other->optimisation_evidence == EVIDENCE_CODE &&
		facts->optimisation_evidence == EVIDENCE_PRODUCER &&
		!str_equal(facts->optimisation, "-O0"))
		return "optimised";
	return facts->optimisation;
}

uint32_t ab_builds_differ(const struct binary_facts *a, const struct binary_facts *b,
	struct ab_build_difference *ret_differences)
{
	const struct ab_build_difference asked[AB_BUILD_DIFFERENCES] = {
		{"optimisation", optimisation_beside(a, b), optimisation_beside(b, a)},
		{"link-time optimisation", answer_name(a->lto), answer_name(b->lto)},
		{"profile-guided optimisation", answer_name(a->pgo), answer_name(b->pgo)},
		{"sanitizers", a->sanitizers, b->sanitizers},
		{"instrumentation", a->instruments, b->instruments},
	};
	uint32_t count = 0;

	for (unsigned i = 0; i < AB_BUILD_DIFFERENCES; i++)
		if (asked[i].a && asked[i].b && !str_equal(asked[i].a, asked[i].b))
			ret_differences[count++] = asked[i];
	return count;
}
