/* progress_choice.c - see progress_choice.h. */
#include "analyze/progress_choice.h"

#include <math.h>
#include <stdlib.h>

#define RATE_LEAST 10.0
#define RATE_MOST 10000.0
#define RATE_BEST 300.0 /* sixty visits in an experiment of 200 ms, and no cost to speak of */
#define UNEVEN 0.5
#define IN_STEP 0.15	 /* rates this near are called in step */
#define RATE_ENOUGH 50.0 /* what is further in has little to add */
#define SHARE_NEAR 0.1
#define SHARE_MOST 0.5

static double sum_of(const uint64_t *numbers, uint32_t count)
{
	double sum = 0;

	for (uint32_t i = 0; i < count; i++)
		sum += (double)numbers[i];
	return sum;
}

static double rate_of(
	const struct progress_candidate *candidate, const struct progress_slices *slices)
{
	double ns = (double)slices->count * (double)slices->each_ns;

	return ns > 0 ? sum_of(candidate->visits, slices->count) * 1e9 / ns : 0;
}

/* How far slices next to each other differ, which are what experiments compare: a program that
 * becomes slower and slower is no worse than a steady one.  Counting alone varies by 1/sqrt(n): at
 * 10 visits a second nothing else could be seen. */
static double variation_of(
	const struct progress_candidate *candidate, const struct progress_slices *slices)
{
	double sum = sum_of(candidate->visits, slices->count), squares = 0, mean, variance;
	double busy = slices->busy_ns ? sum_of(slices->busy_ns, slices->count) : 0, before = 0;

	if (sum <= 0 || slices->count < 2)
		return 0;
	mean = sum / slices->count;
	for (uint32_t i = 0; i < slices->count; i++) {
		double expected = slices->busy_ns && busy > 0
					  ? sum * (double)slices->busy_ns[i] / busy
					  : mean;
		double off = (double)candidate->visits[i] - expected;

		if (i)
			squares += (off - before) * (off - before) / 2;
		before = off;
	}
	variance = squares / (slices->count - 1) - mean;
	return variance > 0 ? sqrt(variance) / mean : 0;
}

static bool in_step(double a, double b)
{
	return fabs(a - b) <= IN_STEP * fmax(a, b);
}

static enum progress_verdict verdict_of(
	const struct progress_candidate *candidate, const struct progress_rank *rank)
{
	double most = candidate->rate_most > 0 ? candidate->rate_most : RATE_MOST;

	if (candidate->is_hot || rank->per_second > most)
		return PROGRESS_HOT;
	if (rank->per_second < RATE_LEAST)
		return PROGRESS_RARE;
	/* Where most of the time is, bursts are the program's own and widen the bounds. */
	return rank->variation > (candidate->stack_share >= SHARE_MOST ? 2 * UNEVEN : UNEVEN)
		       ? PROGRESS_UNEVEN
		       : PROGRESS_FIT;
}

/* Even, neither rare nor hot, where the time is, with output, outermost. */
static double score_of(const struct progress_candidate *candidate, const struct progress_rank *rank)
{
	double decades = fabs(log10(fmax(rank->per_second, 1e-3) / RATE_BEST));

	return (1 - fmin(rank->variation, 1)) - 0.4 * decades + (rank->output ? 1 : 0) -
	       (rank->is_inner ? 1 : 0) - (rank->is_deeper ? 0.5 : 0) -
	       (candidate->is_loop ? 0.2 : 0) + candidate->stack_share;
}

static int by_score(const void *a, const void *b)
{
	const struct progress_rank *x = a, *y = b;

	if ((x->verdict == PROGRESS_FIT) != (y->verdict == PROGRESS_FIT))
		return x->verdict == PROGRESS_FIT ? -1 : 1;
	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return x->candidate < y->candidate ? -1 : x->candidate > y->candidate;
}

/* The other stands nearer to the root of the same stacks, and is visited often enough. */
static bool is_outer(const struct progress_candidate *outer, const struct progress_rank *its,
	const struct progress_candidate *inner)
{
	return its->verdict == PROGRESS_FIT && its->per_second >= RATE_ENOUGH &&
	       outer->stack_share > 0 && outer->stack_share >= inner->stack_share - SHARE_NEAR;
}

/* What the others say of it: output in step with it, and callers that are fit and in step. */
static void rank_compare(const struct progress_candidate *candidates,
	const struct progress_rank *all, uint32_t count, struct progress_rank *rank)
{
	const struct progress_candidate *own = &candidates[rank->candidate];

	for (uint32_t i = 0; i < count; i++) {
		/* Of a loop and the function that it calls, people know the function. */
		if (candidates[i].is_loop && !own->is_loop &&
			in_step(all[i].per_second, rank->per_second))
			continue;
		if (own->callers >> i & 1 && is_outer(&candidates[i], &all[i], own))
			rank->is_deeper = true;
		if (i == rank->candidate || !in_step(all[i].per_second, rank->per_second))
			continue;
		if (candidates[i].is_output && all[i].per_second >= RATE_LEAST)
			rank->output = candidates[i].name;
		else if (own->callers >> i & 1 && all[i].verdict == PROGRESS_FIT)
			rank->is_inner = true;
	}
}

uint32_t progress_choose(const struct progress_candidate *candidates, uint32_t count,
	const struct progress_slices *slices, struct progress_rank *ret_ranks)
{
	struct progress_rank all[PROGRESS_CANDIDATES_MAX] = {0};
	uint32_t ranks = 0;

	for (uint32_t i = 0; i < count && i < PROGRESS_CANDIDATES_MAX; i++) {
		all[i].candidate = i;
		all[i].per_second = rate_of(&candidates[i], slices);
		all[i].variation = variation_of(&candidates[i], slices);
		all[i].verdict = verdict_of(&candidates[i], &all[i]);
		all[i].cost = all[i].per_second * (double)candidates[i].probe_ns / 1e9;
	}
	for (uint32_t i = 0; i < count && i < PROGRESS_CANDIDATES_MAX; i++) {
		if (candidates[i].is_output)
			continue;
		ret_ranks[ranks] = all[i];
		rank_compare(candidates, all, count, &ret_ranks[ranks]);
		ret_ranks[ranks].score = score_of(&candidates[i], &ret_ranks[ranks]);
		ranks++;
	}
	if (ranks)
		qsort(ret_ranks, ranks, sizeof(*ret_ranks), by_score);
	return ranks;
}

void progress_words(struct str *out, const struct progress_candidate *candidates,
	const struct progress_rank *rank)
{
	str_addf(out, "%s: ", candidates[rank->candidate].name);
	if (rank->verdict == PROGRESS_HOT) {
		str_add(out, "called too often to count");
		return;
	}
	str_addf(out, "%.0f/s, %s (varies by %.0f %%)", rank->per_second,
		rank->verdict == PROGRESS_UNEVEN ? "in bursts" : "evenly", 100 * rank->variation);
	if (rank->verdict == PROGRESS_RARE)
		str_add(out, ", too rare");
	if (candidates[rank->candidate].stack_share > 0)
		str_addf(out, ", on %.0f %% of the stacks",
			100 * candidates[rank->candidate].stack_share);
	if (rank->cost > 0)
		str_addf(out, ", counting costs %.2f %%", 100 * rank->cost);
	if (rank->output)
		str_addf(out, ", as often as %s()", rank->output);
	if (rank->is_inner)
		str_add(out, ", called by an equally good one");
}
