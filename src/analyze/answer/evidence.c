/* evidence.c - see evidence.h. */
#include "analyze/evidence.h"

#include "analyze/algorithm.h"
#include "analyze/causal_view.h"
#include "analyze/growth.h"

const char *evidence_kind_word(enum evidence_kind kind)
{
	static const char *const words[EVIDENCE_KINDS] = {
		[EVIDENCE_BASELINE] = "baseline",
		[EVIDENCE_OBSERVED] = "observed",
		[EVIDENCE_PROFILE] = "profile",
		[EVIDENCE_COUNTERS] = "counters",
		[EVIDENCE_CAUSAL] = "causal",
		[EVIDENCE_EVENTS] = "events",
		[EVIDENCE_CALLS] = "calls",
		[EVIDENCE_SMALLER] = "smaller",
		[EVIDENCE_SMALLEST] = "smallest",
	};

	return words[kind];
}

void evidence_view_causal(struct evidence *evidence, struct arena *arena)
{
	const struct run *run = evidence->piece[EVIDENCE_CAUSAL].run;
	struct causal_view *view;
	struct err err = {0};

	if (!run)
		return;
	view = arena_take(arena, sizeof(*view));
	if (causal_view_make(run, NULL, arena, view, &err) < 0)
		evidence->causal_reason = arena_format(arena, "%s", err.text);
	else if (!view->point)
		evidence->causal_reason = "no progress point was visited";
	else
		evidence->causal = view;
}

void evidence_view_algorithm(struct evidence *evidence, struct arena *arena)
{
	struct algorithm_view *view = arena_take(arena, sizeof(*view));
	struct growth_view *growth = arena_take(arena, sizeof(*growth));

	if (algorithm_view_make(evidence->piece[EVIDENCE_CALLS].run,
		    evidence->piece[EVIDENCE_PROFILE].run, arena, view))
		evidence->algorithm = view;
	view->is_smaller = evidence->sizes[EVIDENCE_CALLS] != 0;
	if (growth_view_make(evidence, arena, growth))
		evidence->growth = growth;
}
