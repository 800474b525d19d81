/* causal_view.c - see causal_view.h. */
#include "analyze/causal_view.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "base/str.h"
#include "base/vec.h"
#include "causal_parts.h"
#include "model/run.h"

/* Where a measured share becomes a doubt. */
#define CROWDED_SHARE 0.05
#define UNPAID_SHARE 0.05
#define LOST_SHARE 0.05
#define OUTSIDE_SHARE 0.3
#define DRIFT_SHARE 0.15
#define VISITS_FEW 10.0
#define WHOLE_PARTS 1e4
/* Threads waiting for a CPU, as a share of the window: up to this nobody is disturbed. */
#define QUEUED_USUAL 0.1

const char *causal_doubt_name(enum causal_doubt doubt)
{
	static const char *const names[CAUSAL_DOUBTS] = {
		[CAUSAL_DOUBT_CROWDED] = "crowded",
		[CAUSAL_DOUBT_UNPAID] = "unpaid",
		[CAUSAL_DOUBT_LOST] = "lost",
		[CAUSAL_DOUBT_OUTSIDE] = "outside",
		[CAUSAL_DOUBT_PACED] = "paced",
		[CAUSAL_DOUBT_PEER] = "peer",
		[CAUSAL_DOUBT_DRIFT] = "drift",
		[CAUSAL_DOUBT_FEW] = "few",
	};

	return names[doubt];
}

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

/* ---- the progress point ---- */

static void points_read(const struct run *run, struct arena *arena, struct causal_view *view)
{
	uint64_t base_ns = 0;

	view->point_count = run->progress_points.count;
	view->points = arena_take(arena, (view->point_count + 1) * sizeof(*view->points));
	for (uint32_t i = 0; i < view->point_count; i++)
		view->points[i] = (struct causal_point_view){
			.name = run_text(run, run->progress_points.at[i].name),
			.is_latency = run->progress_points.at[i].kind == PROGRESS_LATENCY,
			.is_end = run->progress_points.at[i].kind == PROGRESS_END,
		};
	vec_foreach (const struct experiment_row, e, &run->experiments)
		base_ns += e->speedup_permille ? 0 : e->wall_ns;
	vec_foreach (const struct visit_row, visit, &run->visits) {
		view->points[visit->point - 1].seen += (double)visit->departures;
		if (!run->experiments.at[visit->experiment - 1].speedup_permille)
			view->points[visit->point - 1].visits += (double)visit->departures;
	}
	for (uint32_t i = 0; i < view->point_count && base_ns; i++)
		view->points[i].per_second = view->points[i].visits * 1e9 / (double)base_ns;
}

static int point_missing(const char *name, const struct causal_view *view, struct err *err)
{
	str_auto struct str known = {0};

	for (uint32_t i = 0; i < view->point_count; i++)
		str_addf(&known, "%s%s", i ? ", " : "", view->points[i].name);
	err_set(err, ERR_USAGE, ENOENT, "the program has no progress point '%s'", name);
	err_hint(err, view->point_count ? "it has: %s" : "it visited none%s", str_text(&known));
	return -ENOENT;
}

static int points_mixed(const struct causal_view *view, struct err *err)
{
	const char *throughput = "", *latency = "";

	for (uint32_t i = 0; i < view->point_count; i++) {
		if (view->points[i].is_latency)
			latency = view->points[i].name;
		else
			throughput = view->points[i].name;
	}
	err_set(err, ERR_USAGE, EINVAL,
		"the program has points for throughput ('%s') and latency ('%s'): one number "
		"cannot judge both",
		throughput, latency);
	err_hint(err, "choose one with --progress '%s' or --progress '%s'", throughput, latency);
	return -EINVAL;
}

/* The named one, else the one visited most often; two kinds must be told apart by the user.  Whole
 * runs are only made where no other point will do. */
