/* summary.c - see summary.h.
 *
 * What the order tells comes first; then the values are sorted where they are, so that 100,000 of
 * them take no copy (of the warm-up at most). */
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

/* Count the wild ones, and describe what is left without them and without the warm-up, whose values
 * stand in `warming`.  `sorted` is of no more use and takes what is left. */
static void summary_steady(struct summary *summary, double *sorted, const double *warming)
{
	double sigma = stats_robust_sigma_sorted(sorted, summary->count);
	size_t warm = 0;

	for (size_t i = 0; i < summary->count; i++) {
		enum outlier_class class = outlier_class_of(sorted[i], summary->median, sigma);

		summary->far += class == OUTLIER_FAR;
		summary->extreme += class == OUTLIER_EXTREME;
		if (warm < summary->warm_after && sorted[i] == warming[warm])
			warm++;
		else if (class == OUTLIER_NONE)
			sorted[summary->steady_count++] = sorted[i];
	}
	summary->steady_median = stats_median_sorted(sorted, summary->steady_count);
	summary->steady_mean = stats_mean(sorted, summary->steady_count);
}

/* Runs that resemble their neighbours tell less: the interval is wider. */
static void summary_widen(struct summary *summary)
{
	struct interval *interval = &summary->median_interval;
	double wider;

	summary->effective_count = series_effective_count(summary->count, summary->autocorrelation);
	if (!summary->count)
		return;
	wider = sqrt((double)summary->count / summary->effective_count);
	/* Downwards as a ratio: a time that cannot be negative has no negative bound. */
	if (interval->lo > 0)
		interval->lo = summary->median * pow(interval->lo / summary->median, wider);
	else
		interval->lo = summary->median - wider * (summary->median - interval->lo);
	interval->hi = summary->median + wider * (interval->hi - summary->median);
}

int summary_make(double *values, size_t count, struct summary *ret_summary, struct err *err)
{
	int status = stats_check(values, count, "measurements", err);
	mem_auto double *warming = NULL;

	if (status < 0)
		return status;
	*ret_summary = (struct summary){
		.count = count,
		.mean = stats_mean(values, count),
		.deviation = stats_deviation(values, count),
		.variation = stats_variation(values, count),
		.warm_after = series_warm_after(values, count),
		.autocorrelation = series_autocorrelation(values, count),
	};
	warming = stats_sorted(values, ret_summary->warm_after);
	stats_sort(values, count); /* the order tells nothing more */
	ret_summary->min = count ? values[0] : (double)NAN;
	ret_summary->max = count ? values[count - 1] : (double)NAN;
	ret_summary->mad = stats_mad_sorted(values, count);
	ret_summary->iqr = stats_iqr_sorted(values, count);
	ret_summary->median = stats_median_sorted(values, count);
	ret_summary->median_interval = interval_of_quantile(values, count, 0.5, 0.95);
	ret_summary->modes = shape_valley_find(values, count);
	ret_summary->spread = spread_of(ret_summary->variation);
	summary_percentiles(ret_summary, values);
	summary_steady(ret_summary, values, warming);
	summary_widen(ret_summary);
	return 0;
}
