/* scale.h - how the time of a command grows with its size, or its throughput with threads.
 *
 * Does: take the runs of one command per size, choose a law, and say how sure that is: the runs are
 * drawn again 400 times, and the share of the draws in which a law wins is its support.  Says so
 * when no law stands out, and why.  Does not: measure, print.
 * Pure.  Owns: everything is in the caller's arena; texts and runs are the bench view's. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/bench.h"
#include "analyze/law.h"
#include "base/interval.h"

enum { SCALE_SIZES_MAX = 1000, SCALE_CURVE_POINTS = 97 };
#define SCALE_SIZE_LARGEST 9007199254740992 /* 2^53: whole numbers that a double can hold */

/* Sizes in ascending order, each once. */
struct scale_sizes {
	uint64_t *at;
	uint32_t count;
	uint32_t repeated; /* that stood there more than once */
};

/* "1k,10k", "1..64x2" (geometric, x2 may be left out), "10..50+10", in any mixture; k, M and G are
 * thousands.  -EINVAL with a sentence for what is none of these. */
int scale_sizes_parse(
	const char *text, struct arena *arena, struct scale_sizes *ret_sizes, struct err *err);

/* "O(n log n)", "n log n", "n^2" ...; -EINVAL with the names that there are. */
int scale_law_parse(const char *text, enum law *ret_law, struct err *err);

enum scale_metric { SCALE_WALL, SCALE_CPU };

struct scale_options {
	bool threads;		  /* the sizes are thread counts */
	uint32_t cpus;		  /* that the command may use; for threads */
	enum scale_metric metric; /* of sizes; threads are judged by wall time */
	bool has_expected;
	enum law expected; /* worse than this is a failure */
};

struct scale_point {
	uint64_t size;
	const struct bench_command *command;
	const struct summary *time; /* of the metric, ns */
	double rate;		    /* runs per second */
	double times, times_p95;    /* against the first size; NAN where not known */
	double per_unit_ns;
	double predicted_ns, off_share; /* by the law; NAN without one */
	double parallelism;		/* CPU over wall time */
	double pressure_share;		/* of the time some task waited for a CPU; NAN: not told */
	double speedup, efficiency;	/* of threads, against the first count */
	bool fitted; /* false: without runs, or more threads than CPUs for them */
};

/* Why there is no clear answer. */
enum scale_doubt {
	SCALE_SURE,
	SCALE_FEW_RUNS,	  /* below 5 at some size */
	SCALE_FEW_SIZES,  /* below 4 (threads: 2) */
	SCALE_NEAR_SIZES, /* the largest is less than 8 times the smallest */
	SCALE_MIXED,	  /* the laws take turns in the draws */
	SCALE_HIDDEN,	  /* no growth was seen, but noise could hide some */
	SCALE_BUSY,	  /* threads: others used the CPUs */
	SCALE_SLOWER,	  /* threads: they ran all the time, each slower than one alone */
};

struct scale_law {
	bool fitted; /* false: too little to fit anything; see `doubt` */
	struct law_fit fit;
	double support[LAW_COUNT]; /* share of the draws; NAN without draws */
	bool candidate[LAW_COUNT]; /* not ruled out: support of 5 % or more */
	enum law best, runner_up;
	double evidence; /* how many times more likely the best is than the next; may be INFINITY */
	bool beyond;	 /* grows faster than n^2: no law here */
	struct interval slope,
		tail; /* of ln t over ln n: all sizes; the last two, less the start */
	double tail_slope;
	struct interval growth;	  /* times from the first to the last size */
	double doubling, tenfold; /* times, from the largest size on, by the law */
	double tenfold_ns;	  /* extrapolated */
	uint32_t worst;		  /* the point farthest from the law */
	bool misfit;		  /* it is farther than noise explains */
	uint64_t suggested[2];	  /* sizes that would tell more, 0: none */
	uint32_t suggested_runs;  /* 0: more runs are not the way */
};

enum scale_threads_kind {
	SCALE_THREADS_UNCLEAR,
	SCALE_THREADS_LINEAR,
	SCALE_THREADS_CONTENTION, /* flattens: work queues up */
	SCALE_THREADS_COHERENCY,  /* goes backwards: agreement costs more than a thread gives */
};

struct scale_threads {
	enum scale_threads_kind kind;
	bool fitted; /* sigma is known; kappa and peak too when `fit_count` is 3 or more */
	struct law_threads fit;
	struct interval contention, coherency, peak;
	double peak_rate;	    /* by the law, at `peak`; NAN when it goes on growing */
	struct interval speedup;    /* of the last fitted point against the first */
	double cpu_times;	    /* the same of the CPU time */
	uint32_t first, last, best; /* points */
	uint32_t fit_count, cpus;
	bool one_cpu; /* the CPU time never passed one CPU */
};

/* What is drawn: the law (or throughput of threads) and the runner-up, evenly spaced in ln x. */
struct scale_curve {
	uint32_t count;
	double x[SCALE_CURVE_POINTS], best[SCALE_CURVE_POINTS], other[SCALE_CURVE_POINTS];
};

enum scale_expectation { SCALE_NOT_ASKED, SCALE_MET, SCALE_WORSE, SCALE_UNDECIDED };

struct scale_view {
	const struct bench_view *bench;
	struct scale_options options;
	const char *title; /* the command with its {n} */
	struct scale_point *points;
	uint32_t point_count;
	uint32_t rounds; /* that every fitted size has */
	uint32_t draws;
	enum scale_doubt doubt;
	struct scale_law law;
	struct scale_threads threads;
	struct scale_curve curve;
	enum scale_expectation expectation;
	bool p95_known; /* at every size that was run */
	/* Wall time gave no clear law, but CPU time, which the machine disturbs less, does. */
	bool cpu_is_clear;
	struct scale_law cpu;
};

/* One command of `bench` per size. */
int scale_view_make(const struct bench_view *bench, const struct scale_sizes *sizes,
	const struct scale_options *options, struct arena *arena, struct scale_view *ret_view,
	struct err *err);

/* "O(n)", or "worse than O(n^2)". */
const char *scale_law_name(const struct scale_law *law);
const char *scale_threads_name(enum scale_threads_kind kind);
const char *scale_doubt_name(enum scale_doubt doubt);
