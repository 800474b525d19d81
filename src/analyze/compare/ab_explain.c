/* ab_explain.c - which event explains a change of CPU time.
 *
 * cycles = instructions * cycles per instruction, so the logarithms of their ratios add up and each
 * has its share of the change.  What the stalls are is told by the misses: their increase, at a
 * rough price in cycles, over the cycles that the stalls cost.  The prices are those of a usual
 * core (a mispredicted branch 15 cycles, a miss of the last cache 100) and wrong by a factor of two
 * on some: they only choose which event to name.
 * Without hardware counters the kernel's own counts are all there is: they show page faults,
 * waiting and the system's share, and never the work itself. */
#include "analyze/ab.h"

#include <math.h>
#include <string.h>

#include "analyze/stat.h"
#include "base/str.h"

#define BRANCH_MISS_CYCLES 15
#define CACHE_MISS_CYCLES 100
#define SAME 0.005	 /* a change of a count below this is none */
#define MAIN_SHARE 0.8	 /* from here on one factor explains it alone */
#define STALL_WORTH 0.2	 /* share of the stalls from which on an event is named */
#define COUNT_MUCH 0.05	 /* a count of the kernel that moved */
#define COUNT_LEAST 10	 /* and by at least so many */
#define SYSTEM_MUCH 0.05 /* the same of the system's share */

const char *ab_cause_name(enum ab_cause cause)
{
	static const char *const names[] = {"none", "instructions", "stalls",
		"instructions and stalls", "clock or waiting", "kernel counts", "unknown"};

	return names[cause];
}

/* The counter for an event of this name, with or without a modifier ("cycles:u"). */
static double *event_slot(struct ab_side *side, const char *name)
{
	static const char *const names[] = {
		"cycles", "instructions", "branch-misses", "cache-misses"};
	double *slots[] = {
		&side->cycles, &side->instructions, &side->branch_misses, &side->cache_misses};
	size_t len = strcspn(name, ":");

	for (unsigned i = 0; i < 4; i++)
		if (strlen(names[i]) == len && strncmp(names[i], name, len) == 0)
			return slots[i];
	return NULL;
}

void ab_side_add_events(struct ab_side *side, const struct stat_view *counted)
{
	for (uint32_t i = 0; i < counted->event_count; i++) {
		const struct stat_event *event = &counted->events[i];
		double *slot = event_slot(side, event->name);

		/* Each kind of core of a hybrid CPU counts its part. */
		if (slot && event->known)
			*slot = isnan(*slot) ? event->value : *slot + event->value;
	}
}

/* The event whose increase costs most. */
static void stall_find(const struct ab_side *a, const struct ab_side *b, struct ab_explanation *e)
{
	double stalled = b->cycles - a->cycles * (b->instructions / a->instructions);
	double branches = (b->branch_misses - a->branch_misses) * BRANCH_MISS_CYCLES / stalled;
	double caches = (b->cache_misses - a->cache_misses) * CACHE_MISS_CYCLES / stalled;

	if (branches >= STALL_WORTH && !(caches > branches)) {
		e->stall = "branch-misses";
		e->stall_share = fmin(branches, 1);
	} else if (caches >= STALL_WORTH) {
		e->stall = "cache-misses";
		e->stall_share = fmin(caches, 1);
	}
}

static void stall_text(const struct ab_explanation *e, struct str *out)
{
	str_addf(out, "instructions per cycle went from %.2f to %.2f", e->ipc_a, e->ipc_b);
	if (e->stall)
		str_addf(out, ", about %.0f %% of it through %s", e->stall_share * 100, e->stall);
	else
		str_add(out, ", neither branch-misses nor cache-misses explain it");
}

static void hardware_explain(
	const struct ab_side *a, const struct ab_side *b, struct ab_explanation *e, struct str *out)
{
	double cycles = log(b->cycles / a->cycles), work = log(b->instructions / a->instructions);

	e->cycles = expm1(cycles);
	e->instructions = expm1(work);
	e->ipc_a = a->instructions / a->cycles;
	e->ipc_b = b->instructions / b->cycles;
	if (fabs(cycles) < log1p(SAME)) {
		e->cause = AB_CAUSE_CLOCK;
		str_add(out, "cycles are the same: the clock rate or the waiting changed");
		return;
	}
	e->instructions_share = work / cycles;
	e->cause = e->instructions_share >= MAIN_SHARE	     ? AB_CAUSE_WORK
		   : e->instructions_share <= 1 - MAIN_SHARE ? AB_CAUSE_STALLS
							     : AB_CAUSE_BOTH;
	str_addf(out, "cycles %+.1f %%: ", e->cycles * 100);
	if (e->cause != AB_CAUSE_STALLS)
		str_addf(out, "instructions %+.1f %%", e->instructions * 100);
	if (e->cause == AB_CAUSE_WORK)
		return;
	stall_find(a, b, e);
	str_add(out, e->cause == AB_CAUSE_BOTH ? ", and " : "");
	stall_text(e, out);
}

/* "page faults 120 -> 3,000"; false when it did not move. */
static bool count_text(double a, double b, const char *name, struct str *out)
{
	if (!(fabs(b - a) >= COUNT_LEAST) || fabs(b - a) < COUNT_MUCH * fmin(a, b))
		return false;
	str_addf(out, "%s%s from %.0f to %.0f", out->len ? ", " : "", name, a, b);
	return true;
}

static void kernel_explain(
	const struct ab_side *a, const struct ab_side *b, struct ab_explanation *e, struct str *out)
{
	bool moved = count_text(a->faults, b->faults, "page faults", out);

	moved |= count_text(a->waits, b->waits, "waits", out);
	moved |= count_text(a->pushes, b->pushes, "preemptions", out);
	if (fabs(b->system_share - a->system_share) >= SYSTEM_MUCH) {
		str_addf(out, "%ssystem share of CPU time from %.0f %% to %.0f %%",
			out->len ? ", " : "", a->system_share * 100, b->system_share * 100);
		moved = true;
	}
	e->cause = moved ? AB_CAUSE_SYSTEM : AB_CAUSE_UNKNOWN;
	if (moved)
		str_add(out, " (per run)");
	else
		str_add(out, "page faults, waits and the system share are the same");
	str_add(out,
		"; instructions and stalls are unknown: no hardware counters (see `assay doctor`)");
}

struct ab_explanation ab_explain(
	const struct ab_side *a, const struct ab_side *b, struct arena *arena)
{
	struct ab_explanation e = {
		.cycles = (double)NAN,
		.instructions = (double)NAN,
		.ipc_a = (double)NAN,
		.ipc_b = (double)NAN,
		.instructions_share = (double)NAN,
		.stall_share = (double)NAN,
	};
	str_auto struct str text = {0};
	bool hardware =
		a->cycles > 0 && b->cycles > 0 && a->instructions > 0 && b->instructions > 0;

	if (hardware)
		hardware_explain(a, b, &e, &text);
	else
		kernel_explain(a, b, &e, &text);
	e.text = arena_str(arena, &text);
	return e;
}
