/* cache_levels.c - the table of levels.
 *
 * A level is a list of ways to count it, the best first: the generic name where there is one, then
 * a simulator's.  "a+b" needs both.  Nothing is mixed: accesses and misses of a level come from the
 * same way, because loads alone and loads with stores are two different numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cache.h"
#include "base/str.h"
#include "cache_parts.h"
#include "model/run.h"

enum { WAYS = 3 };

static const struct level {
	const char *name, *field, *rate, *mpki;
	struct {
		const char *accesses, *misses, *note;
		bool simulated;
	} ways[WAYS];
} levels[CACHE_LEVELS] = {
	[CACHE_L1D] = {"L1D", "cache_l1d", "l1d_miss_rate", "l1d_mpki",
		{{"L1-dcache-loads+L1-dcache-stores",
			 "L1-dcache-load-misses+L1-dcache-store-misses", "loads and stores", true},
			{"L1-dcache-loads", "L1-dcache-load-misses", "loads", false}}},
	[CACHE_L1I] = {"L1I", "cache_l1i", "l1i_miss_rate", "l1i_mpki",
		{{"L1-icache-loads", "L1-icache-load-misses", "", false},
			{"instructions", "L1-icache-load-misses", "one fetch per instruction",
				true}}},
	[CACHE_L2] = {"L2", "cache_l2", "l2_miss_rate", "l2_mpki",
		{{"l2d_cache", "l2d_cache_refill", "", false},
			{"L2_RQSTS.REFERENCES", "L2_RQSTS.MISS", "", false},
			{"l2_request_g1.all_dc", "l2_cache_req_stat.ic_dc_miss", "", false}}},
	[CACHE_LLC] = {"LLC", "cache_l3", "llc_miss_rate", "llc_mpki",
		{{"L1-icache-load-misses+L1-dcache-load-misses+L1-dcache-store-misses",
			 "LLC-code-misses+LLC-load-misses+LLC-store-misses",
			 "behind L1 at once: there is no level between", true},
			{"LLC-loads", "LLC-load-misses", "loads", false},
			{"cache-references", "cache-misses", "all requests", false}}},
	[CACHE_DTLB] = {"dTLB", "", "dtlb_miss_rate", "dtlb_mpki",
		{{"dTLB-loads", "dTLB-load-misses", "loads", false}}},
	[CACHE_ITLB] = {"iTLB", "", "itlb_miss_rate", "itlb_mpki",
		{{"iTLB-loads", "iTLB-load-misses", "", false}}},
};

const char *const cache_metrics[] = {"l1d_miss_rate", "l1d_mpki", "l1i_mpki", "l2_miss_rate",
	"l2_mpki", "llc_miss_rate", "llc_mpki", "cache_miss_rate", "cache_mpki", "dtlb_miss_rate",
	"dtlb_mpki", "itlb_miss_rate", "itlb_mpki", "ipc", NULL};

/* The sum of "a+b"; NAN when one is not known, with the reason of that one. */
static double events_sum(
	const struct site_summary *summary, const char *names, const char **ret_reason)
{
	double sum = 0;

	for (const char *at = names; *at;) {
		char name[64];
		size_t len = strcspn(at, "+");
		double value;

		snprintf(name, sizeof(name), "%.*s", (int)len, at);
		value = site_summary_event(summary, name);
		if (isnan(value)) {
			*ret_reason = site_summary_reason(summary, name);
			return (double)NAN;
		}
		sum += value;
		at += len + (at[len] == '+');
	}
	*ret_reason = "";
	return sum;
}

/* "32K 8-way, 64-byte lines" */
static uint64_t size_parse(const char *text)
{
	char *end;
	unsigned long long number = strtoull(text, &end, 10);

	if (end == text || number > UINT32_MAX)
		return 0;
	if (*end == 'K')
		return number << 10;
	return *end == 'M' ? number << 20 : number;
}

