/* cache_levels.c - the table of levels.
 *
 * A level is a list of ways to count it, the best first: what the CPU's own table counts where it
 * says more than the generic name (walks, where the generic event counts misses of a first-level
 * TLB), then the generic name, then a simulator's.  "a+b" needs both.  Nothing is mixed: accesses
 * and misses of a level come from the same way, because loads alone and loads with stores are two
 * different numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cache.h"
#include "base/str.h"
#include "cache_parts.h"
#include "model/run.h"

enum { WAYS = 5 };

enum way_kind {
	WAY_GENERIC, /* the kernel's name, on any CPU */
	WAY_OWN,     /* names of a table in data/cpus: only where somebody asked for them */
	WAY_SIMULATED,
};

struct way {
	enum way_kind kind;
	const char *accesses; /* "": cannot be counted this way */
	const char *misses;
	const char *note;
	const char *judge; /* an own metric whose value is judged, not the row's; NULL: the row's */
	const char *unless; /* not where one of these was asked for */
};

/* The kernel's cache-misses are those of L2 on AMD and of L1D on Arm. */
#define NOT_THE_LAST "l2_cache_req_stat.ic_dc_miss_in_l2+l2d_cache"

#define REQUESTS "includes prefetches; judged by the loads"
#define WALKS "page walks of loads and stores"

static const struct level {
	const char *name, *field, *rate, *mpki;
	struct way ways[WAYS];
} levels[CACHE_LEVELS] = {
	[CACHE_L1D] = {"L1D", "cache_l1d", "l1d_miss_rate", "l1d_mpki",
		{{WAY_SIMULATED, "L1-dcache-loads+L1-dcache-stores",
			 "L1-dcache-load-misses+L1-dcache-store-misses", "loads and stores", NULL,
			 NULL},
			{WAY_GENERIC, "L1-dcache-loads", "L1-dcache-load-misses", "loads", NULL,
				NULL}}},
	[CACHE_L1I] = {"L1I", "cache_l1i", "l1i_miss_rate", "l1i_mpki",
		{{WAY_GENERIC, "L1-icache-loads", "L1-icache-load-misses", "", NULL, NULL},
			{WAY_SIMULATED, "instructions", "L1-icache-load-misses",
				"one fetch per instruction", NULL, NULL}}},
	[CACHE_L2] = {"L2", "cache_l2", "l2_miss_rate", "l2_mpki",
		{{WAY_OWN, "L2_RQSTS.REFERENCES", "L2_RQSTS.MISS", REQUESTS, "l2_load_miss_mpki",
			 NULL},
			{WAY_OWN, "l2d_cache", "l2d_cache_refill", REQUESTS, "l2_load_miss_mpki",
				NULL},
			{WAY_OWN, "l2_request_g1.all_dc", "l2_cache_req_stat.ls_rd_blk_c",
				"requests of L1D", "l2_load_miss_mpki", NULL},
			{WAY_OWN, "", "L2_LINES_IN.ALL", REQUESTS, "l2_load_miss_mpki", NULL},
			{WAY_OWN, "", "l2_cache_req_stat.ic_dc_miss_in_l2", "code and data", NULL,
				NULL}}},
	[CACHE_LLC] = {"LLC", "cache_l3", "llc_miss_rate", "llc_mpki",
		{{WAY_SIMULATED,
			 "L1-icache-load-misses+L1-dcache-load-misses+L1-dcache-store-misses",
			 "LLC-code-misses+LLC-load-misses+LLC-store-misses",
			 "right behind L1: there is no level between", NULL, NULL},
			{WAY_GENERIC, "LLC-loads", "LLC-load-misses", "loads", NULL, NULL},
			{WAY_GENERIC, "cache-references", "cache-misses", "all requests", NULL,
				NOT_THE_LAST}}},
	[CACHE_DTLB] = {"dTLB", "", "dtlb_miss_rate", "dtlb_mpki",
		{{WAY_OWN, "MEM_INST_RETIRED.ALL_LOADS+MEM_INST_RETIRED.ALL_STORES",
			 "DTLB_LOAD_MISSES.WALK_COMPLETED+DTLB_STORE_MISSES.WALK_COMPLETED", WALKS,
			 NULL, NULL},
			{WAY_OWN, "mem_access", "dtlb_walk", WALKS, NULL, NULL},
			{WAY_OWN, "ls_dispatch.all", "ls_l1_d_tlb_miss.all_l2_miss", WALKS, NULL,
				NULL},
			{WAY_GENERIC, "dTLB-loads", "dTLB-load-misses", "loads", NULL, NULL}}},
	[CACHE_ITLB] = {"iTLB", "", "itlb_miss_rate", "itlb_mpki",
		{{WAY_OWN, "", "ITLB_MISSES.WALK_COMPLETED", "page walks", NULL, NULL},
			{WAY_OWN, "", "itlb_walk", "page walks", NULL, NULL},
			{WAY_OWN, "", "bp_l1_tlb_miss_l2_tlb_miss.all", "page walks", NULL, NULL},
			{WAY_GENERIC, "iTLB-loads", "iTLB-load-misses", "", NULL, NULL}}},
};

