/* scale_words.c - what the law means, in sentences; see scale.h. */
#include "render/scale.h"

#include <math.h>

#include "render/scale_chart.h"

enum { TIME_SIZE = 32, COUNT_SIZE = 32 };

static const char *growth_words(enum law law)
{
	static const char *const words[LAW_COUNT] = {"", "log n", "n", "n log n", "n^2"};

	return words[law];
}

static void range_words(const struct scale_view *view, struct str *out)
{
	char first[COUNT_SIZE], last[COUNT_SIZE];

	str_addf(out, "from n = %s to %s",
		paper_count(first, sizeof(first), (double)view->points[0].size),
		paper_count(last, sizeof(last), (double)view->points[view->point_count - 1].size));
}

static void formula_words(const struct scale_view *view, struct str *out)
{
	const struct law_line *line = &view->law.fit.lines[view->law.best];
	char a[SCALE_LABEL_SIZE], b[SCALE_LABEL_SIZE];

	if (view->law.best == LAW_CONSTANT)
		str_addf(out, "t = %s", scale_time_label(a, line->a));
	else if (line->a > 0)
		str_addf(out, "t = %s + %s * %s", scale_time_label(a, line->a),
			scale_time_label(b, line->b), growth_words(view->law.best));
	else
		str_addf(out, "t = %s * %s", scale_time_label(b, line->b),
			growth_words(view->law.best));
}

static void law_words(const struct scale_view *view, struct str *out)
{
	const struct scale_law *law = &view->law;
	double largest = (double)view->points[view->point_count - 1].size;
	char count[COUNT_SIZE], time[TIME_SIZE];

	str_addf(out, "%s: ", scale_law_name(law));
	if (law->beyond) {
		str_addf(out,
			"between the two largest sizes the time above the start-up grows with n to "
			"the power %.2f (%.2f .. %.2f).",
			law->tail_slope, law->tail.lo, law->tail.hi);
		return;
	}
	formula_words(view, out);
	str_add(out, ", ");
	range_words(view, out);
	if (law->best == LAW_CONSTANT) {
		str_addf(out,
			". No growth was seen: over that range the time changes by a factor of "
			"%.2f to %.2f.",
			law->growth.lo, law->growth.hi);
		return;
	}
	str_addf(out,
		". Doubling the input takes %.2f times as long; ten times the input takes %.3g "
		"times: about %s at n = %s (extrapolated).",
		law->doubling, law->tenfold, paper_time(time, sizeof(time), law->tenfold_ns),
		paper_count(count, sizeof(count), 10 * largest));
}

static void candidates_words(const struct scale_view *view, struct str *out)
{
	const struct scale_law *law = &view->law;
	bool first = true;

	for (enum law l = LAW_CONSTANT; l < LAW_COUNT; l++) {
		if (!law->candidate[l] || isnan(law->support[l]))
			continue;
		str_addf(out, "%s%s in %.0f %% of the resamples", first ? "" : ", ", law_name(l),
			law->support[l] * 100);
		first = false;
	}
}

static void doubt_words(const struct scale_view *view, struct str *out)
{
	const struct scale_law *law = &view->law;

	switch (view->doubt) {
	case SCALE_SURE:
		break;
	case SCALE_FEW_RUNS:
		str_addf(out, "No verdict: %u runs per size are too few to tell noise from a law.",
			view->rounds);
		break;
	case SCALE_FEW_SIZES:
		str_add(out, "No verdict: a law needs 4 or more sizes with good runs.");
		break;
	case SCALE_NEAR_SIZES:
		str_add(out,
			"No verdict: the sizes are too close together; the largest should be at "
			"least 8 times the smallest.");
		break;
	case SCALE_MIXED:
		str_add(out, "No law stands out: ");
		candidates_words(view, out);
		str_add(out, ".");
		break;
	case SCALE_BUSY:
		str_add(out, "No verdict: other programs used the CPUs, so more threads could not "
			     "help.");
		break;
	case SCALE_SLOWER:
		str_addf(out,
			"No verdict: the threads did not wait. For the same work they used %.2f "
			"times the CPU time of %llu.",
			view->threads.cpu_times,
			(unsigned long long)view->points[view->threads.first].size);
		break;
	case SCALE_HIDDEN:
		str_addf(out,
			"No growth was seen, but noise could hide it: from the smallest to the "
			"largest size the time changes by a factor of %.2f to %.2f.",
			law->growth.lo, law->growth.hi);
		break;
	}
}

