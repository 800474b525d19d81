/* branches_judge.c - whether mispredictions explain the time.
 *
 * The counts of the whole program decide, by the thresholds of data/metrics; the stacks and the
 * simulator only where there are no counts.  What a misprediction costs is not measured: 20 cycles
 * is a usual price (data/metrics/generic.txt), right within a factor of two. */
#include <math.h>

#include "analyze/branches.h"
#include "analyze/simulated.h"
#include "analyze/site_summary.h"
#include "base/str.h"

#define MISS_CYCLES 20
#define STACKS_MUCH 0.05 /* as `investigate` of branch_miss_rate */

const char *const branches_metrics[] = {"branch_miss_rate", "branch_mpki", "ipc", NULL};
const char *const branches_sets[] = {"branches", NULL};

static enum metric_assessment worse(const struct metric_result *a, const struct metric_result *b)
{
	enum metric_assessment x = a && a->known ? a->assessment : METRIC_NONE;
	enum metric_assessment y = b && b->known ? b->assessment : METRIC_NONE;

	return x > y ? x : y;
}

/* Mispredictions per cycle; under a CPU's own names by the metrics, unless they are of one kind of
 * core only.  NAN: not known. */
static double misses_per_cycle(const struct site_summary *summary)
{
	double misses = site_summary_event(summary, "branch-misses");
	double cycles = site_summary_event(summary, "cycles");
	const struct metric_result *mpki = site_summary_metric(summary, "branch_mpki");
	const struct metric_result *ipc = site_summary_metric(summary, "ipc");

	if (!isnan(misses) && !isnan(cycles))
		return misses / cycles;
	if (!mpki || !mpki->known || *mpki->core || !ipc || !ipc->known || *ipc->core ||
		!str_equal(mpki->modifiers, ipc->modifiers))
		return (double)NAN;
	return mpki->value / 1000 * ipc->value;
}

/* By price, of the cycles. */
static void share_make(struct site_summary *summary, struct arena *arena)
{
	struct verdict *verdict = &summary->verdict;
	double share = misses_per_cycle(summary) * MISS_CYCLES;

	if (share > 0 && share <= 1) {
		verdict->share = share;
		verdict->share_of =
			arena_format(arena, "the cycles, at %d cycles each", MISS_CYCLES);
		verdict->share_reason = "";
		return;
	}
	verdict->share_reason = isnan(share) ? "cycles and mispredictions were not both counted"
					     : "at the usual cost it is more than all cycles";
}

static void counts_judge(struct site_summary *summary, enum metric_assessment assessment,
	const struct metric_result *mpki, struct arena *arena)
{
	struct verdict *verdict = &summary->verdict;
	const struct metric_result *rate = site_summary_metric(summary, "branch_miss_rate");
	const char *whose = summary->simulated ? "the simulated predictor" : "the PMU";
	double per_thousand = mpki && mpki->known ? mpki->value : (double)NAN;

	if (assessment == METRIC_INVESTIGATE)
		verdict->category = VERDICT_BAD_SPECULATION;
	verdict->confidence = summary->simulated ? VERDICT_LOW : VERDICT_MEDIUM;
	verdict->doubt = summary->simulated ? "the simulated predictor is not the one of this CPU"
					    : "the cost of a misprediction was not measured here";
	if (rate && rate->known && !isnan(per_thousand))
		verdict->why = arena_format(arena,
			"%s counts %.2f %% of the branches mispredicted, %.2f per 1,000 "
			"instructions%s",
			whose, rate->value * 100, per_thousand,
			assessment == METRIC_INVESTIGATE ? "" : ": they do not explain the time");
	else
		verdict->why = arena_format(arena, "%s counts %.4g%s", whose,
			rate && rate->known ? rate->value * 100 : per_thousand,
			rate && rate->known ? " % of the branches mispredicted"
					    : " mispredictions per 1,000 instructions");
}

static void stacks_judge(
	const struct branches_view *view, struct site_summary *summary, struct arena *arena)
{
	struct verdict *verdict = &summary->verdict;
	struct simulated_rules rules; /* of what samples are enough */

	simulated_rules_load(&rules);
	verdict->share_reason = "branches and cycles were not counted";
	if (isnan(view->all.miss_rate)) {
		verdict->why = view->all.count ? "the branches do not say how they were predicted"
					       : "no branch was measured";
		return;
	}
	if (view->witness == BRANCHES_STACKS && (double)view->samples < rules.samples_least) {
		verdict->why =
			arena_format(arena, "%llu sample%s too few to name a cause: it needs %.0f",
				(unsigned long long)view->samples,
				view->samples == 1 ? " is" : "s are", rules.samples_least);
		return;
	}
	if (view->all.miss_rate > STACKS_MUCH)
		verdict->category = VERDICT_BAD_SPECULATION;
	verdict->doubt =
		"only the taken branches near samples are known, not the instructions between them";
	verdict->why =
		arena_format(arena, "%.2f %% of the branches in the stacks were mispredicted",
			view->all.miss_rate * 100);
}

void branches_judge(
	const struct branches_view *view, struct arena *arena, struct site_summary *summary)
{
	const struct metric_result *rate = site_summary_metric(summary, "branch_miss_rate");
	const struct metric_result *mpki = site_summary_metric(summary, "branch_mpki");
	enum metric_assessment assessment = worse(rate, mpki);

	summary->verdict.category = VERDICT_UNCLEAR;
	summary->verdict.confidence = VERDICT_LOW;
	summary->verdict.share = (double)NAN;
	summary->verdict.share_of = "";
	if (assessment == METRIC_NONE) {
		stacks_judge(view, summary, arena);
		return;
	}
	counts_judge(summary, assessment, mpki, arena);
	share_make(summary, arena);
}
