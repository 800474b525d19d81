/* compare_verdict.c - one verdict of several metrics.
 *
 * Wall time is what people wait for, CPU time is what can be seen on a noisy machine.  CPU time is
 * blind to I/O, locks and scheduling, so each is tested; a change is confirmed only by wall time,
 * and one that only wall time shows is to be looked for off the CPU. */
#include "analyze/compare.h"

static const struct comparison *find_kind(
	const struct comparison *items, size_t count, enum compare_kind kind)
{
	for (size_t i = 0; i < count; i++)
		if (items[i].kind == kind)
			return &items[i];
	return NULL;
}

/* The metric with this outcome to name first: wall time, CPU time, then in order. */
static const struct comparison *find_outcome(
	const struct comparison *items, size_t count, enum compare_outcome outcome)
{
	static const enum compare_kind first[] = {COMPARE_WALL, COMPARE_CPU};

	for (size_t k = 0; k < 2; k++) {
		const struct comparison *one = find_kind(items, count, first[k]);

		if (one && one->outcome == outcome)
			return one;
	}
	for (size_t i = 0; i < count; i++)
		if (items[i].outcome == outcome)
			return &items[i];
	return NULL;
}

bool compare_has_moved(enum compare_outcome outcome)
{
	return outcome == COMPARE_REGRESSED || outcome == COMPARE_IMPROVED;
}

static enum compare_note note_of(enum compare_outcome wall, enum compare_outcome cpu)
{
	if (compare_has_moved(wall) && compare_has_moved(cpu))
		return wall == cpu ? COMPARE_NOTE_NONE : COMPARE_NOTE_OPPOSED;
	if (compare_has_moved(wall))
		return COMPARE_NOTE_WALL_ONLY;
	if (compare_has_moved(cpu))
		return wall == COMPARE_EQUIVALENT ? COMPARE_NOTE_CPU_ONLY : COMPARE_NOTE_NO_WALL;
	if (cpu == COMPARE_EQUIVALENT && wall == COMPARE_INCONCLUSIVE)
		return COMPARE_NOTE_WALL_UNKNOWN;
	return COMPARE_NOTE_NONE;
}

struct compare_verdict compare_decide(const struct comparison *items, size_t count)
{
	static const enum compare_outcome order[] = {
		COMPARE_REGRESSED, COMPARE_IMPROVED, COMPARE_INCONCLUSIVE, COMPARE_EQUIVALENT};
	const struct comparison *wall = find_kind(items, count, COMPARE_WALL);
	const struct comparison *cpu = find_kind(items, count, COMPARE_CPU);
	struct compare_verdict verdict = {0};

	for (size_t i = 0; i < 4 && !verdict.by; i++)
		verdict.by = find_outcome(items, count, order[i]);
	if (!verdict.by)
		return verdict;
	verdict.outcome = verdict.by->outcome;
	for (size_t i = 0; i < count; i++)
		verdict.advisory |= items[i].advisory;
	verdict.confirmed =
		wall && compare_has_moved(wall->outcome) && wall->outcome == verdict.outcome;
	if (wall && cpu)
		verdict.note = note_of(wall->outcome, cpu->outcome);
	return verdict;
}

const char *compare_note_text(enum compare_note note)
{
	switch (note) {
	case COMPARE_NOTE_WALL_ONLY:
		return "only wall time changed: the change is off the CPU (waiting, locks, I/O or "
		       "scheduling); `assay causal --waits FUNCTION` tries one wait";
	case COMPARE_NOTE_CPU_ONLY:
		return "only CPU time changed; wall time is the same";
	case COMPARE_NOTE_NO_WALL:
		return "CPU time changed; wall time is too noisy here to confirm it";
	case COMPARE_NOTE_WALL_UNKNOWN:
		return "CPU time is the same; wall time is too noisy here to tell, and CPU time "
		       "excludes waiting";
	case COMPARE_NOTE_OPPOSED:
		return "CPU time and wall time changed in opposite directions";
	case COMPARE_NOTE_NONE:
		break;
	}
	return "";
}
