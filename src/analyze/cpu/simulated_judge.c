/* simulated_judge.c - from time and counts to a word.
 *
 * The question for each kind of event is the same: would so many of them, at what one costs here,
 * take at least half of the measured time, and is the time per event not far below that cost?  The
 * second half matters as much as the first: a stream misses as often as a pointer chase and takes a
 * tenth of the time per miss, and a branch that the model mispredicts may be easy for the CPU. */
#include <math.h>

#include "simulated_parts.h"

static double ratio(double a, double b)
{
	return b > 0 ? a / b : (double)NAN;
}

/* Between the last cache and memory.  A line that a store misses is read first and written back
 * later; the model counts the miss alone. */
static double lines_moved(const struct simulated_row *row)
{
	return (double)row->counts[SIMULATED_LL_LOAD_MISSES] +
	       2 * (double)row->counts[SIMULATED_LL_STORE_MISSES];
}

/* What memory can give: the faster of the two reads.  One load per line is slower than the read of
 * every word where others keep the memory busy (4.1 and 3.0 ns). */
static double fastest_line_ns(const struct simulated_costs *costs)
{
	return fmin(costs->line_ns, costs->plain_ns);
}

void simulated_costs_join(struct simulated_costs *costs, const struct simulated_costs *again)
{
	if (!again->measured)
		return;
	if (!costs->measured) {
		*costs = *again;
		return;
	}
	costs->cycle_ns = fmin(costs->cycle_ns, again->cycle_ns);
	costs->memory_ns = (costs->memory_ns + again->memory_ns) / 2;
	costs->line_ns = (costs->line_ns + again->line_ns) / 2;
	costs->plain_ns = (costs->plain_ns + again->plain_ns) / 2;
	costs->cache_ns = (costs->cache_ns + again->cache_ns) / 2;
	costs->far_ns = (costs->far_ns + again->far_ns) / 2;
	costs->mispredict_ns = (costs->mispredict_ns + again->mispredict_ns) / 2;
}

/* Loads that miss L1 and hit a cache. */
static double near_loads(const struct simulated_row *row)
{
	return fmax(0, (double)row->counts[SIMULATED_L1_LOAD_MISSES] -
			       (double)row->counts[SIMULATED_LL_LOAD_MISSES]);
}

/* Of these, what hits L3. */
static double far_loads(const struct simulated_row *row)
{
	double beyond = (double)row->counts[SIMULATED_L2_LOAD_MISSES] -
			(double)row->counts[SIMULATED_LL_LOAD_MISSES];

	return fmin(fmax(0, beyond), near_loads(row));
}

/* What the loads that hit a cache take, as far as it is known. */
static double near_ns(const struct simulated_costs *costs, const struct simulated_site *site)
{
	double far = site->l2_known ? far_loads(&site->row) : 0;

	return (near_loads(&site->row) - far) * costs->cache_ns + far * costs->far_ns;
}

void simulated_site_ratios(const struct simulated_costs *costs, struct simulated_site *site)
{
	const uint64_t *n = site->row.counts;
	double time = site->time_ns;
	double loads = (double)n[SIMULATED_LL_LOAD_MISSES];
	double mispredicts = (double)simulated_mispredicts(&site->row);
	double code = (double)n[SIMULATED_L1I_MISSES] * costs->cache_ns +
		      (double)n[SIMULATED_LLI_MISSES] * costs->memory_ns;

	site->ns_per_instruction = ratio(time, (double)n[SIMULATED_INSTRUCTIONS]);
	site->ns_per_l1_miss = ratio(time, (double)simulated_l1_misses(&site->row));
	site->ns_per_ll_miss = ratio(time, (double)simulated_ll_misses(&site->row));
	site->ns_per_mispredict = ratio(time, mispredicts);
	site->l1_mpki = simulated_mpki(simulated_l1_misses(&site->row), n[SIMULATED_INSTRUCTIONS]);
	site->ll_mpki = simulated_mpki(simulated_ll_misses(&site->row), n[SIMULATED_INSTRUCTIONS]);
	site->mispredict_mpki =
		simulated_mpki(simulated_mispredicts(&site->row), n[SIMULATED_INSTRUCTIONS]);
	site->memory_share = ratio(loads * costs->memory_ns, time);
	site->line_share = ratio(lines_moved(&site->row) * fastest_line_ns(costs), time);
	site->plain_share = ratio(lines_moved(&site->row) * costs->plain_ns, time);
	site->cache_share = ratio(near_ns(costs, site), time);
	site->far_share =
		ratio(near_loads(&site->row) * fmax(costs->cache_ns, costs->far_ns), time);
	site->mispredict_share = ratio(mispredicts * costs->mispredict_ns, time);
	site->frontend_share = ratio(code, time);
}