static void share_words(struct str *out, double value, const struct interval *range)
{
	str_addf(out, "%.3g %%", value * 100);
	if (isfinite(range->lo) && isfinite(range->hi))
		str_addf(out, " (%.3g .. %.3g)", range->lo * 100, range->hi * 100);
}

static void threads_law_words(const struct scale_threads *threads, struct str *out)
{
	const struct law_threads *fit = &threads->fit;
	double limit = 1 / fit->contention;

	if (!threads->fitted)
		return;
	str_add(out, " Serial share of the work (sigma) ");
	share_words(out, fit->contention, &threads->contention);
	if (isnan(fit->coherency)) {
		str_add(out,
			"; the cost of coordination (kappa) needs three thread counts with a CPU "
			"for each thread.");
		return;
	}
	str_add(out, ", cost of coordination (kappa) ");
	share_words(out, fit->coherency, &threads->coherency);
	if (isfinite(fit->peak)) {
		str_addf(out, "; highest throughput at %.3g threads", fit->peak);
		if (isfinite(threads->peak.lo) && isfinite(threads->peak.hi))
			str_addf(out, " (%.3g .. %.3g)", threads->peak.lo, threads->peak.hi);
		str_addf(out, ": %.4g runs per second.", threads->peak_rate);
	} else if (fit->contention >= 1) {
		str_add(out, "; more threads do not help.");
	} else if (fit->contention > 0) {
		str_addf(out, "; no number of threads is more than %.3g times as fast.", limit);
	} else {
		str_add(out, ".");
	}
}

static void threads_words(const struct scale_view *view, struct str *out)
{
	const struct scale_threads *threads = &view->threads;
	const struct scale_point *last = &view->points[threads->last];
	const struct scale_point *best = &view->points[threads->best];

	if (threads->fit_count < 2) {
		str_addf(out,
			"No verdict: the command may use %u CPUs, and scaling needs two thread "
			"counts with a CPU for each thread.",
			threads->cpus);
		return;
	}
	if (view->doubt == SCALE_FEW_RUNS || view->doubt == SCALE_BUSY) {
		doubt_words(view, out);
		return;
	}
	if (view->doubt == SCALE_SLOWER) {
		doubt_words(view, out);
		str_add(out, " ");
	} else if (threads->kind == SCALE_THREADS_UNCLEAR) {
		str_add(out, "No verdict, the runs vary too much: ");
	} else {
		str_addf(out, "%s: ", scale_threads_name(threads->kind));
	}
	if (threads->kind == SCALE_THREADS_COHERENCY)
		str_addf(out, "the highest throughput is at %llu, and %llu reach only %.3g of it.",
			(unsigned long long)best->size, (unsigned long long)last->size,
			last->rate / best->rate);
	else
		str_addf(out, "%llu threads have %.2f times (%.2f .. %.2f) the throughput of %llu.",
			(unsigned long long)last->size, last->speedup, threads->speedup.lo,
			threads->speedup.hi, (unsigned long long)view->points[threads->first].size);
	if (view->doubt != SCALE_SLOWER) /* nothing is serial there */
		threads_law_words(threads, out);
}

void scale_verdict_words(const struct scale_view *view, struct str *out)
{
	if (view->options.threads)
		threads_words(view, out);
	else if (view->doubt == SCALE_SURE)
		law_words(view, out);
	else
		doubt_words(view, out);
}

