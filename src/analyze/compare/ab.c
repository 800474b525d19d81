/* ab.c - see ab.h.
 *
 * Two families, because a correction for four metrics would cost the two that decide a part of
 * their power: memory and faults never decide, so their chances of a false alarm are not theirs.
 * Wall time beside corrected wall time is nobody's: it is shown, and nothing is concluded from it.
 * A run counts as disturbed by what its own command usually meets, not by what the other side
 * meets: a program that starts more threads is pushed off the CPU more often in every run, and that
 * is its property, not an accident. */
#include "analyze/ab.h"

#include <math.h>

#include "base/mem.h"
#include "base/series.h"
#include "base/stats.h"
#include "base/str.h"

#define STEAL_MUCH 0.05	   /* of the median wall time, above the usual */
#define PRESSURE_MUCH 0.25 /* the same */
#define LOAD_CHANGED 0.4   /* between the 10th and 90th percentile of the contested share */
#define TAIL_SLOW 1.25
#define TAIL_FAST 1.10
#define SPREAD_MUCH 0.1
#define SPREAD_UNEVEN 2
enum { PUSHED_TIMES = 3, PUSHED_MORE = 10 };

const char *ab_disturbance_text(enum ab_disturbance disturbance)
{
	static const char *const texts[] = {
		"", "steal: the host took the CPU", "tasks waited for a CPU", "preempted"};

	return texts[disturbance];
}

const char *ab_tier_name(enum ab_tier tier)
{
	static const char *const names[] = {"", "BelowParity", "ParityToMargin", "HealthyMargin"};

	return names[tier];
}

const char *ab_weakness_text(unsigned bit)
{
	static const char *const texts[AB_WEAKNESSES] = {
		"fewer than 20 pairs",
		"runs vary by more than 10 %",
		"p95 is the worst run seen",
		"wall time does not show it",
		"pairs are correlated",
		"the interval is wider than the effect",
		"disturbed pairs change the verdict",
		"one side varies more than twice as much",
	};

	return texts[bit];
}

static enum bench_measure measure_of(const struct ab_view *ab, enum ab_metric metric)
{
	static const enum bench_measure measures[AB_METRICS] = {[AB_WALL] = BENCH_WALL_NS,
		[AB_CPU] = BENCH_CPU_NS,
		[AB_MEMORY] = BENCH_RSS_BYTES,
		[AB_FAULTS] = BENCH_FAULTS,
		[AB_PLAIN_WALL] = BENCH_WALL_NS};

	return metric == AB_WALL && ab->corrected ? BENCH_CORRECTED_NS : measures[metric];
}

/* The values of one metric, pair by pair; only the calm ones with `calm_only`.  Returns how
 * many; `*ret_all`: each is above 0. */
static uint32_t metric_values(const struct ab_view *ab, enum ab_metric metric, bool calm_only,
	double *a, double *b, bool *ret_all)
{
	enum bench_measure measure = measure_of(ab, metric);
	uint32_t count = 0;

	*ret_all = true;
	for (uint32_t i = 0; i < ab->pair_count; i++) {
		if (calm_only && ab->disturbed[i] != AB_CALM)
			continue;
		a[count] = bench_measure_at(ab->a, ab->pairs[i].a, measure);
		b[count] = bench_measure_at(ab->b, ab->pairs[i].b, measure);
		*ret_all &= a[count] > 0 && b[count] > 0;
		count++;
	}
	return count;
}

/* Judge one metric; 1, or 0 when there is nothing to judge. */
static int metric_judge(const struct ab_view *ab, enum ab_metric metric, bool calm_only,
	const struct compare_rule *rule, struct comparison *ret_comparison, struct err *err)
{
	static const char *const names[] = {"wall", "cpu", "memory", "faults", "wall"};
	static const enum compare_kind kinds[] = {
		COMPARE_WALL, COMPARE_CPU, COMPARE_OTHER, COMPARE_OTHER, COMPARE_WALL};
	mem_auto double *a = mem_new(ab->pair_count, sizeof(*a));
	mem_auto double *b = mem_new(ab->pair_count, sizeof(*b));
	struct compare_rule own = *rule;
	struct compare_input input = {names[metric], kinds[metric], a, b, 0, 0};
	bool all;
	int r;

	if (metric == AB_PLAIN_WALL && !ab->corrected)
		return 0;
	if (metric == AB_WALL)
		input.name = bench_time_name(measure_of(ab, metric));
	input.a_count = input.b_count = metric_values(ab, metric, calm_only, a, b, &all);
	if (metric != AB_WALL && !all)
		return 0;
	/* A peak below the spawner's own cannot be seen. */
	if (metric == AB_MEMORY && ab->a->rss.median <= (double)ab->a->rss_floor_bytes &&
		ab->b->rss.median <= (double)ab->b->rss_floor_bytes)
		return 0;
	/* A count that is the same in every run decides by itself, however small the change. */
	if (kinds[metric] == COMPARE_OTHER && compare_never_varies(a, ab->pair_count) &&
		compare_never_varies(b, ab->pair_count)) {
		input.kind = COMPARE_COUNT;
		own.min_effect = 0;
	}
	r = compare_pairs(&input, &own, ret_comparison, err);
	return r < 0 ? r : 1;
}

