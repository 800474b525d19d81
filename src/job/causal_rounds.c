/* causal_rounds.c - see causal.h: the pair that would teach most. */
#include "analyze/causal_view.h"
#include "job/causal.h"

/* Good enough: bounds within three points to both sides. */
#define HALF_WIDTH 0.03

/* With time for fewer pairs of a target than this, all bounds would stay open: then fewer targets
 * are tried. */
enum { PAIRS_EACH = 10 };

static uint32_t site_of_row(const struct causal_rounds *rounds, uint32_t row)
{
	for (uint32_t i = 0; i < rounds->rows.count; i++)
		if (rounds->rows.at[i] == row)
			return i;
	return UINT32_MAX;
}

/* What every pair so far was about, as a site. */
static int trials_take(struct causal_rounds *rounds, struct arena *arena,
	struct causal_trial **ret_trials, uint32_t *ret_count, struct err *err)
{
	int r = causal_trials_of_run(rounds->run, rounds->judge, arena, ret_trials, ret_count, err);

	for (uint32_t i = 0; r >= 0 && i < *ret_count; i++)
		(*ret_trials)[i].target = site_of_row(rounds, (*ret_trials)[i].target + 1);
	return r;
}

/* Whether others come first, as many as there is time for: those that were named before it, else
 * those that are hotter. */
static bool is_too_many(const struct causal_rounds *rounds, const struct causal_site *sites,
	uint32_t count, uint32_t site)
{
	uint32_t most = (rounds->pairs + rounds->pairs_left) / PAIRS_EACH, before = 0;

	for (uint32_t i = 0; i < count; i++)
		before += sites[site].is_fixed ? i < site : sites[i].ns > sites[site].ns;
	return rounds->pairs_left && before && before >= most;
}

int causal_rounds_next(struct causal_rounds *rounds, const struct causal_site *sites,
	uint32_t count, uint64_t all_ns, struct causal_choice *ret_choice, struct err *err)
{
	arena_auto struct arena arena = {0};
	struct causal_candidate *candidates = arena_take(&arena, (count + 1) * sizeof(*candidates));
	struct causal_trial *trials;
	struct causal_cell cell;
	uint32_t trial_count;
	int r = trials_take(rounds, &arena, &trials, &trial_count, err);

	if (r < 0)
		return r;
	while (rounds->rows.count < count)
		vec_push(&rounds->rows, 0);
	for (uint32_t i = 0; i < count; i++)
		candidates[i] = (struct causal_candidate){
			.sample_share = all_ns ? (double)sites[i].ns / (double)all_ns : 0,
			.given_up = !sites[i].what.count || is_too_many(rounds, sites, count, i),
			.left_out = rounds->levels_left_out};
	cell = causal_next_cell(
		trials, trial_count, candidates, count, HALF_WIDTH, &rounds->random);
	if (cell.done)
		return 0;
	sites += cell.target;
	rounds->pairs++;
	if (!rounds->rows.at[cell.target])
		rounds->rows.at[cell.target] = ++rounds->tried;
	*ret_choice = (struct causal_choice){
		.target = rounds->rows.at[cell.target],
		.speedup_permille = (uint32_t)(1000 * causal_levels[cell.level]),
		.what = sites->what,
		.name = sites->name,
		.file = sites->file,
		.function = sites->function,
		.line = sites->line,
	};
	return 1;
}
