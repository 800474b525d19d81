/* signal_causal.c - what the experiments tell as single numbers.
 *
 * Which targets are worth touching and which are flat is causal_view's judgement (bounds that SQL
 * cannot make); the query names these targets by their rows and gives the number from the
 * experiments themselves: gains are pooled over all whole pairs of the target, so they may differ
 * by a little from those of `assay causal`, which leaves out pairs that other programs disturbed.
 */
#include <math.h>

#include "analyze/causal_view.h"
#include "model/run.h"
#include "signal_parts.h"

/* A target with less of the samples is not hot. */
#define HOT_SHARE 0.05

/* ---- one gain, pooled over pairs ---- */

static double visits_of(const struct run *run, row_id experiment, row_id point)
{
	double visits = 0;

	vec_foreach (const struct visit_row, visit, &run->visits)
		if (visit->experiment == experiment && visit->point == point)
			visits += (double)visit->departures;
	return visits;
}

static bool has_partner(const struct run *run, const struct experiment_row *e)
{
	vec_foreach (const struct experiment_row, other, &run->experiments)
		if (other != e && other->pair == e->pair && other->target == e->target &&
			!(other->flags & EXPERIMENT_CUT) &&
			!other->speedup_permille != !e->speedup_permille)
			return true;
	return false;
}

/* Time of one visit: with the target sped up to `permille`, or in the pairs without. */
struct pooled {
	double ns, visits;
};

static struct pooled pooled_of(
	const struct run *run, row_id target, uint32_t permille, bool sped, row_id point)
{
	struct pooled sum = {0};

	for (uint32_t i = 0; i < run->experiments.count; i++) {
		const struct experiment_row *e = &run->experiments.at[i];
		bool wanted = sped ? e->speedup_permille == permille : !e->speedup_permille;

		if (e->target != target || !e->pair || (e->flags & EXPERIMENT_CUT) || !wanted ||
			!has_partner(run, e))
			continue;
		sum.ns += (double)e->virtual_ns;
		sum.visits += visits_of(run, i + 1, point);
	}
	return sum;
}

/* The sum of a column over the same rows, in SQL. */
static const char *pooled_sql(struct arena *arena, row_id target, const char *wanted, row_id point)
{
	return arena_format(arena,
		"(SELECT total(e.virtual_ns) / total(v.departures) FROM experiment e LEFT JOIN "
		"visit v ON v.experiment = e.id AND v.point = %u WHERE e.target = %u AND e.pair > "
		"0 AND e.flags & 1 = 0 AND e.speedup_permille %s AND EXISTS (SELECT 1 FROM "
		"experiment o WHERE o.id <> e.id AND o.pair = e.pair AND o.target = e.target AND "
		"o.flags & 1 = 0 AND (o.speedup_permille = 0) <> (e.speedup_permille = 0)))",
		point, target, wanted);
}

static struct leaf gain_leaf(
	struct leaf_reader *reader, const struct causal_view *view, uint32_t index)
{
	const struct causal_target_view *target = &view->targets[index];
	row_id point = (row_id)(view->point - view->points) + 1;
	const struct causal_gain *best = causal_curve_best(&target->curve);
	uint32_t permille = 500;
	struct pooled base, sped;
	const char *sql;

	if (best)
		permille = (uint32_t)lround(1000 * best->speedup);
	base = pooled_of(reader->run, target->row, permille, false, point);
	sped = pooled_of(reader->run, target->row, permille, true, point);
	sql = arena_format(reader->arena, "(1 - %s / %s)",
		pooled_sql(reader->arena, target->row,
			arena_format(reader->arena, "= %u", permille), point),
		pooled_sql(reader->arena, target->row, "= 0", point));
	if (base.visits <= 0 || sped.visits <= 0 || base.ns <= 0)
		return leaf_unknown("too few visits to the progress point", sql);
	return leaf_known(1 - (sped.ns / sped.visits) / (base.ns / base.visits), sql);
}

/* ---- shares and counts of targets ---- */

/* Its share of the samples while nothing was sped up. */
static struct leaf share_leaf(struct leaf_reader *reader, const struct causal_target_view *target)
{
	return leaf_known(target->sample_share,
		arena_format(reader->arena,
			"(SELECT total(hits) / total(samples) FROM experiment WHERE target = %u "
			"AND speedup_permille = 0 AND samples > 0)",
			target->row));
}

typedef bool target_test(const struct causal_target_view *target);

static bool is_worth(const struct causal_target_view *target)
{
	return causal_class_pays(target->curve.class);
}

static bool is_hot_and_flat(const struct causal_target_view *target)
{
	return target->curve.class == CAUSAL_FLAT && target->sample_share >= HOT_SHARE;
}

/* Hot, and its bounds leave everything open. */
static bool is_open(const struct causal_target_view *target)
{
	return target->curve.class == CAUSAL_NOISY && target->sample_share >= HOT_SHARE;
}

static bool is_contended(const struct causal_target_view *target)
{
	return target->curve.class == CAUSAL_CONTENTION;
}

static bool is_worth_waiting(const struct causal_target_view *target)
{
	return target->waits && is_worth(target);
}