static int point_choose(struct causal_view *view, const char *name, struct err *err)
{
	struct causal_point_view *chosen = NULL;
	bool kinds[2] = {false, false};

	for (uint32_t i = 0; i < view->point_count; i++) {
		struct causal_point_view *point = &view->points[i];

		if (!name && point->is_end && point->seen > 0) {
			chosen = point;
			kinds[0] = kinds[1] = false;
			break;
		}
		if (point->seen > 0)
			kinds[point->is_latency] = true;
		if (name ? str_equal(point->name, name) : point->seen > (chosen ? chosen->seen : 0))
			chosen = point;
	}
	if (name && !chosen)
		return point_missing(name, view, err);
	if (!name && kinds[0] && kinds[1])
		return points_mixed(view, err);
	view->point = chosen;
	if (chosen)
		chosen->is_chosen = true;
	return 0;
}

/* ---- trials ---- */

/* What the chosen point did during each experiment.  A whole run begins and ends with its work, so
 * its one visit is exact, where a window cuts off a part of one at both ends: as if it were counted
 * in parts. */
static struct causal_window *windows_read(
	const struct run *run, uint32_t point, struct arena *arena)
{
	struct causal_window *windows =
		arena_take(arena, (run->experiments.count + 1) * sizeof(*windows));

	for (uint32_t i = 0; i < run->experiments.count; i++)
		windows[i] = (struct causal_window){
			.virtual_ns = (double)run->experiments.at[i].virtual_ns};
	vec_foreach (const struct visit_row, visit, &run->visits) {
		struct causal_window *window = &windows[visit->experiment - 1];

		if (visit->point != point)
			continue;
		window->visits = (double)visit->departures;
		if (run->progress_points.at[point - 1].kind == PROGRESS_END)
			window->visits *= WHOLE_PARTS;
		if (run->progress_points.at[point - 1].kind == PROGRESS_LATENCY)
			window->inside =
				((double)visit->open_before + (double)visit->open_after) / 2;
	}
	return windows;
}

/* Share of a window that threads stood in the run queue, over all threads. */
static double queued_share(const struct experiment_row *e)
{
	return ratio((double)e->queued_ns, (double)e->wall_ns);
}

/* Other programs come and go: a window in which threads waited for a CPU much longer than usual
 * says more about them.  A program with more threads than CPUs always waits; then that is usual. */
static double queued_limit(const struct run *run, struct arena *arena)
{
	double *shares = arena_take(arena, (run->experiments.count + 1) * sizeof(*shares));
	uint32_t count = 0;

	vec_foreach (const struct experiment_row, e, &run->experiments)
		if (e->pair) /* another tool's have none, and no figures of the queue */
			shares[count++] = queued_share(e);
	stats_sort(shares, count);
	return fmax(QUEUED_USUAL, 2 * (count ? stats_median_sorted(shares, count) : 0));
}

/* The engine takes the time of other programs out of virtual_ns, or marks what it could not. */
static bool is_disturbed(const struct experiment_row *e, double limit)
{
	return e->flags & EXPERIMENT_ROBBED || queued_share(e) > limit;
}

/* Made without a pair. */
static bool is_free(const struct experiment_row *e)
{
	return !e->pair && !(e->flags & EXPERIMENT_CUT);
}

static bool is_free_baseline(const struct experiment_row *e)
{
	return is_free(e) && !e->speedup_permille;
}

/* UINT32_MAX on a side: nothing there. */
static uint32_t nearest(uint32_t before, uint32_t at, uint32_t after, const bool *serves)
{
	if (before == UINT32_MAX || after == UINT32_MAX)
		return before == UINT32_MAX ? after : before;
	if (at - before == after - at)
		return serves[before] && !serves[after] ? after : before;
	return at - before < after - at ? before : after;
}

static bool are_a_pair(const struct experiment_row *a, const struct experiment_row *b)
{
	bool whole = a->flags & b->flags & EXPERIMENT_WHOLE;

	return a->pair && a->pair == b->pair && a->target == b->target &&
	       (whole || a->execution == b->execution) && !(a->flags & EXPERIMENT_CUT) &&
	       !(b->flags & EXPERIMENT_CUT) && !a->speedup_permille != !b->speedup_permille;
}

/* Of each experiment the one it is compared with, UINT32_MAX: none.  Pairs stand next to each
 * other; experiments that were made without pairs (coz's) take the nearest baseline of the same
 * target, and of two that are equally near the one that serves nobody yet. */