/* What could explain the time of one function. */
struct reading {
	bool latency, bandwidth, overlapped, cache, speculation, frontend;
	bool plain; /* `bandwidth` only beside a read word by word */
	bool far;   /* loads that hit L3 could explain it; whether they do is not known */
	double cpi;
	double ns_per_load_miss;
};

static struct reading site_read(const struct simulated_rules *rules,
	const struct simulated_costs *costs, const struct simulated_site *site)
{
	const uint64_t *n = site->row.counts;
	double half = rules->explains_share, least = rules->latency_share;
	double waits = site->memory_share + (site->l2_known ? site->cache_share : site->far_share);
	struct reading r = {
		.cpi = site->ns_per_instruction / costs->cycle_ns,
		.ns_per_load_miss = ratio(site->time_ns, (double)n[SIMULATED_LL_LOAD_MISSES]),
	};

	r.latency = (site->memory_share >= half || (site->memory_share >= rules->stall_share &&
							   r.cpi >= rules->stall_cpi)) &&
		    r.ns_per_load_miss >= least * costs->memory_ns;
	r.plain = site->line_share < 1 / rules->bandwidth_factor &&
		  site->plain_share >= 1 / rules->plain_factor && r.cpi > rules->retiring_cpi;
	r.bandwidth = !r.latency && (r.plain || site->line_share >= 1 / rules->bandwidth_factor);
	/* Many misses at once: neither the full wait for each nor the speed of a stream. */
	r.overlapped = !r.latency && !r.bandwidth && site->memory_share >= 1 &&
		       r.cpi >= 2 * rules->core_cpi;
	/* The second: they are waited for, whatever each takes, as with memory. */
	r.cache = !r.latency && !r.bandwidth && !r.overlapped &&
		  ((site->cache_share >= half && site->cache_share <= 1 / least) ||
			  (waits >= rules->stall_share && r.cpi >= rules->stall_cpi));
	r.far = !site->l2_known && !r.latency && !r.bandwidth && !r.overlapped && !r.cache &&
		site->far_share >= half && site->cache_share <= 1 / least;
	r.speculation = site->mispredict_share >= half &&
			site->ns_per_mispredict >= rules->speculation_least * costs->mispredict_ns;
	r.frontend = site->frontend_share >= rules->frontend_share;
	return r;
}

static enum verdict_category category_of(
	const struct simulated_rules *rules, const struct simulated_site *site, struct reading r)
{
	bool memory = r.latency || r.bandwidth || r.overlapped || r.cache;

	if (memory && r.speculation)
		return VERDICT_MIXED;
	if (r.latency || r.cache)
		return VERDICT_MEMORY_LATENCY;
	if (r.bandwidth)
		return VERDICT_MEMORY_BANDWIDTH;
	if (r.overlapped)
		return VERDICT_MEMORY;
	if (r.speculation)
		return VERDICT_BAD_SPECULATION;
	if (r.frontend)
		return VERDICT_FRONTEND;
	if (site->memory_share + site->cache_share + site->mispredict_share >=
			2 * rules->explains_share &&
		r.cpi >= rules->core_cpi)
		return VERDICT_MIXED;
	if (r.cpi >= rules->core_cpi)
		return r.far ? VERDICT_UNCLEAR : VERDICT_CORE;
	return r.cpi <= rules->retiring_cpi ? VERDICT_RETIRING : VERDICT_UNCLEAR;
}

