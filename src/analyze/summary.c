/* summary.c - see summary.h.
 *
 * One sorted copy serves everything.  100,000 values take about 60 ms, most of it the sort and the
 * median of their 5e9 averages. */
#include "analyze/summary.h"

#include <math.h>

#include "base/mem.h"
#include "base/series.h"
#include "base/stats.h"

static enum summary_spread spread_of(double variation)
{
	if (isnan(variation))
		return SUMMARY_SPREAD_UNKNOWN;
	if (variation <= 0.03)
		return SUMMARY_SPREAD_TIGHT;
	if (variation <= 0.10)
		return SUMMARY_SPREAD_USUAL;
	return variation <= 0.30 ? SUMMARY_SPREAD_WIDE : SUMMARY_SPREAD_WILD;
}

static void summary_percentiles(struct summary *summary, const double *sorted)
{
	static const double shares[SUMMARY_PERCENTILES] = {
		0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999};
	size_t count = summary->count;

	for (size_t i = 0; i < SUMMARY_PERCENTILES; i++) {
		struct summary_percentile *one = &summary->percentiles[i];

		one->share = shares[i];
		one->needed = quantile_count_needed(shares[i], 0.95);
		one->interval = interval_of_quantile(sorted, count, shares[i], 0.95);
		one->upper = quantile_upper_bound(sorted, count, shares[i], 0.95);
		one->worst_of_all = isinf(one->upper);
		one->value = stats_nearest_sorted(sorted, count, shares[i]);
	}
}

/* Count the wild ones, and describe what is left without them and without the warm-up. */
static void summary_steady(struct summary *summary, const double *values, const double *sorted)
{
	double sigma = stats_robust_sigma_sorted(sorted, summary->count);
	mem_auto double *steady = mem_new(summary->count, sizeof(*steady));

	for (size_t i = 0; i < summary->count; i++) {
		enum outlier_class class = outlier_class_of(values[i], summary->median, sigma);

		summary->far += class == OUTLIER_FAR;
		summary->extreme += class == OUTLIER_EXTREME;
		if (class == OUTLIER_NONE && i >= summary->warm_after)
			steady[summary->steady_count++] = values[i];
	}
	stats_sort(steady, summary->steady_count);
	summary->steady_median = stats_median_sorted(steady, summary->steady_count);
	summary->steady_mean = stats_mean(steady, summary->steady_count);
}

static void summary_memory(struct summary *summary, const double *values)
{
	struct interval *interval = &summary->median_interval;
	double wider;

	summary->autocorrelation = series_autocorrelation(values, summary->count);
	summary->effective_count = series_effective_count(summary->count, summary->autocorrelation);
	if (!summary->count)
		return;
	wider = sqrt((double)summary->count / summary->effective_count);
	interval->lo = summary->median - wider * (summary->median - interval->lo);
	interval->hi = summary->median + wider * (interval->hi - summary->median);
}

int summary_make(const double *values, size_t count, struct summary *ret_summary, struct err *err)
{
	int status = stats_check(values, count, "measurements", err);
	mem_auto double *sorted = NULL;

	if (status < 0)
		return status;
	sorted = stats_sorted(values, count);
	*ret_summary = (struct summary){
		.count = count,
		.min = count ? sorted[0] : (double)NAN,
		.max = count ? sorted[count - 1] : (double)NAN,
		.mean = stats_mean(values, count),
		.deviation = stats_deviation(values, count),
		.variation = stats_variation(values, count),
		.mad = stats_mad_sorted(sorted, count),
		.iqr = stats_iqr_sorted(sorted, count),
		.median = stats_median_sorted(sorted, count),
		.median_interval = interval_of_quantile(sorted, count, 0.5, 0.95),
		.pseudo_median = shift_of_sorted(sorted, count, 0.95),
		.warm_after = series_warm_after(values, count),
		.modes = shape_valley_find(sorted, count),
	};
	ret_summary->spread = spread_of(ret_summary->variation);
	summary_percentiles(ret_summary, sorted);
	summary_steady(ret_summary, values, sorted);
	summary_memory(ret_summary, values);
	return 0;
}
