/* answer_sentence.c - the answer's one sentence about a place: what to change, what it would gain
 * or has, and the chain through which the time gets there. */
#include <math.h>

#include "answer_parts.h"
#include "base/str.h"
#include "hotspot_parts.h"

#define GARBAGE_SAID 0.05 /* of the CPU time */
/* Functions of a chain that a sentence has room for; fewer than the least say nothing new. */
enum { CHAIN_LEAST = 3, CHAIN_SAID = 4 };

static const char *place_words(const struct hotspot *spot, struct arena *arena)
{
	if (spot->line && *spot->function && !str_equal(spot->location, spot->function))
		return arena_format(arena, "%s, in %s", spot->location, spot->call);
	return spot->location;
}

static const char *share_words(const struct hotspot *spot, struct arena *arena)
{
	if (isnan(spot->value))
		return "";
	return arena_format(arena, "%.0f %% of the %s", 100 * spot->value, spot->metric);
}

/* "97 % of the CPU time is below it, 95 % in S_inner()", or "97 % of the CPU time"; and what the
 * collector of garbage has for it. */
static const char *below_words(const struct hotspot *spot, struct arena *arena)
{
	const struct hotspot_link *inner = spot->chain_place ? spot->chain : NULL;
	const char *garbage =
		spot->garbage >= GARBAGE_SAID
			? arena_format(arena, "; the collector takes %.0f %% for what it allocates",
				  100 * spot->garbage)
			: "";

	if (!inner || isnan(spot->value))
		return arena_format(arena, "%s%s", share_words(spot, arena), garbage);
	return arena_format(arena, "%s is below it, %.0f %% in %s%s", share_words(spot, arena),
		100 * inner->self, inner->call, garbage);
}

const char *answer_chain(const struct hotspot *spot, struct arena *arena)
{
	str_auto struct str text = {0};
	uint32_t end = spot->chain_count;

	if (end - spot->chain_place < CHAIN_LEAST)
		return "";
	for (uint32_t i = spot->chain_place; i < end; i++) {
		if (i == spot->chain_place + CHAIN_SAID && i + 2 < end) {
			str_add(&text, " <- ...");
			i = end - 1;
		}
		str_addf(&text, "%s%s", text.len ? " <- " : "", spot->chain[i].call);
	}
	return arena_str(arena, &text);
}

static void gain_words(const struct hotspot *spot, struct str *out)
{
	if (!hotspot_pays(spot))
		return;
	str_addf(out, "%.0f %% faster there makes the program %.1f %% faster (%.1f to %.1f)",
		100 * spot->gain_at, 100 * spot->gain, 100 * spot->gain_lo, 100 * spot->gain_hi);
}

const char *answer_sentence(const struct hotspot *spot, struct arena *arena)
{
	str_auto struct str text = {0}, gain = {0};
	const char *share = below_words(spot, arena), *chain = answer_chain(spot, arena);

	if (spot->has_no_name)
		return arena_format(arena,
			"get the function names of %s first: %s is there, in unknown functions",
			spot->location, share);
	gain_words(spot, &gain);
	if (*spot->library)
		str_addf(&text, "look at the callers of %s in %s first: ", spot->call,
			spot->library);
	else
		str_addf(&text, "change %s first: ", place_words(spot, arena));
	if (gain.len)
		str_addf(&text, "%s", gain.at);
	else
		str_addf(&text, "%s", share);
	if (gain.len && *share)
		str_addf(&text, "; %s%s", spot->chain_place ? "" : "it has ", share);
	if (*chain)
		str_addf(&text, "; reached through %s", chain);
	return arena_str(arena, &text);
}