void scale_trust_words(const struct scale_view *view, struct str *out)
{
	const struct scale_law *law = &view->law;
	const struct scale_point *worst = &view->points[law->worst];

	if (view->options.threads || !law->fitted)
		return;
	if (view->doubt == SCALE_SURE && !law->beyond) {
		str_addf(out, "It wins in %.4g %% of %u resamples of the rounds",
			law->support[law->best] * 100, view->draws);
		if (law->evidence >= 1e6)
			str_addf(out, "; next is %s, more than a million times less likely",
				law_name(law->runner_up));
		else if (law->evidence > 1)
			str_addf(out, "; next is %s, %.3g times less likely",
				law_name(law->runner_up), law->evidence);
		str_add(out, ". ");
	}
	str_addf(out, "Slope of log t over log n %.2f (%.2f .. %.2f).", law->fit.slope,
		law->slope.lo, law->slope.hi);
	if (law->misfit && !law->beyond)
		str_addf(out,
			" No law fits well: at n = %llu the time is %+.0f %% off. A step (a full "
			"cache, a growing buffer) looks like that.",
			(unsigned long long)worst->size, worst->off_share * 100);
}

static void threads_advice(const struct scale_view *view, struct str *out)
{
	const struct scale_threads *threads = &view->threads;
	bool idle = threads->one_cpu && threads->kind != SCALE_THREADS_LINEAR;

	if (threads->fit_count < 2)
		str_add(out, "Measure on a machine with more CPUs.");
	else if (view->doubt == SCALE_FEW_RUNS)
		str_add(out, "Use 7 or more runs: -n 7.");
	else if (view->doubt == SCALE_BUSY)
		str_add(out, "Measure again when the machine is quiet.");
	else if (view->doubt == SCALE_SLOWER)
		str_add(out, "Two threads of one core, caches, memory, other virtual machines of "
			     "the host or a lock that spins slow each thread down: `assay "
			     "topdown` and `assay report` tell which.");
	else if (threads->kind == SCALE_THREADS_UNCLEAR)
		str_addf(out, "Use more runs (-n %u) on a quieter machine.", view->rounds * 4);
	else if (idle)
		str_add(out, "The CPU time never exceeded one CPU: the program ignores the thread "
			     "count, or one lock serializes all its work.");
	else if (threads->kind == SCALE_THREADS_LINEAR)
		str_add(out, "More CPUs should help.");
	else if (threads->kind == SCALE_THREADS_CONTENTION)
		str_add(out, "Find the bottleneck: a lock that is held long, a serial part.");
	else
		str_addf(out,
			"Run it with %llu, and find what the threads share: a lock, a counter, a "
			"cache line.",
			(unsigned long long)view->points[threads->best].size);
}

static void way_out_words(const struct scale_view *view, struct str *out)
{
	const struct scale_law *law = &view->law;

	if (view->cpu_is_clear)
		str_addf(out, "By CPU time it is %s (--metric cpu). ", scale_law_name(&view->cpu));
	if (law->suggested[0]) {
		str_addf(out, "Add larger sizes: %llu", (unsigned long long)law->suggested[0]);
		if (law->suggested[1])
			str_addf(out, ", %llu", (unsigned long long)law->suggested[1]);
		str_add(out, ".");
	} else if (law->suggested_runs) {
		str_addf(out, "Use more runs: -n %u.", law->suggested_runs);
	}
}

void scale_advice_words(const struct scale_view *view, struct str *out)
{
	static const char *const advice[LAW_COUNT] = {
		[LAW_CONSTANT] =
			"The size does not matter here; if it should, the sizes are too small to "
			"show next to the start-up time.",
		[LAW_LOG] = "Larger inputs cost almost nothing.",
		[LAW_LINEAR] =
			"10x data = 10x time, plus the start-up time: make each unit cheaper.",
		[LAW_LINEAR_LOG] = "10x data = a little more than 10x time: as good as sorting "
				   "gets.",
		[LAW_SQUARE] = "10x data = 100x time: look for a loop inside a loop, or a search "
			       "in a list.",
	};

	if (view->options.threads)
		threads_advice(view, out);
	else if (view->doubt != SCALE_SURE)
		way_out_words(view, out);
	else if (view->law.beyond)
		str_add(out, "Larger inputs are out of reach: it needs another algorithm.");
	else
		str_add(out, advice[view->law.best]);
	if (view->expectation != SCALE_NOT_ASKED)
		str_addf(out, " Expected %s: %s.", law_name(view->options.expected),
			view->expectation == SCALE_MET	   ? "met"
			: view->expectation == SCALE_WORSE ? "it is worse"
							   : "cannot tell");
}