/* Judge all metrics into `metrics`; how many of them decide is told too. */
static int metrics_judge(const struct ab_view *ab, bool calm_only, const struct compare_rule *rule,
	struct comparison *metrics, uint32_t *ret_deciding, struct err *err)
{
	uint32_t count = 0, judged = 0;

	for (unsigned i = 0; i < AB_METRICS; i++) {
		int r = metric_judge(ab, i, calm_only, rule, &metrics[count], err);

		if (r < 0)
			return r;
		count += (uint32_t)r;
		if (i == AB_CPU)
			*ret_deciding = count;
		if (i < AB_PLAIN_WALL)
			judged = count;
	}
	compare_family(metrics, *ret_deciding);
	compare_family(metrics + *ret_deciding, judged - *ret_deciding);
	compare_family(metrics + judged, count - judged);
	return (int)count;
}

/* What a command usually meets. */
struct usual {
	double wall, steal, pressure, pushed;
};

static struct usual usual_make(const struct bench_command *command)
{
	return (struct usual){
		.wall = command->wall.median,
		.steal = bench_median(command, BENCH_STEAL_NS),
		.pressure = bench_median(command, BENCH_PRESSURE_NS),
		.pushed = bench_median(command, BENCH_PUSHES),
	};
}

static enum ab_disturbance disturbance_of(
	const struct bench_command *command, uint32_t index, const struct usual *usual)
{
	struct bench_run run = bench_run_at(command, index);

	if (run.has_steal && (double)run.steal_ns - usual->steal > STEAL_MUCH * usual->wall)
		return AB_STEAL;
	if (run.has_pressure &&
		(double)run.pressure_ns - usual->pressure > PRESSURE_MUCH * usual->wall)
		return AB_PRESSURE;
	return (double)run.involuntary_switches > PUSHED_TIMES * usual->pushed + PUSHED_MORE
		       ? AB_PUSHED
		       : AB_CALM;
}

/* What hits both sides of a pair falls out of its ratio. */
static void disturbances_find(struct ab_view *ab, struct arena *arena)
{
	struct usual usual_a = usual_make(ab->a), usual_b = usual_make(ab->b);

	ab->disturbed = arena_take(arena, ab->pair_count * sizeof(*ab->disturbed));
	for (uint32_t i = 0; i < ab->pair_count; i++) {
		enum ab_disturbance a = disturbance_of(ab->a, ab->pairs[i].a, &usual_a);
		enum ab_disturbance b = disturbance_of(ab->b, ab->pairs[i].b, &usual_b);

		ab->disturbed[i] = (a == AB_CALM) == (b == AB_CALM) ? AB_CALM : a ? a : b;
		ab->disturbed_count += ab->disturbed[i] != AB_CALM;
		ab->disturbances[ab->disturbed[i]]++;
	}
}

static double contested_share(const struct bench_run *run)
{
	return fmin((double)run->pressure_ns / (double)run->wall_ns, 1);
}

/* Did others come and go?  A pair that A's own threads contest does so in every round. */
static void load_find(struct ab_view *ab)
{
	mem_auto double *shares = mem_new(ab->pair_count, sizeof(*shares));
	size_t count = 0;

	ab->contested_low = ab->contested_high = (double)NAN;
	for (uint32_t i = 0; i < ab->pair_count; i++) {
		struct bench_run a = bench_run_at(ab->a, ab->pairs[i].a);
		struct bench_run b = bench_run_at(ab->b, ab->pairs[i].b);

		if (a.has_pressure && b.has_pressure && a.wall_ns && b.wall_ns)
			shares[count++] = (contested_share(&a) + contested_share(&b)) / 2;
	}
	if (count < COMPARE_BATCH)
		return;
	stats_sort(shares, count);
	ab->contested_low = shares[count / 10];
	ab->contested_high = shares[count - 1 - count / 10];
	ab->load_changed = ab->contested_high - ab->contested_low > LOAD_CHANGED;
}