static const char *levels_words(const struct simulated_costs *costs, struct arena *arena)
{
	return costs->far_ns > 0
		       ? arena_format(arena, "a load from L2 takes %.1f ns, from L3 %.1f",
				 costs->cache_ns, costs->far_ns)
		       : arena_format(arena, "the next level takes %.1f ns", costs->cache_ns);
}

/* Where most of the wait is. */
static const char *level_word(const struct simulated_rules *rules,
	const struct simulated_costs *costs, const struct simulated_site *site)
{
	double far = far_loads(&site->row);

	if (!(costs->far_ns > 0))
		return "the next level";
	if (site->far_share <
		rules->explains_share) /* the last level is shared with other programs */
		return "L3 or memory";
	if (!site->l2_known)
		return "L2 or L3";
	return far * costs->far_ns > (near_loads(&site->row) - far) * costs->cache_ns ? "L3" : "L2";
}

static const char *memory_why(const struct simulated_rules *rules,
	const struct simulated_costs *costs, const struct simulated_site *site, struct reading r,
	struct arena *arena)
{
	if (r.latency)
		return arena_format(arena,
			"%.0f ns per missed load, and a load from memory takes %.0f ns here: it "
			"waits for every miss",
			r.ns_per_load_miss, costs->memory_ns);
	if (r.bandwidth)
		return arena_format(arena,
			"%.1f ns per line moved, and a line of a sequential read takes %.1f ns%s: "
			"it runs at memory speed",
			costs->plain_ns / site->plain_share,
			r.plain ? costs->plain_ns : fastest_line_ns(costs),
			r.plain ? " word by word" : "");
	if (r.overlapped)
		return arena_format(arena,
			"%.1f last-level misses per 1,000 instructions at %.0f ns each: several "
			"overlap",
			site->ll_mpki, site->ns_per_ll_miss);
	return arena_format(arena, "%.1f ns per L1 miss, and %s: it waits for data in %s",
		site->ns_per_l1_miss, levels_words(costs, arena), level_word(rules, costs, site));
}

static const char *why_of(const struct simulated_rules *rules, const struct simulated_costs *costs,
	const struct simulated_site *site, struct reading r, struct arena *arena)
{
	switch (site->category) {
	case VERDICT_MEMORY_LATENCY:
	case VERDICT_MEMORY_BANDWIDTH:
	case VERDICT_MEMORY:
		return memory_why(rules, costs, site, r, arena);
	case VERDICT_BAD_SPECULATION:
		return arena_format(arena,
			"%.1f ns per mispredicted branch, and one costs %.1f ns here: they explain "
			"%.0f %% of the time",
			site->ns_per_mispredict, costs->mispredict_ns,
			fmin(site->mispredict_share, 1) * 100);
	case VERDICT_FRONTEND:
		return arena_format(arena, "instruction cache misses explain %.0f %% of the time",
			fmin(site->frontend_share, 1) * 100);
	case VERDICT_CORE:
		return arena_format(arena,
			"%.1f cycles per instruction with few misses and mispredictions: it waits "
			"for its own results",
			r.cpi);
	case VERDICT_RETIRING:
		return arena_format(arena,
			"%.2f cycles per instruction with few misses and mispredictions: the core "
			"is busy with the work itself",
			r.cpi);
	case VERDICT_MIXED:
		return arena_format(arena,
			"memory could explain %.0f %% of the time and mispredictions %.0f %%",
			fmin(site->memory_share + site->cache_share, 1) * 100,
			fmin(site->mispredict_share, 1) * 100);
	case VERDICT_UNCLEAR:
	case VERDICT_CATEGORIES:
		break;
	}
	if (r.far)
		return arena_format(arena,
			"%.2f cycles per instruction: %.1f ns per L1 miss, and %s; which of them "
			"hit L2 was not simulated",
			r.cpi, site->ns_per_l1_miss, levels_words(costs, arena));
	return arena_format(arena, "%.2f cycles per instruction, which no event explains", r.cpi);
}