static struct leaf number_leaf(
	struct leaf_reader *reader, const struct causal_view *view, target_test *test)
{
	str_auto struct str ids = {0};
	uint32_t count = 0;

	for (uint32_t i = 0; i < view->target_count; i++)
		if (test(&view->targets[i])) {
			str_addf(&ids, "%s%u", count ? ", " : "", view->targets[i].row);
			count++;
		}
	return leaf_known(count,
		arena_format(reader->arena, "(SELECT count(*) FROM causal_target WHERE id IN (%s))",
			str_text(&ids)));
}

/* The hottest target that passes. */
static struct leaf hottest_leaf(struct leaf_reader *reader, const struct causal_view *view,
	target_test *test, const char *reason)
{
	const struct causal_target_view *hottest = NULL;

	for (uint32_t i = 0; i < view->target_count; i++)
		if (test(&view->targets[i]) &&
			(!hottest || view->targets[i].sample_share > hottest->sample_share))
			hottest = &view->targets[i];
	return hottest ? share_leaf(reader, hottest) : leaf_unknown(reason, "NULL");
}

/* An engine inside the program marks nothing.  It knows how many waits a timer ended: about one for
 * each visit where a clock sets the pace. */
static struct leaf timer_leaf(struct leaf_reader *reader, const struct causal_view *view)
{
	row_id point = (row_id)(view->point - view->points) + 1;
	const char *sql = arena_format(reader->arena,
		"(SELECT CASE WHEN t.timer > 0.8 * v.visits AND t.timer > t.handed THEN min(1, "
		"t.timer / v.visits) ELSE 0 END FROM (SELECT total(timer) AS timer, total(handed) "
		"AS handed FROM experiment) t, (SELECT total(departures) AS visits FROM visit "
		"WHERE point = %u) v WHERE v.visits > 0)",
		point);
	double timer = 0, handed = 0, visits = 0;

	for (uint32_t i = 0; i < reader->run->experiments.count; i++) {
		timer += (double)reader->run->experiments.at[i].timer;
		handed += (double)reader->run->experiments.at[i].handed;
		visits += visits_of(reader->run, i + 1, point);
	}
	if (visits <= 0)
		return leaf_unknown("the progress point was not visited", sql);
	return leaf_known(
		timer > 0.8 * visits && timer > handed ? fmin(1, timer / visits) : 0, sql);
}

/* Experiments without a speed-up in which ticks of a clock set off more than half of the visits, by
 * the marks that threads hand on (docs/decisions/030). */
static struct leaf clock_leaf(struct leaf_reader *reader, const struct causal_view *view)
{
	static const char sql[] = "(SELECT avg(flags & 16 <> 0) FROM experiment WHERE "
				  "speedup_permille = 0 AND flags & 1 = 0 AND flags & 8 <> 0)";
	double windows = 0, clock = 0;

	if (view->point->is_latency)
		return leaf_unknown("the time of a passage does not depend on a clock", "NULL");
	vec_foreach (const struct experiment_row, e, &reader->run->experiments) {
		if (e->speedup_permille || (e->flags & EXPERIMENT_CUT) ||
			!(e->flags & EXPERIMENT_PACE))
			continue;
		windows++;
		clock += (e->flags & EXPERIMENT_CLOCK) != 0;
	}
	if (windows > 0)
		return leaf_known(clock / windows, sql);
	return view->point->is_end
		       ? leaf_unknown("whole runs were compared, which end once", "NULL")
		       : timer_leaf(reader, view);
}

bool leaf_causal(struct leaf_reader *reader, const char *name, struct leaf *ret_leaf)
{
	const struct causal_view *view = reader->evidence->causal;
	const char *reason = reader->evidence->causal_reason;

	if (!view)
		*ret_leaf = leaf_unknown(reason ? reason : "no experiments were made", "NULL");
	else if (str_equal(name, "worth"))
		*ret_leaf = number_leaf(reader, view, is_worth);
	else if (str_equal(name, "waits_worth"))
		*ret_leaf = number_leaf(reader, view, is_worth_waiting);
	else if (str_equal(name, "contended"))
		*ret_leaf = number_leaf(reader, view, is_contended);
	else if (str_equal(name, "flat"))
		*ret_leaf = number_leaf(reader, view, is_hot_and_flat);
	else if (str_equal(name, "open"))
		*ret_leaf = number_leaf(reader, view, is_open);
	else if (str_equal(name, "flat_share"))
		*ret_leaf = hottest_leaf(reader, view, is_hot_and_flat, "no hot line is flat");
	else if (str_equal(name, "worth_share"))
		*ret_leaf = hottest_leaf(
			reader, view, is_worth, "experiments found no line worth changing");
	else if (str_equal(name, "best_gain"))
		*ret_leaf =
			view->target_count && is_worth(&view->targets[0])
				? gain_leaf(reader, view, 0)
				: leaf_unknown("experiments found no line worth changing", "NULL");
	else if (str_equal(name, "clock_share"))
		*ret_leaf = clock_leaf(reader, view);
	else
		return false;
	return true;
}
