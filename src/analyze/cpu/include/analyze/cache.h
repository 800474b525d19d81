/* cache.h - how far the data has to come from: the levels of the memory hierarchy, and the places.
 *
 * Levels: accesses, misses, rate and misses per 1,000 instructions of each cache and TLB, from what
 * was counted; a level that was not counted says why.  Sites, from the first witness that the run
 * has: sampled accesses (the level that answered and the latency of each), samples of an event of
 * misses, places of a simulator.
 * Sampled accesses are a choice: an event with a least latency (ldlat) shows the slow ones only, so
 * their shares are never rates of the program.
 * Pure.  Owns: its rows; texts are the run's or in the caller's arena. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/site_place.h"
#include "analyze/site_summary.h"
#include "base/arena.h"
#include "base/vec.h"

struct run;

enum cache_level {
	CACHE_L1D,
	CACHE_L1I,
	CACHE_L2,
	CACHE_LLC,
	CACHE_DTLB,
	CACHE_ITLB,
	CACHE_LEVELS
};

struct cache_level_row {
	const char *name;    /* "L1D" */
	const char *size;    /* "32K 8-way, 64-byte lines"; "": not known, or a TLB */
	uint64_t size_bytes; /* 0: not known */
	double accesses, misses, rate, mpki; /* NAN: see its reason */
	const char *accesses_reason, *misses_reason, *rate_reason, *mpki_reason;
	double load_mpki; /* loads that missed: what was judged in place of mpki; NAN: see its
			     reason */
	const char *load_reason;
	const struct metric *judge; /* whose threshold decided; NULL: none did */
	enum metric_assessment assessment;
	const char *note; /* what must be known about these numbers, or "" */
};

/* Which level answered an access: perf_mem_data_src. */
enum access_level {
	ACCESS_UNKNOWN,
	ACCESS_L1,
	ACCESS_LFB, /* on its way already: a line fill buffer */
	ACCESS_L2,
	ACCESS_L3,
	ACCESS_REMOTE_CACHE,
	ACCESS_RAM,
	ACCESS_REMOTE_RAM,
	ACCESS_OTHER, /* device memory, persistent memory... */
	ACCESS_LEVELS,
};

/* "L1", "LFB", "L2"... */
const char *access_level_name(enum access_level level);
enum access_level access_level_of(uint64_t data_source);
bool access_missed_tlb(uint64_t data_source); /* needed a page walk */
bool access_is_store(uint64_t data_source);
bool access_is_shared(uint64_t data_source); /* another core had changed the line (HITM) */

enum cache_witness { CACHE_ACCESSES, CACHE_SAMPLED, CACHE_SIMULATED, CACHE_UNSEEN };

struct cache_tally {
	uint64_t samples; /* ACCESSES, SAMPLED */
	uint64_t levels[ACCESS_LEVELS];
	uint64_t latency, timed; /* sum of cycles, and of how many accesses */
	uint64_t tlb_misses, stores, shared;
	uint64_t accesses, l1_misses, ll_misses, code_misses; /* SIMULATED */
	uint64_t misses;				      /* SAMPLED: by period */
};

struct cache_site {
	struct site_place place;
	struct cache_tally tally;
	double share;	     /* of the latency, the misses, or the last-level misses of all */
	double latency_mean; /* cycles; NAN: not told */
};

struct cache_view {
	enum cache_witness witness;
	const char *event; /* what was sampled, "" */
	bool precise;
	struct cache_level_row levels[CACHE_LEVELS];
	struct cache_tally all;
	double latency_mean;
	vec_of(struct cache_site) sites; /* the largest share first */
	uint32_t site_count_all;
	const char *share_of; /* what the shares are of: "the latency of all sampled accesses" */
	const char *sites_reason;
};

struct cache_options {
	bool by_function; /* one site per function, not per line */
	bool whole;	  /* the levels of the whole program only: no sites are asked for */
	uint32_t limit;	  /* sites at most, 0: all */
};

/* Which metrics the page stands on; ends with NULL. */
extern const char *const cache_metrics[];

/* The sets of a CPU's own table that fill in what generic events do not tell; ends with NULL. */
extern const char *const cache_sets[];

/* `summary` is of the same run. */
void cache_make(const struct run *run, const struct site_summary *summary,
	const struct cache_options *options, struct cache_view *ret_view);
void cache_done(struct cache_view *view);
#define cache_auto __attribute__((cleanup(cache_done)))

/* Does memory explain the time?  Fills the verdict of `summary`, without the advice. */
void cache_judge(const struct cache_view *view, struct arena *arena, struct site_summary *summary);