const char *const cache_metrics[] = {"l1d_miss_rate", "l1d_mpki", "l1i_mpki", "l2_miss_rate",
	"l2_mpki", "l2_load_miss_mpki", "llc_miss_rate", "llc_mpki", "cache_miss_rate",
	"cache_mpki", "dtlb_miss_rate", "dtlb_mpki", "itlb_miss_rate", "itlb_mpki",
	"memory_latency_share", "memory_bandwidth_share", "ipc", NULL};

const char *const cache_sets[] = {"l2_tlb", "l1", "memory_wait", NULL};

/* The next name of "a+b"; false at the end. */
static bool names_next(const char **at, char *name, size_t capacity)
{
	size_t len = strcspn(*at, "+");

	if (!len)
		return false;
	snprintf(name, capacity, "%.*s", (int)len, *at);
	*at += len + ((*at)[len] == '+');
	return true;
}

/* The sum of "a+b"; NAN when one is not known, with the reason of that one. */
static double events_sum(
	const struct site_summary *summary, const char *names, const char **ret_reason)
{
	double sum = 0;
	char name[80];

	*ret_reason = "";
	while (names_next(&names, name, sizeof(name))) {
		double value = site_summary_event(summary, name);

		if (isnan(value)) {
			*ret_reason = site_summary_reason(summary, name);
			return (double)NAN;
		}
		sum += value;
	}
	return sum;
}

static bool events_asked(const struct site_summary *summary, const char *names)
{
	char name[80];

	while (names && names_next(&names, name, sizeof(name)))
		if (site_summary_asked(summary, name))
			return true;
	return false;
}

