/* simulated_verdict.c - the word about the whole program, from those about its functions.
 *
 * A category leads with two thirds of the time in user mode, the kinds of memory together if none
 * of them does alone; half of the time judged without a leader is "mixed".  The word is no surer
 * than the functions that carry it, needs samples enough, and `core` has to stand beside a model
 * of the core that knows the instructions and no misses. */
#include <math.h>

#include "simulated_parts.h"

static enum verdict_category leader(
	const struct simulated_rules *rules, const double *shares, double *ret_share)
{
	enum verdict_category best = VERDICT_UNCLEAR;
	double memory = 0, judged = 0;

	for (unsigned c = VERDICT_UNCLEAR + 1; c < VERDICT_CATEGORIES; c++) {
		if (c != VERDICT_MIXED && (best == VERDICT_UNCLEAR || shares[c] > shares[best]))
			best = (enum verdict_category)c;
		if (verdict_category_is_memory((enum verdict_category)c))
			memory += shares[c];
		judged += shares[c];
	}
	*ret_share = shares[best];
	if (shares[best] >= rules->lead_share)
		return best;
	*ret_share = memory;
	if (memory >= rules->lead_share)
		return VERDICT_MEMORY;
	*ret_share = judged;
	return judged >= rules->judged_share ? VERDICT_MIXED : VERDICT_UNCLEAR;
}

static bool site_carries(const struct simulated_site *site, enum verdict_category category)
{
	return site->category == category ||
	       (category == VERDICT_MEMORY && verdict_category_is_memory(site->category));
}

/* With samples enough to be named; NULL: there is none. */
static const struct simulated_site *hottest_of(const struct simulated_rules *rules,
	const struct simulated_view *view, enum verdict_category category)
{
	for (uint32_t i = 0; i < view->function_count; i++)
		if (site_carries(&view->functions[i], category) &&
			(double)view->functions[i].samples >= rules->samples_least)
			return &view->functions[i];
	return NULL;
}

/* What the word stands on; of "mixed" all that has a cause. */
static uint64_t samples_of(const struct simulated_view *view, enum verdict_category category)
{
	uint64_t samples = 0;

	for (uint32_t i = 0; i < view->function_count; i++) {
		const struct simulated_site *site = &view->functions[i];

		if (category == VERDICT_MIXED ? site->category != VERDICT_UNCLEAR
					      : site_carries(site, category))
			samples += site->samples;
	}
	return samples;
}

/* No surer than what the word stands on: the hottest functions of this category, as many as it
 * takes to lead.  The many small ones behind them change nothing. */
static enum verdict_confidence confidence_of(const struct simulated_rules *rules,
	const struct simulated_view *view, enum verdict_category category)
{
	enum verdict_confidence least = VERDICT_HIGH;
	double user = 1 - view->kernel_share, held = 0;

	if (category == VERDICT_MIXED || category == VERDICT_UNCLEAR || user < rules->judged_share)
		return VERDICT_LOW;
	for (uint32_t i = 0; i < view->function_count && held < rules->lead_share * user; i++) {
		const struct simulated_site *site = &view->functions[i];

		if (!site_carries(site, category))
			continue;
		held += site->time_share;
		if (site->confidence < least)
			least = site->confidence;
	}
	return held > 0 ? least : VERDICT_LOW;
}

static void verdict_words(const struct simulated_rules *rules, struct arena *arena,
	struct simulated_view *view, double user_share)
{
	struct verdict *v = &view->verdict;
	const struct simulated_site *site = hottest_of(rules, view, v->category);

	v->confidence = confidence_of(rules, view, v->category);
	v->doubt =
		1 - view->kernel_share < rules->judged_share
			? "most of the time is in the kernel, which is not simulated"
		: user_share < rules->judged_share
			? "most of the time has no matching simulated counts"
			: "time and counts come from different runs, and the counts from a model";
	if (v->category == VERDICT_MIXED)
		v->why = arena_format(arena,
			"no cause has %.0f %% of the time: look at each function",
			rules->lead_share * 100);
	else if (v->category == VERDICT_UNCLEAR)
		v->why = "simulated counts explain too little of the time";
	else if (site)
		v->why = arena_format(arena, "%s: %s", site->row.function, site->why);
	else
		v->why = arena_format(arena,
			"many functions add up to it, each with fewer than %.0f samples",
			rules->samples_least);
}

