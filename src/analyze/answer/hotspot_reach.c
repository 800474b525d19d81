/* hotspot_reach.c - how far a fix may reach: what may go when all of the work of a place does.
 *
 * A change that makes a call unnecessary takes along everything that is below the place, and the
 * loop of its caller (a quadratic scan had 60 % of the samples and its caller, which walked the
 * same list, 39 %: the fix removed both).  Of a caller that is itself called again and again, all
 * may go that it does: the work is made by calling it.  Not of main(), which does everything else
 * too.
 *
 * So may what works on the same data.  Samples do not show data; what shares it mostly stands in
 * one source file (of a list of references, searching it had 53 % and adding to it 40 %: a hash
 * table removed both).  A file that has main() too says nothing.
 *
 * What is collected as garbage elsewhere goes with the allocations: the time of the collector
 * belongs to who allocates (a Go function had 26 % of the samples, the collector 31 %: with the
 * allocations gone the program took a quarter of its time).  And what is not taken need not be
 * given back: free() elsewhere, and what malloc() tidies up after it.
 *
 * Where the callers were not seen, nobody knows what goes with it. */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "hotspot_parts.h"

#define CALLER_MOST 0.5	  /* of its caller's time: below it the caller has other work */
#define PARTNER_LEAST 0.5 /* of the place's share: another place of the same file */
enum { CALLS_LEAST = 1000 };

/* How much of its time a place takes memory. */
static double taking_of(const struct hotspot_draft *draft)
{
	double share = hotspot_kind_share(&draft->spot, HOTSPOT_ALLOCATION) - draft->release;

	return draft->is_runtime ? 0 : fmax(0, share);
}

/* Each place has as much of the collector's time as it has of the allocator's; and of the time in
 * which others give memory back. */
static void garbage_give(const struct signals *signals, struct hotspot_drafts *drafts)
{
	double collector = signals_value(signals, "collector_samples"), taking = 0, release = 0;

	vec_foreach (const struct hotspot_draft, draft, &drafts->rows) {
		taking += taking_of(draft);
		release += draft->is_runtime ? 0 : draft->release;
	}
	if (!(taking > 0))
		return;
	vec_foreach (struct hotspot_draft, draft, &drafts->rows) {
		double part = taking_of(draft) / taking;

		if (collector > 0 && !draft->is_runtime)
			draft->spot.garbage = collector * part;
		draft->released = (release - draft->release) * part;
	}
}

/* The part of its caller's time that may go with the place, beside its own. */
static double caller_reach(const struct hotspot *spot)
{
	const struct hotspot_link *place = &spot->chain[spot->chain_place];

	if (spot->chain_place + 2 >= spot->chain_count ||
		place->total < CALLER_MOST * place[1].total)
		return 0;
	return place[1].entries_least >= CALLS_LEAST ? fmax(0, place[1].total - place->total)
						     : place[1].self;
}

static double own_reach(const struct hotspot_draft *draft)
{
	const struct hotspot *spot = &draft->spot;
	double reach = draft->samples_share;

	if (spot->chain_place < spot->chain_count)
		reach = fmax(reach, spot->chain[spot->chain_place].total) + caller_reach(spot);
	return reach + spot->garbage + draft->released;
}

/* The source file of a place; "": it is not known, or it is that of main(). */
static const char *file_of(const struct hotspot *spot)
{
	const struct hotspot_link *root = &spot->chain[spot->chain_count - 1];

	if (spot->has_no_name || !spot->chain_count || str_equal(root->file, spot->file))
		return "";
	return spot->file;
}

static bool is_partner(const struct hotspot_draft *draft, const struct hotspot_draft *other)
{
	return other != draft && other->samples_share >= PARTNER_LEAST * draft->samples_share &&
	       str_equal(file_of(&other->spot), draft->spot.file);
}

static void partners_take(
	const struct hotspot_drafts *drafts, struct arena *arena, struct hotspot_draft *draft)
{
	const char *names = NULL;

	if (!*file_of(&draft->spot))
		return;
	vec_foreach (const struct hotspot_draft, other, &drafts->rows) {
		if (!is_partner(draft, other))
			continue;
		draft->reach += other->samples_share + other->spot.garbage + other->released;
		names = names ? arena_format(arena, "%s and %s", names, other->spot.call)
			      : other->spot.call;
	}
	if (names)
		draft->spot.gain_all_note = arena_format(arena,
			"the upper bound counts %s too, which may work on the same data", names);
}

void hotspots_reach(
	const struct signals *signals, struct arena *arena, struct hotspot_drafts *drafts)
{
	garbage_give(signals, drafts);
	vec_foreach (struct hotspot_draft, draft, &drafts->rows) {
		if (!(draft->samples_share > 0))
			continue; /* not in the samples */
		if (hotspot_has_unknown_callers(&draft->spot)) {
			draft->reach = 1;
			draft->spot.gain_all_note =
				"the upper bound is open, because its callers were not seen";
			continue;
		}
		draft->reach = own_reach(draft);
		partners_take(drafts, arena, draft);
		draft->reach = fmin(1, draft->reach);
	}
}