static void tail_find(struct ab_view *ab)
{
	double a = ab->a->wall.percentiles[SUMMARY_P95].value;
	double b = ab->b->wall.percentiles[SUMMARY_P95].value;

	ab->tail_ratio = ab->pair_count ? b / a : (double)NAN;
	/* The published tiers overlap between 1/1.10 and 1/1.25: the better one is asked first. */
	ab->tier = !(ab->tail_ratio > 0)	     ? AB_TIER_UNKNOWN
		   : ab->tail_ratio <= 1 / TAIL_FAST ? AB_HEALTHY_MARGIN
		   : ab->tail_ratio <= TAIL_SLOW     ? AB_PARITY_TO_MARGIN
						     : AB_BELOW_PARITY;
}

/* How much the runs of one side vary, by the time that decided. */
static double side_spread(const struct ab_view *ab, const struct bench_command *side, bool cpu)
{
	const struct summary *wall = ab->corrected ? &side->corrected : &side->wall;

	return cpu ? side->cpu.variation : wall->variation;
}

static unsigned weaknesses_of(const struct ab_view *ab)
{
	const struct comparison *by = ab->verdict.by;
	bool cpu = by->kind == COMPARE_CPU;
	double spread_a = side_spread(ab, ab->a, cpu), spread_b = side_spread(ab, ab->b, cpu);
	double wide = fmax(spread_a, spread_b), tight = fmin(spread_a, spread_b);
	bool moved = compare_has_moved(ab->verdict.outcome);

	return (ab->pair_count < COMPARE_PAIRS_GOOD ? AB_WEAK_FEW : 0) |
	       (wide > SPREAD_MUCH ? AB_WEAK_SPREAD : 0) |
	       (ab->a->wall.percentiles[SUMMARY_P95].worst_of_all ? AB_WEAK_TAIL : 0) |
	       (moved && !ab->verdict.confirmed ? AB_WEAK_UNCONFIRMED : 0) |
	       (by->autocorrelation > SERIES_DEPENDENT ? AB_WEAK_DEPENDENT : 0) |
	       (moved && by->hi - by->lo > fabs(by->effect) ? AB_WEAK_WIDE : 0) |
	       (ab->calm_differs ? AB_WEAK_DISTURBED : 0) |
	       (wide > SPREAD_UNEVEN * tight && wide > SPREAD_MUCH ? AB_WEAK_UNEVEN : 0);
}

/* From the start of the first pair to the end of the last one. */
static uint64_t pair_time(const struct ab_view *ab)
{
	const struct bench_pair *last = ab->pairs + ab->pair_count - 1;
	struct bench_run a, b;
	uint64_t begin, end_a, end_b;

	if (!ab->pair_count)
		return 0;
	a = bench_run_at(ab->a, ab->pairs[0].a);
	b = bench_run_at(ab->b, ab->pairs[0].b);
	begin = a.start_ns < b.start_ns ? a.start_ns : b.start_ns;
	a = bench_run_at(ab->a, last->a);
	b = bench_run_at(ab->b, last->b);
	end_a = a.start_ns + a.wall_ns;
	end_b = b.start_ns + b.wall_ns;
	return ((end_a > end_b ? end_a : end_b) - begin) / ab->pair_count;
}

static uint64_t more_pairs(const struct ab_view *ab)
{
	uint64_t most = 0;

	if (ab->verdict.outcome != COMPARE_INCONCLUSIVE)
		return 0;
	for (uint32_t i = 0; i < ab->deciding_count; i++)
		if (ab->metrics[i].pairs_needed > most)
			most = ab->metrics[i].pairs_needed;
	return most > ab->pair_count ? most - ab->pair_count : 0;
}

/* May the pairs that are left be called the same as all of them, though they are too few to prove
 * it: as small, or in the same direction, of a size that matters, and not another one? */
static bool calm_is_like(const struct comparison *all, const struct comparison *calm)
{
	double size = log1p(all->min_effect), then = all->centre.estimate;
	double now = calm->centre.estimate;

	if (all->outcome == COMPARE_EQUIVALENT)
		return fabs(now) <= size;
	return fabs(now) > size && (now > 0) == (then > 0) && calm->log_ratio.lo <= then &&
	       calm->log_ratio.hi >= then;
}