/* No cause at all, neither in the word nor in the shares. */
static void verdict_few(const struct simulated_rules *rules, struct arena *arena,
	struct simulated_view *view, uint64_t samples)
{
	struct verdict *v = &view->verdict;

	for (unsigned c = VERDICT_UNCLEAR + 1; c < VERDICT_CATEGORIES; c++) {
		view->category_share[VERDICT_UNCLEAR] += view->category_share[c];
		view->category_share[c] = 0;
	}
	v->category = VERDICT_UNCLEAR;
	v->confidence = VERDICT_LOW;
	v->share = (double)NAN;
	v->share_reason = "there are too few samples";
	v->doubt = "";
	v->why = arena_format(arena,
		"%llu sample%s too few to name a cause: it needs %.0f, so give the program more "
		"work",
		(unsigned long long)samples, samples == 1 ? " is" : "s are", rules->samples_least);
}

void simulated_view_judge(
	const struct simulated_rules *rules, struct arena *arena, struct simulated_view *view)
{
	double user = 1 - view->kernel_share, of_user[VERDICT_CATEGORIES], share = 0;
	struct verdict *v = &view->verdict;
	uint64_t samples;

	*v = verdict_none();
	for (uint32_t i = 0; i < view->function_count; i++)
		view->category_share[view->functions[i].category] += view->functions[i].time_share;
	for (unsigned c = 0; c < VERDICT_CATEGORIES; c++)
		of_user[c] = user > 0 ? view->category_share[c] / user : 0;
	if (view->counts.partial || !(user >= rules->user_share)) {
		v->share = (double)NAN;
		v->share_reason =
			view->counts.partial
				? "the simulation was cut short, so there are only rates"
				: "most of the time is in the kernel, which is not simulated";
		v->doubt = v->share_reason;
		v->why = v->share_reason;
		return;
	}
	v->category = leader(rules, of_user, &share);
	samples = samples_of(view, v->category);
	if (v->category != VERDICT_UNCLEAR && (double)samples < rules->samples_least) {
		verdict_few(rules, arena, view, samples);
		return;
	}
	v->share = share;
	v->share_of = "time in user mode";
	verdict_words(rules, arena, view, view->joined_share);
}

/* In the function's row, in the shares of the categories and in the word about the program. */
static void core_becomes(struct simulated_view *view, struct simulated_site *site,
	enum verdict_category category, const char *why)
{
	struct verdict *v = &view->verdict;
	double user = 1 - view->kernel_share, share = 0;

	view->category_share[site->category] -= site->time_share;
	view->category_share[category] += site->time_share;
	site->category = v->category = category;
	site->why = v->why = why;
	for (unsigned c = VERDICT_UNCLEAR + 1; c < VERDICT_CATEGORIES; c++)
		if (category == VERDICT_UNCLEAR || c == category)
			share += view->category_share[c];
	v->share = share / user;
}

void simulated_doubt_core(
	struct simulated_view *view, double measured, double predicted, struct arena *arena)
{
	struct simulated_rules rules;
	struct verdict *v = &view->verdict;
	struct simulated_site *site = view->hottest_core < view->function_count
					      ? &view->functions[view->hottest_core]
					      : NULL;

	simulated_rules_load(&rules);
	if (!site || v->category != VERDICT_CORE || !(measured > rules.doubt_factor * predicted))
		return;
	v->confidence = site->confidence = VERDICT_LOW;
	v->doubt = arena_format(arena,
		"an iteration of the hottest loop takes %.0f cycles, and llvm-mca predicts %.0f",
		measured, predicted);
	if (measured <= rules.unclear_factor * predicted)
		return;
	if (site->far_share >= rules.explains_share)
		core_becomes(view, site, VERDICT_MEMORY_LATENCY,
			arena_format(arena,
				"%s; its loads miss L1 so often that hits of L3 would explain it",
				v->doubt));
	else
		core_becomes(view, site, VERDICT_UNCLEAR,
			arena_format(arena,
				"%s: something that neither the simulated counts nor the model of "
				"the core knows takes the time",
				v->doubt));
}
