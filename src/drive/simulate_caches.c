/* simulate_caches.c - which caches cachegrind is told to simulate.
 *
 * It must be told: from CPUID it took a last level of 256 MB on a machine with 32 MB (facts/pmu.md,
 * section 8).  It has two levels, so L3 is simulated where there is one and L2 is left out: misses
 * of D1 then hit "L2 or L3", and misses of LL go to memory, which is what costs most.  Which of the
 * two they hit, a second simulation with L2 as the last level tells.  It takes only sets that are a
 * power of two; a cache that is not gets the next smaller number of sets and more ways, so that its
 * size stays. */
#include "drive/simulate_caches.h"

#include <inttypes.h>
#include <stdio.h>

#include "source/emit.h"

enum {
	LINE_ASSUMED = 64,
	WAYS_ASSUMED = 8,
	L1_ASSUMED = 32 << 10,
	LL_ASSUMED = 8 << 20,
	WAYS_MOST = 1024,
};

/* False: it had to be changed. */
static bool cache_fit(struct cache_size *cache)
{
	const struct cache_size was = *cache;
	uint64_t sets;

	if (!cache->line_bytes)
		cache->line_bytes = LINE_ASSUMED;
	cache->line_bytes = (uint32_t)cache_power_below(cache->line_bytes);
	if (cache->line_bytes < 16)
		cache->line_bytes = 16;
	if (!cache->ways || cache->ways > WAYS_MOST)
		cache->ways = WAYS_ASSUMED;
	sets = cache->size_bytes / ((uint64_t)cache->ways * cache->line_bytes);
	sets = cache_power_below(sets ? sets : 1);
	cache->ways = (uint32_t)(cache->size_bytes / (sets * cache->line_bytes));
	if (!cache->ways)
		cache->ways = 1;
	cache->size_bytes = sets * cache->ways * cache->line_bytes;
	return cache->size_bytes == was.size_bytes && cache->ways == was.ways &&
	       cache->line_bytes == was.line_bytes;
}

void simulate_caches_choose(
	const struct cache_sizes *sizes, bool l2_is_last, struct simulate_caches *ret_caches)
{
	bool has_l3 = sizes->l3.size_bytes && !(l2_is_last && sizes->l2.size_bytes);
	const struct cache_size *ll = has_l3 ? &sizes->l3 : &sizes->l2;
	struct simulate_caches c = {.i1 = sizes->l1i, .d1 = sizes->l1d, .ll = *ll};

	c.which_ll = !ll->size_bytes ? "assumed" : ll == &sizes->l3 ? "L3" : "L2";
	if (ll == &sizes->l3)
		c.left_out_bytes = sizes->l2.size_bytes;
	c.assumed = !c.d1.size_bytes || !c.ll.size_bytes;
	if (!c.i1.size_bytes)
		c.i1 = (struct cache_size){L1_ASSUMED, WAYS_ASSUMED, LINE_ASSUMED};
	if (!c.d1.size_bytes)
		c.d1 = (struct cache_size){L1_ASSUMED, WAYS_ASSUMED, LINE_ASSUMED};
	if (!c.ll.size_bytes)
		c.ll = (struct cache_size){LL_ASSUMED, 2 * WAYS_ASSUMED, LINE_ASSUMED};
	c.rounded = !cache_fit(&c.i1);
	c.rounded |= !cache_fit(&c.d1);
	c.rounded |= !cache_fit(&c.ll);
	*ret_caches = c;
}

const char *simulate_cache_text(const struct cache_size *cache, struct arena *arena)
{
	return arena_format(
		arena, "%" PRIu64 ",%u,%u", cache->size_bytes, cache->ways, cache->line_bytes);
}

static const char *size_words(char *buf, size_t capacity, uint64_t bytes)
{
	if (bytes >= 1 << 20 && bytes % (1 << 20) == 0)
		snprintf(buf, capacity, "%" PRIu64 " MiB", bytes >> 20);
	else
		snprintf(buf, capacity, "%" PRIu64 " KiB", bytes >> 10);
	return buf;
}

int simulate_note_caches(const struct simulate_caches *c, const struct wire_sink *sink)
{
	char i1[32], d1[32], ll[32], l2[32], left_out[96] = "", text[640];

	if (c->left_out_bytes)
		snprintf(left_out, sizeof(left_out), "; L2 (%s) is not simulated",
			size_words(l2, sizeof(l2), c->left_out_bytes));
	snprintf(text, sizeof(text),
		"simulated caches: instructions %s %u-way, data %s %u-way, last level %s %u-way "
		"(%s)%s%s%s",
		size_words(i1, sizeof(i1), c->i1.size_bytes), c->i1.ways,
		size_words(d1, sizeof(d1), c->d1.size_bytes), c->d1.ways,
		size_words(ll, sizeof(ll), c->ll.size_bytes), c->ll.ways,
		c->assumed ? "assumed: this machine does not describe its caches" : c->which_ll,
		left_out,
		c->rounded && !c->assumed ? "; ways or size are rounded to what cachegrind accepts"
					  : "",
		c->ll.size_bytes >= 64 << 20
			? "; a last level this large is shared with other programs"
			: "");
	return emit_note(sink, "simulated-caches", text, NULL);
}

int simulate_note_limits(bool instructions_only, const struct wire_sink *sink)
{
	return emit_note(sink, "simulated",
		instructions_only
			? "the counts come from valgrind's CPU model: exact for the program's own "
			  "instructions, without the kernel's"
			: "the counts come from valgrind's CPU model, not this CPU; not simulated: "
			  "prefetching, overlapping misses, address translation (TLB), a "
			  "neighbour on the same core, the kernel; threads run one at a time",
		NULL);
}
