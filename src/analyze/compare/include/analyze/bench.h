/* bench.h - what the executions of several commands say: each summed up, neighbours compared.
 *
 * Pure.  Warm-ups are not used, nor is a run that was interrupted, timed out or, unless failures
 * are ignored, failed.  The i-th runs of two commands are neighbours in time and make a pair.
 * Owns: everything is in the caller's arena; texts and rows are the run's. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/compare.h"
#include "analyze/summary.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/shape.h"

struct run;

/* What went with a run that is far from the others, the strongest evidence first. */
enum bench_cause {
	BENCH_CAUSE_NONE = 0,
	BENCH_CAUSE_WARMUP,   /* among the first runs, before the times settled */
	BENCH_CAUSE_DISK,     /* pages were read from disk */
	BENCH_CAUSE_STEAL,    /* the host took the CPU */
	BENCH_CAUSE_CPU,      /* the program itself used more CPU time */
	BENCH_CAUSE_PUSHED,   /* pushed off the CPU more often */
	BENCH_CAUSE_PRESSURE, /* tasks of the machine waited for a CPU */
	BENCH_CAUSE_WAITED,   /* it waited more often */
	BENCH_CAUSE_FASTER,   /* it is far off to the good side */
	BENCH_CAUSE_UNKNOWN,
	BENCH_CAUSES,
};

/* In words: "pages came from disk". */
const char *bench_cause_text(enum bench_cause cause);

/* What the machine did to a run, whatever time it took. */
enum bench_noise {
	BENCH_NOISE_PUSHED = 1,	   /* involuntary switches: above 2 and one per 10 ms */
	BENCH_NOISE_STEAL = 2,	   /* the host took 1 % of its time or more */
	BENCH_NOISE_PRESSURE = 4,  /* tasks queued for the CPUs during 10 % of it or more */
	BENCH_NOISE_THROTTLED = 8, /* the CPU quota of its control group was used up */
	BENCH_NOISE_KINDS = 16,
};
const char *bench_noise_text(enum bench_noise noise);

/* What the view knows of a run beside its row: small, because there may be 100,000 of them. */
struct bench_mark {
	uint32_t position; /* among all runs of all commands, from 1: the id of its row */
	uint8_t noise;	   /* a sum of enum bench_noise; 0: nothing disturbed it */
	uint8_t cause;	   /* enum bench_cause */
	uint8_t far;	   /* enum outlier_class */
	bool used;
};

/* One run, as bench_run_at() hands it out. */
struct bench_run {
	uint32_t number;   /* of this command, from 1; warm-ups count apart */
	uint32_t position; /* as in its mark */
	uint64_t start_ns, wall_ns, user_ns, system_ns, max_rss_bytes;
	uint64_t steal_ns, pressure_ns, queue_ns;
	uint32_t minor_faults, major_faults, voluntary_switches, involuntary_switches;
	int16_t exit_status, signal;
	uint8_t noise;
	bool has_steal : 1, has_pressure : 1, has_queue : 1, throttled : 1;
	bool parallel : 1; /* not only its first thread used CPU time */
	/* Imported runs lack these; usage: faults, switches; exit: exit_status. */
	bool has_cpu : 1, has_rss : 1, has_usage : 1, has_exit : 1;
	bool failed : 1; /* the file it was imported from says so, and not how */
	bool warmup : 1, interrupted : 1, leftovers : 1, timed_out : 1, wrong_output : 1;
	bool used : 1;
	enum outlier_class far;
	enum bench_cause cause;
};

/* What stands for {NAME} in a command. */
struct bench_parameter {
	const char *name, *value;
};

struct bench_command {
	const char *name;  /* its command line */
	char *const *argv; /* its words */
	struct bench_parameter *parameters;
	uint32_t parameter_count;
	const struct run *run;	  /* it and its rows outlive the view */
	struct bench_mark *marks; /* of its runs: the warm-ups, then the others, as measured */
	uint32_t run_count, used_count, warmup_count;
	const struct bench_run *failed; /* the first, NULL: none */
	uint32_t failed_count, leftover_count, timed_out_count;
	uint64_t rss_floor_bytes;
	struct summary wall, cpu, rss; /* of the runs used, ns and bytes */
	double user_ns, system_ns;     /* medians */
	uint32_t causes[BENCH_CAUSES]; /* of the runs that are far off */
	uint32_t dirty_count;	       /* of the runs used, those with noise */
	uint32_t noise[4];	       /* how many of each kind, in the order of the bits */
	struct summary clean_wall;     /* of the others */
	/* Wall time less the time in which the runs waited for a CPU, and that time as a share of
	 * the wall time; NAN where `uncorrected` says why it is not known. */
	struct summary corrected;
	double queue_share;
	const char *uncorrected; /* NULL: it is known */
	/* Runs at the start that differ from the rest: few are a warm-up, many a machine that
	 * drifted (see wall.warm_after). */
	bool warms_up;
};

