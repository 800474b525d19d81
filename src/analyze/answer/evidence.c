/* evidence.c - see evidence.h. */
#include "analyze/evidence.h"

const char *evidence_kind_word(enum evidence_kind kind)
{
	static const char *const words[EVIDENCE_KINDS] = {
		[EVIDENCE_BASELINE] = "baseline",
		[EVIDENCE_OBSERVED] = "observed",
		[EVIDENCE_PROFILE] = "profile",
		[EVIDENCE_COUNTERS] = "counters",
		[EVIDENCE_CAUSAL] = "causal",
		[EVIDENCE_EVENTS] = "events",
	};

	return words[kind];
}