static uint32_t *partners_find(const struct run *run, struct arena *arena)
{
	const struct experiment_row *rows = run->experiments.at;
	uint32_t count = run->experiments.count, targets = run->causal_targets.count;
	uint32_t *partners = arena_take(arena, (count + 1) * sizeof(*partners));
	uint32_t *after = arena_take(arena, (count + 1) * sizeof(*after));
	uint32_t *last = arena_take(arena, (targets + 1) * sizeof(*last));
	bool *serves = arena_take(arena, (count + 1) * sizeof(*serves));

	memset(last, 0xff, (targets + 1) * sizeof(*last));
	for (uint32_t i = count; i--;) {
		after[i] = last[rows[i].target];
		serves[i] = false;
		if (is_free_baseline(&rows[i]))
			last[rows[i].target] = i;
	}
	memset(last, 0xff, (targets + 1) * sizeof(*last));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t before = last[rows[i].target], chosen = UINT32_MAX;

		if (i + 1 < count && rows[i].speedup_permille && are_a_pair(&rows[i], &rows[i + 1]))
			chosen = i + 1;
		else if (i && rows[i].speedup_permille && are_a_pair(&rows[i], &rows[i - 1]))
			chosen = i - 1;
		else if (is_free(&rows[i]) && rows[i].speedup_permille)
			chosen = nearest(before, i, after[i], serves);
		partners[i] = chosen;
		if (chosen != UINT32_MAX)
			serves[chosen] = true;
		if (is_free_baseline(&rows[i]))
			last[rows[i].target] = i;
	}
	return partners;
}

/* Counts in the view what is not used. */
static struct causal_trial *trials_read(const struct run *run, uint32_t point, struct arena *arena,
	uint32_t *ret_count, struct causal_view *view)
{
	const double limit = queued_limit(run, arena);
	const struct experiment_row *rows = run->experiments.at;
	const uint32_t *partners = partners_find(run, arena);
	struct causal_window *windows = windows_read(run, point, arena);
	struct causal_trial *trials =
		arena_take(arena, (run->experiments.count + 1) * sizeof(*trials));
	uint32_t count = 0;

	for (uint32_t i = 0; i < run->experiments.count; i++) {
		const struct experiment_row *sped = &rows[i];

		if (partners[i] == UINT32_MAX) {
			view->alone += is_free(sped) && sped->speedup_permille;
			continue;
		}
		if (is_disturbed(sped, limit) || is_disturbed(&rows[partners[i]], limit)) {
			view->disturbed++;
			continue;
		}
		trials[count++] = (struct causal_trial){
			.target = sped->target - 1,
			.pair = sped->pair,
			.speedup = sped->speedup_permille / 1000.0,
			.base = windows[partners[i]],
			.sped = windows[i],
			.hits = (double)sped->hits,
			.delay_share = ratio((double)sped->owed_ns, (double)sped->wall_ns),
		};
	}
	*ret_count = count;
	return trials;
}

/* What the runner has said under this code; NULL: nothing. */
static const char *told(const struct run *run, const char *code)
{
	vec_foreach (const struct note_row, note, &run->notes)
		if (str_equal(run_text(run, note->code), code))
			return run_text(run, note->text);
	return NULL;
}

/* Counting changed the program. */
static const char *refusal_of(const struct run *run)
{
	return told(run, "probe-distorts");
}

int causal_trials_of_run(const struct run *run, const char *point, struct arena *arena,
	struct causal_trial **ret_trials, uint32_t *ret_count, struct err *err)
{
	struct causal_view view = {0};
	int r;

	*ret_trials = NULL;
	*ret_count = 0;
	points_read(run, arena, &view);
	r = view.point_count ? point_choose(&view, point, err) : 0;
	if (r < 0 || !view.point || refusal_of(run))
		return r;
	*ret_trials =
		trials_read(run, (uint32_t)(view.point - view.points) + 1, arena, ret_count, &view);
	return 0;
}

/* ---- what speaks against it ---- */