/* How much is done in a second: with the interval of the median time. */
struct bench_rate {
	double median, lo, hi;
};
struct bench_rate bench_rate_of(const struct bench_command *command, uint64_t per_run);

/* One command against the fastest: more than 1 is slower. */
struct bench_ratio {
	uint32_t command;	/* index */
	struct comparison wall; /* by bench_view.time */
};

/* One number of a run. */
enum bench_measure {
	BENCH_WALL_NS,
	BENCH_CPU_NS, /* user + system */
	BENCH_USER_NS,
	BENCH_SYSTEM_NS,
	BENCH_RSS_BYTES,
	BENCH_FAULTS,
	BENCH_MAJOR_FAULTS,
	BENCH_PUSHES, /* involuntary switches */
	BENCH_WAITS,  /* voluntary ones */
	BENCH_STEAL_NS,
	BENCH_PRESSURE_NS,
	BENCH_CORRECTED_NS, /* wall time less the time it waited for a CPU, where that is known */
};

struct bench_view {
	struct bench_command *commands;
	uint32_t command_count;
	enum bench_measure time; /* by which they are compared: bench_time_measure() */
	const char *uncorrected; /* why not by the other though they may have waited; NULL: no */
	uint32_t fastest;	 /* index */
	struct bench_ratio *ratios;
	uint32_t ratio_count;
	bool ignore_failure;
	bool blocked;		 /* one command after the other, not in turns: runs make no pairs */
	const char *cache_state; /* "cold" or what else was asked for; NULL: nothing was */
	const char *output_sha256;  /* of stdout of every run; NULL: not compared */
	const char *failure_stderr; /* the end of it, of the run that ended it all; NULL: none */
	uint64_t ops_per_run, bytes_per_run; /* 0: not told */
};

/* Whether the run says that its commands were not measured in turns (imports). */
bool bench_run_is_blocked(const struct run *run);

int bench_view_make(const struct run *run, bool ignore_failure, struct arena *arena,
	struct bench_view *ret_view, struct err *err);

/* Run `index` of a command. */
struct bench_run bench_run_at(const struct bench_command *command, uint32_t index);

/* Of two commands, as indices of their runs. */
struct bench_pair {
	uint32_t a, b;
};

/* Pairs of two commands: the i-th measured run of each, where both are used. */
uint32_t bench_pairs_find(const struct bench_command *a, const struct bench_command *b,
	struct arena *arena, struct bench_pair **ret_pairs);

double bench_run_measure(const struct bench_run *run, enum bench_measure measure);
double bench_measure_at(
	const struct bench_command *command, uint32_t index, enum bench_measure measure);

/* Of the runs used, in their order, into an array with room for run_count; how many.  And their
 * median, NAN without one. */
uint32_t bench_values(
	const struct bench_command *command, enum bench_measure measure, double *ret_values);
double bench_median(const struct bench_command *command, enum bench_measure measure);

/* BENCH_STEAL_NS or BENCH_PRESSURE_NS as a share of the wall time of the runs that tell it. */
double bench_wall_share(const struct bench_command *command, enum bench_measure measure);

/* Why the corrected wall time of a run is not known; NULL: it is. */
const char *bench_run_uncorrected(const struct bench_run *run);

/* By which time commands are to be compared: BENCH_CORRECTED_NS where all have it and other
 * programs took more than a hundredth of the time of one of them, else BENCH_WALL_NS. */
enum bench_measure bench_time_measure(const struct bench_command *const *commands, uint32_t count);
enum bench_measure bench_time_of_two(const struct bench_command *a, const struct bench_command *b);

/* Why the first that has none has no corrected wall time; NULL: all have it. */
const char *bench_first_uncorrected(const struct bench_command *const *commands, uint32_t count);

/* Whether one may have waited for a CPU long enough to say that this was not taken out. */
bool bench_may_have_waited(const struct bench_command *const *commands, uint32_t count);

/* "wall" or "corrected wall". */
const char *bench_time_name(enum bench_measure measure);