/* Fewer pairs alone make no other verdict. */
static bool calm_agrees(const struct ab_view *ab)
{
	enum compare_outcome outcome = ab->verdict.outcome;

	if (ab->calm_verdict.outcome != COMPARE_INCONCLUSIVE || outcome == COMPARE_INCONCLUSIVE)
		return ab->calm_verdict.outcome == outcome;
	for (uint32_t i = 0; i < ab->deciding_count; i++) {
		bool decides = outcome == COMPARE_EQUIVALENT || &ab->metrics[i] == ab->verdict.by;

		if (decides && !calm_is_like(&ab->metrics[i], &ab->calm_metrics[i]))
			return false;
	}
	return true;
}

static int calm_judge(struct ab_view *ab, const struct compare_rule *rule, struct err *err)
{
	uint32_t deciding = 0;
	int r;

	if (!ab->disturbed_count || ab->pair_count - ab->disturbed_count < COMPARE_PAIRS_MIN)
		return 0;
	r = metrics_judge(ab, true, rule, ab->calm_metrics, &deciding, err);
	if (r < 0)
		return r;
	ab->calm_verdict = compare_decide(ab->calm_metrics, deciding);
	ab->calm_differs = !calm_agrees(ab);
	if (!ab->calm_differs)
		ab->calm_verdict.outcome = ab->verdict.outcome;
	return 0;
}

int ab_view_make(const struct bench_view *view, const struct compare_rule *rule,
	struct arena *arena, struct ab_view *ret_ab, struct err *err)
{
	struct ab_view *ab = ret_ab; /* the verdicts point into it */
	int r;

	*ab = (struct ab_view){.a = &view->commands[0], .b = &view->commands[1]};
	ab->pair_count = bench_pairs_find(ab->a, ab->b, arena, &ab->pairs);
	ab->corrected = bench_time_of_two(ab->a, ab->b) == BENCH_CORRECTED_NS;
	r = metrics_judge(ab, false, rule, ab->metrics, &ab->deciding_count, err);
	if (r < 0)
		return r;
	ab->metric_count = (uint32_t)r;
	ab->cpu_is_known = ab->deciding_count == 2;
	ab->verdict = compare_decide(ab->metrics, ab->deciding_count);
	ab->pair_ns = pair_time(ab);
	ab->more_pairs = more_pairs(ab);
	ab->leftovers_a = ab->a->leftover_count;
	ab->leftovers_b = ab->b->leftover_count;
	disturbances_find(ab, arena);
	load_find(ab);
	tail_find(ab);
	r = calm_judge(ab, rule, err);
	ab->weaknesses = weaknesses_of(ab);
	return r;
}

double ab_compound(double before, double effect)
{
	return (1 + before) * (1 + effect) - 1;
}

const struct comparison *ab_metric_named(const struct ab_view *ab, const char *name)
{
	for (uint32_t i = 0; i < ab->metric_count; i++)
		if (str_equal(ab->metrics[i].name, name))
			return &ab->metrics[i];
	return NULL;
}

bool ab_is_settled(const struct ab_view *ab)
{
	if (ab->verdict.outcome == COMPARE_REGRESSED)
		return true;
	for (uint32_t i = 0; i < ab->deciding_count; i++)
		if (!compare_is_settled(&ab->metrics[i]))
			return false;
	return true;
}

bool ab_is_confirmed(const struct ab_view *ab)
{
	enum compare_outcome outcome = ab->verdict.outcome;

	if (!ab->verdict.confirmed)
		return false;
	for (uint32_t i = 0; i < ab->deciding_count; i++) {
		enum compare_outcome points = compare_points_to(&ab->metrics[i]);

		if (compare_has_moved(points) && points != outcome)
			return false;
	}
	return true;
}

bool ab_is_narrow(const struct ab_view *ab)
{
	for (uint32_t i = 0; i < ab->deciding_count; i++)
		if (!compare_is_narrow(&ab->metrics[i]) &&
			ab->metrics[i].outcome != COMPARE_EQUIVALENT)
			return false;
	return true;
}

struct ab_side ab_side_of(const struct bench_command *command)
{
	double cpu = command->cpu.median;

	return (struct ab_side){
		.cpu_ns = cpu,
		/* Below some 50 ms the kernel's split is a matter of where the tick fell. */
		.system_share = cpu >= 5e7 ? command->system_ns / cpu : (double)NAN,
		.faults = bench_median(command, BENCH_FAULTS),
		.waits = bench_median(command, BENCH_WAITS),
		.pushes = bench_median(command, BENCH_PUSHES),
		.instructions = (double)NAN,
		.cycles = (double)NAN,
		.branch_misses = (double)NAN,
		.cache_misses = (double)NAN,
	};
}