struct totals {
	double samples, lost, wakes, handed, unpaid, queued, ran, owed;
};

static struct totals totals_read(const struct run *run)
{
	struct totals t = {0};

	vec_foreach (const struct experiment_row, e, &run->experiments) {
		t.samples += (double)e->samples;
		t.lost += (double)e->lost;
		t.handed += (double)e->handed;
		t.wakes += (double)(e->handed + e->outside + e->timer);
		t.unpaid += (double)e->unpaid_ns;
		t.owed += (double)e->owed_ns;
		t.queued += (double)e->queued_ns;
		t.ran += (double)e->ran_ns;
	}
	return t;
}

/* How far the undisturbed cost of the last third is from that of the first. */
static double drift_of(const struct causal_trial *trials, uint32_t count)
{
	double first = 0, last = 0, first_visits = 0, last_visits = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (i < count / 3) {
			first += trials[i].base.virtual_ns;
			first_visits += trials[i].base.visits;
		} else if (i >= count - count / 3) {
			last += trials[i].base.virtual_ns;
			last_visits += trials[i].base.visits;
		}
	}
	if (first <= 0 || last_visits <= 0 || first_visits <= 0)
		return 0;
	return fabs(last / last_visits / (first / first_visits) - 1);
}

static void guards_make(const struct run *run, const struct causal_trial *trials, uint32_t count,
	struct causal_view *view)
{
	const struct totals t = totals_read(run);
	const bool whole = view->point && view->point->is_end; /* one visit is all there is */
	const double visits = whole ? VISITS_FEW * count : view->point ? view->point->visits : 0;
	const struct causal_pace_shares pace = causal_pace_shares(run, trials, count);
	const struct {
		double value, limit;
	} seen[CAUSAL_DOUBTS] = {
		[CAUSAL_DOUBT_CROWDED] = {ratio(t.queued, t.queued + t.ran), CROWDED_SHARE},
		[CAUSAL_DOUBT_UNPAID] = {ratio(t.unpaid, t.owed), UNPAID_SHARE},
		[CAUSAL_DOUBT_LOST] = {ratio(t.lost, t.lost + t.samples), LOST_SHARE},
		[CAUSAL_DOUBT_OUTSIDE] = {ratio(t.wakes - t.handed, t.wakes), OUTSIDE_SHARE},
		[CAUSAL_DOUBT_PACED] = {pace.clock, pace.limit},
		[CAUSAL_DOUBT_PEER] = {pace.peer, pace.limit},
		[CAUSAL_DOUBT_DRIFT] = {drift_of(trials, count), DRIFT_SHARE},
		[CAUSAL_DOUBT_FEW] = {count ? visits / count : 0, VISITS_FEW},
	};

	for (unsigned i = 0; i < CAUSAL_DOUBTS; i++)
		view->guards[i] = (struct causal_guard){i, seen[i].value,
			i == CAUSAL_DOUBT_FEW ? seen[i].value < seen[i].limit
					      : seen[i].value > seen[i].limit,
			t.samples > 0 || i == CAUSAL_DOUBT_FEW || i == CAUSAL_DOUBT_DRIFT};
	view->guards[CAUSAL_DOUBT_PEER].is_known &= pace.is_known;
	/* How long a passage takes is the program's matter, whatever the clock does. */
	if (view->point && view->point->is_latency)
		view->guards[CAUSAL_DOUBT_PACED].is_bad = false;
	view->pace = view->guards[CAUSAL_DOUBT_PACED].is_bad  ? CAUSAL_PACE_CLOCK
		     : view->guards[CAUSAL_DOUBT_PEER].is_bad ? CAUSAL_PACE_PEER
							      : CAUSAL_PACE_OWN;
	causal_pace_cost(run, view);
}

/* ---- targets ---- */

static double rank_of(const struct causal_target_view *target)
{
	return target->curve.slope_is_known ? target->curve.slope : -(double)INFINITY;
}