static void size_take(const struct run *run, const char *field, struct cache_level_row *row)
{
	row->size = "";
	if (!*field)
		return;
	vec_foreach (const struct field_row, fact, &run->fields)
		if (fact->state == FIELD_VALUE && str_equal(run_text(run, fact->group), "cpu") &&
			str_equal(run_text(run, fact->name), field))
			row->size = run_text(run, fact->value);
	row->size_bytes = size_parse(row->size);
}

/* The first way of which anything is known; else the first that fits the engine. */
static unsigned way_choose(const struct level *level, const struct site_summary *summary)
{
	unsigned fallback = WAYS;

	for (unsigned i = 0; i < WAYS && level->ways[i].misses; i++) {
		const char *ignored;

		if (level->ways[i].simulated != summary->simulated)
			continue;
		if (fallback == WAYS)
			fallback = i;
		if (!isnan(events_sum(summary, level->ways[i].misses, &ignored)) ||
			!isnan(events_sum(summary, level->ways[i].accesses, &ignored)))
			return i;
	}
	return fallback;
}

/* The thresholds of the metrics on the numbers that are shown.  Misses per instruction decide: a
 * high rate of few accesses costs nothing. */
static void judge_take(const struct metric_result *mpki, const struct metric_result *rate,
	struct cache_level_row *row)
{
	const struct metric_result *by = mpki && !isnan(row->mpki) ? mpki : rate;

	if (!by)
		return;
	row->assessment = metric_assess(by->metric, by == mpki ? row->mpki : row->rate);
	row->judge = row->assessment == METRIC_NONE ? NULL : by->metric;
}

/* A PMU that opens an event and never counts it: no miss at all is no measurement. */
static void rate_check(const struct metric_result *result, struct cache_level_row *row)
{
	if (!result || !(row->rate < result->metric->low))
		return;
	row->rate = row->mpki = (double)NAN;
	row->rate_reason = row->mpki_reason =
		"hardly a miss was counted: a counter that does not count";
}

static void level_missing(const struct site_summary *summary, struct cache_level_row *row)
{
	const char *reason = summary->simulated
				     ? "the simulator has no such level"
				     : "this CPU's name for it is not known, so it was not counted";

	row->accesses = row->misses = row->rate = row->mpki = (double)NAN;
	row->accesses_reason = row->misses_reason = row->rate_reason = row->mpki_reason = reason;
}

static void level_make(const struct run *run, const struct level *level,
	const struct site_summary *summary, struct cache_level_row *row)
{
	double instructions = site_summary_event(summary, "instructions");
	unsigned way = way_choose(level, summary);
	const char *reason;

	*row = (struct cache_level_row){.name = level->name, .note = ""};
	size_take(run, level->field, row);
	if (way == WAYS) {
		level_missing(summary, row);
		return;
	}
	row->note = level->ways[way].note;
	row->accesses = events_sum(summary, level->ways[way].accesses, &row->accesses_reason);
	row->misses = events_sum(summary, level->ways[way].misses, &row->misses_reason);
	reason = isnan(row->misses) ? row->misses_reason : row->accesses_reason;
	row->rate = row->accesses > 0 ? row->misses / row->accesses : (double)NAN;
	row->rate_reason = *reason ? reason : "there was no access";
	if (row->rate > 1) { /* inputs that do not belong together */
		row->rate = (double)NAN;
		row->rate_reason =
			"there are more misses than accesses: they count different things";
	}
	row->mpki = instructions > 0 ? row->misses * 1000 / instructions : (double)NAN;
	row->mpki_reason = isnan(row->misses) ? row->misses_reason
					      : site_summary_reason(summary, "instructions");
	if (!summary->simulated)
		rate_check(site_summary_metric(summary, level->rate), row);
	judge_take(site_summary_metric(summary, level->mpki),
		site_summary_metric(summary, level->rate), row);
}

void cache_levels_make(
	const struct run *run, const struct site_summary *summary, struct cache_level_row *ret_rows)
{
	for (unsigned i = 0; i < CACHE_LEVELS; i++)
		level_make(run, &levels[i], summary, &ret_rows[i]);
}