/* The instructions that were counted together with the misses, else any. */
static double instructions_beside(const struct site_summary *summary, const char *misses)
{
	static const char *const names[] = {
		"instructions", "INST_RETIRED.ANY", "inst_retired", "ex_ret_instr"};
	char first[80] = "";
	double value = (double)NAN;

	names_next(&misses, first, sizeof(first));
	for (unsigned i = 0; i < 4 && isnan(value); i++)
		value = site_summary_event_beside(summary, names[i], first);
	for (unsigned i = 0; i < 4 && isnan(value); i++)
		value = site_summary_event(summary, names[i]);
	return value;
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

static bool way_fits(const struct way *way, const struct site_summary *summary)
{
	if ((way->kind == WAY_SIMULATED) != summary->simulated)
		return false;
	if (way->kind == WAY_OWN && !events_asked(summary, way->misses))
		return false;
	return !events_asked(summary, way->unless);
}

/* The first way whose misses are known, else whose accesses are; else the first that fits, which
 * has the reason. */
static const struct way *way_choose(const struct level *level, const struct site_summary *summary)
{
	const struct way *some = NULL, *first = NULL;

	for (unsigned i = 0; i < WAYS && level->ways[i].misses; i++) {
		const struct way *way = &level->ways[i];
		const char *ignored;

		if (!way_fits(way, summary))
			continue;
		if (!isnan(events_sum(summary, way->misses, &ignored)))
			return way;
		first = first ? first : way;
		if (!some && *way->accesses && !isnan(events_sum(summary, way->accesses, &ignored)))
			some = way;
	}
	return some ? some : first;
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

/* Requests with prefetches among them have no threshold; the loads that waited have. */
static void judge_own(const struct metric_result *own, struct cache_level_row *row)
{
	if (!own || !own->known) {
		row->load_reason = own ? own->reason : "its events were not counted in this run";
		return;
	}
	row->load_mpki = own->value;
	row->assessment = metric_assess(own->metric, own->value);
	row->judge = row->assessment == METRIC_NONE ? NULL : own->metric;
}

/* A PMU that opens an event and never counts it: no miss at all is no measurement. */
static void rate_check(const struct metric_result *result, struct cache_level_row *row)
{
	if (!result || !(row->rate < result->metric->low))
		return;
	row->rate = row->mpki = (double)NAN;
	row->rate_reason = row->mpki_reason =
		"almost no misses were counted: the counter probably does not work";
}

static void level_missing(const struct site_summary *summary, struct cache_level_row *row)
{
	const char *reason = summary->simulated
				     ? "the simulator has no such level"
				     : "its event on this CPU is not known, so it was not counted";

	row->accesses = row->misses = row->rate = row->mpki = (double)NAN;
	row->accesses_reason = row->misses_reason = row->rate_reason = row->mpki_reason = reason;
	row->load_reason = reason;
}

static void row_count(
	const struct way *way, const struct site_summary *summary, struct cache_level_row *row)
{
	double instructions = instructions_beside(summary, way->misses);
	const char *reason;

	row->note = way->note;
	row->misses = events_sum(summary, way->misses, &row->misses_reason);
	row->accesses = events_sum(summary, way->accesses, &row->accesses_reason);
	if (!*way->accesses) {
		row->accesses = (double)NAN;
		row->accesses_reason = "accesses are not counted";
	}
	reason = isnan(row->misses) ? row->misses_reason : row->accesses_reason;
	row->rate = row->accesses > 0 ? row->misses / row->accesses : (double)NAN;
	row->rate_reason = *reason ? reason : "there was no access";
	if (row->rate > 1) { /* inputs that do not belong together */
		row->rate = (double)NAN;
		row->rate_reason = "more misses than accesses: they count different things";
	}
	row->mpki = instructions > 0 ? row->misses * 1000 / instructions : (double)NAN;
	row->mpki_reason = isnan(row->misses) ? row->misses_reason
					      : site_summary_reason(summary, "instructions");
}

static void level_make(const struct run *run, const struct level *level,
	const struct site_summary *summary, struct cache_level_row *row)
{
	const struct way *way = way_choose(level, summary);

	*row = (struct cache_level_row){
		.name = level->name,
		.note = "",
		.load_mpki = (double)NAN,
		.load_reason = "this row is judged by its mpki",
	};
	size_take(run, level->field, row);
	if (!way) {
		level_missing(summary, row);
		return;
	}
	row_count(way, summary, row);
	if (!summary->simulated)
		rate_check(site_summary_metric(summary, level->rate), row);
	if (way->judge)
		judge_own(site_summary_metric(summary, way->judge), row);
	else
		judge_take(site_summary_metric(summary, level->mpki),
			site_summary_metric(summary, level->rate), row);
}

void cache_levels_make(
	const struct run *run, const struct site_summary *summary, struct cache_level_row *ret_rows)
{
	for (unsigned i = 0; i < CACHE_LEVELS; i++)
		level_make(run, &levels[i], summary, &ret_rows[i]);
}