/* How far the deciding number is from its threshold. */
static bool is_clear(const struct simulated_rules *rules, const struct simulated_costs *costs,
	const struct simulated_site *site, struct reading r)
{
	double margin = rules->clear_margin;

	switch (site->category) {
	case VERDICT_MEMORY_LATENCY:
		return r.latency ? r.ns_per_load_miss >=
					   margin * rules->latency_share * costs->memory_ns
				 : (site->l2_known || !(costs->far_ns > 0)) &&
					   site->cache_share >= margin * rules->explains_share;
	case VERDICT_BAD_SPECULATION:
		return site->mispredict_share >= margin * rules->explains_share;
	case VERDICT_MEMORY_BANDWIDTH:
		return site->line_share >= margin / rules->bandwidth_factor;
	case VERDICT_CORE:
		return r.cpi >= margin * rules->core_cpi &&
		       site->memory_share + site->mispredict_share +
				       (site->l2_known ? site->cache_share : site->far_share) <=
			       rules->explains_share / margin;
	case VERDICT_RETIRING:
		return r.cpi <= rules->retiring_cpi / margin;
	case VERDICT_FRONTEND:
	case VERDICT_MEMORY:
	case VERDICT_MIXED:
	case VERDICT_UNCLEAR:
	case VERDICT_CATEGORIES:
		break;
	}
	return false;
}

void simulated_site_judge(const struct simulated_rules *rules, const struct simulated_costs *costs,
	struct arena *arena, struct simulated_site *site)
{
	struct reading r;

	site->category = VERDICT_UNCLEAR;
	site->confidence = VERDICT_LOW;
	if (!site->row.counts[SIMULATED_INSTRUCTIONS] || !(site->time_ns > 0)) {
		site->why = "the simulator and the samples did not both see it";
		return;
	}
	r = site_read(rules, costs, site);
	site->category = category_of(rules, site, r);
	site->why = why_of(rules, costs, site, r, arena);
	/* Two runs and a model are never more than medium. */
	if ((double)site->samples >= rules->samples_least && is_clear(rules, costs, site, r))
		site->confidence = VERDICT_MEDIUM;
}

bool simulated_asks_for_l2(const struct simulated_view *view)
{
	struct simulated_rules rules;
	double asks = 0;

	simulated_rules_load(&rules);
	for (uint32_t i = 0; i < view->function_count && view->costs.far_ns > 0; i++) {
		const struct simulated_site *site = &view->functions[i];

		if (!site->l2_known && site->far_share >= rules.stall_share &&
			site->memory_share < rules.explains_share &&
			site->ns_per_instruction >= rules.core_cpi * view->costs.cycle_ns)
			asks += site->time_share;
	}
	return asks >= rules.again_share;
}

void simulated_sites_hide(const struct simulated_rules *rules, struct arena *arena,
	struct simulated_site *sites, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct simulated_site *site = &sites[i];

		if (!site->samples || !site->row.counts[SIMULATED_INSTRUCTIONS] ||
			(double)site->samples >= rules->samples_least)
			continue;
		site->few_samples = true;
		site->category = VERDICT_UNCLEAR;
		site->confidence = VERDICT_LOW;
		site->why =
			arena_format(arena, "%llu sample%s too few to name a cause: it needs %.0f",
				(unsigned long long)site->samples,
				site->samples == 1 ? " is" : "s are", rules->samples_least);
	}
}