/* What is worth touching by its slope at the origin; steps, which have none, by their gain. */
static int by_worth(const void *a, const void *b)
{
	const struct causal_target_view *x = a, *y = b;
	bool worth_x = causal_class_pays(x->curve.class),
	     worth_y = causal_class_pays(y->curve.class);
	double rank_x = worth_x ? rank_of(x) : x->sample_share;
	double rank_y = worth_y ? rank_of(y) : y->sample_share;

	if (worth_x != worth_y)
		return worth_x ? -1 : 1;
	if (rank_x != rank_y)
		return rank_x > rank_y ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static void targets_make(const struct run *run, const struct causal_trial *trials, uint32_t count,
	struct arena *arena, struct causal_view *view)
{
	view->target_count = run->causal_targets.count;
	view->targets = arena_take(arena, (view->target_count + 1) * sizeof(*view->targets));
	for (uint32_t i = 0; i < view->target_count; i++) {
		const struct causal_target_row *row = &run->causal_targets.at[i];
		struct causal_target_view *target = &view->targets[i];

		*target = (struct causal_target_view){.row = i + 1,
			.name = run_text(run, row->name),
			.file = run_text(run, row->file),
			.function = run_text(run, row->function),
			.line = row->line,
			.waits = row->kind == CAUSAL_TARGET_WAIT};
		causal_curve_make(trials, count, i, &target->curve);
		if (view->pace != CAUSAL_PACE_OWN)
			causal_curve_forget(&target->curve);
	}
	vec_foreach (const struct experiment_row, e, &run->experiments) {
		struct causal_target_view *target = &view->targets[e->target - 1];

		if (e->speedup_permille || !e->samples)
			continue;
		target->hits += (double)e->hits;
		target->samples += (double)e->samples;
		target->sample_share = ratio(target->hits, target->samples);
	}
	if (view->target_count)
		qsort(view->targets, view->target_count, sizeof(*view->targets), by_worth);
	if (view->pace != CAUSAL_PACE_OWN)
		view->flat_from = view->target_count;
	while (view->flat_from < view->target_count &&
		causal_class_pays(view->targets[view->flat_from].curve.class))
		view->flat_from++;
}

/* Each of them makes a thread pay again for a delay that its waker has paid already, or not at all:
 * gains there read low. */
const char *const causal_not_seen[] = {
	"raw futexes",
	"pipes and sockets",
	"spin locks",
	"C11 threads",
	"other runtimes that park threads themselves (Go, Rust std)",
	"static programs",
	"time in the kernel, separate from the code around it",
	NULL,
};

/* The program was never there, or had to be left alone. */
static const char *unable_of(const struct run *run)
{
	static const char *const codes[] = {"not-followed", "sandboxed", "signal-taken"};
	const char *text = NULL;

	for (unsigned i = 0; i < sizeof(codes) / sizeof(*codes) && !text; i++)
		text = told(run, codes[i]);
	return text;
}

/* Experiments show it; without any the runner has said so. */
static bool was_unvisited(const struct run *run)
{
	return told(run, "no-progress") || run->experiments.count;
}

int causal_view_make(const struct run *run, const char *point, struct arena *arena,
	struct causal_view *ret_view, struct err *err)
{
	struct causal_trial *trials = NULL;
	uint32_t count = 0;
	int r;

	*ret_view = (struct causal_view){.experiments = run->experiments.count};
	vec_foreach (const struct experiment_row, e, &run->experiments) {
		ret_view->cut += e->flags & EXPERIMENT_CUT ? 1 : 0;
		ret_view->is_inside |= (e->flags & EXPERIMENT_INSIDE) != 0;
		ret_view->measured_ns += e->wall_ns;
	}
	points_read(run, arena, ret_view);
	r = point_choose(ret_view, point, err);
	if (r < 0)
		return r;
	ret_view->refused = refusal_of(run);
	ret_view->unable = unable_of(run);
	ret_view->unvisited = !ret_view->point && !ret_view->refused && was_unvisited(run);
	if (ret_view->point && !ret_view->refused)
		trials = trials_read(run, (uint32_t)(ret_view->point - ret_view->points) + 1, arena,
			&count, ret_view);
	ret_view->pairs = count;
	guards_make(run, trials, count, ret_view);
	targets_make(run, trials, count, arena, ret_view);
	return 0;
}
