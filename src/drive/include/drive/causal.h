/* causal.h - run causal experiments on a program: what would it gain if this code were faster?
 *
 * Does: start the program with the runtime preloaded, wait until it makes progress, make pairs of
 * experiments (speed-up 0 and the one asked for, in random order) until the caller has enough, the
 * time is up, the program ends or the user stops it; start a program that ended early again.  A
 * process that runs already is given the handler for the time being, a static program too.
 * Does not: choose what to try (the caller's `next` does), estimate anything.
 * Emits: WIRE_TARGET, WIRE_PROGRESS, WIRE_EXPERIMENT, WIRE_VISIT, and WIRE_EXECUTION for each
 * start. Keeps the promise of Ctrl-C: what was measured until then has been emitted.  Threads: one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/interrupt.h"
#include "source/causal_code.h"

struct place;
struct wire_sink;

/* What to try next.  `target` numbers the caller's targets from 1 on, a new one one higher than the
 * last new one; the texts are read when it is new. */
struct causal_choice {
	uint32_t target;
	uint32_t speedup_permille; /* against 0 */
	struct causal_target what;
	const char *name, *file, *function; /* for people; NULL: none */
	uint32_t line;			    /* 0: not one line */
};

/* One half of a pair as it was measured; borrowed during the call. */
struct causal_half {
	struct causal_result result;
	struct causal_visits visits[CAUSAL_POINTS_MAX];
	uint32_t visit_count;
};

struct causal_pair {
	uint32_t number; /* 1, 2, 3... */
	struct causal_choice choice;
	const struct causal_half *base, *faster;
};

/* The kernel side where this machine and user can, else the fallback; or one of them. */
enum causal_engine_choice { CAUSAL_AUTO, CAUSAL_ONLY_BPF, CAUSAL_ONLY_PRELOAD };

/* Whole runs with and without the speed-up, where the program visits no point: its end is its only
 * progress. */
enum causal_whole {
	CAUSAL_WHOLE_NEVER,
	CAUSAL_WHOLE_THREADS, /* if it has several threads; of one, arithmetic tells more */
	CAUSAL_WHOLE_ALWAYS,
	CAUSAL_WHOLE_ONLY, /* and nothing else is tried */
};

enum causal_own { CAUSAL_OWN_ALL, CAUSAL_OWN_LINES, CAUSAL_OWN_NOTHING };

enum { CAUSAL_SLICES = 20 };
#define CAUSAL_SLICE_NS 75000000ULL

/* How often functions were called, when the program visits no progress point. */
struct causal_counted_point {
	uint32_t function;  /* index of those asked for; UINT32_MAX: a system call */
	const char *output; /* that puts something out; else NULL */
	bool is_hot;	    /* called too often to be counted on */
	uint64_t visits[CAUSAL_SLICES];
};

struct causal_counted {
	struct causal_counted_point points[CAUSAL_PROBED_MAX];
	uint32_t count, slices;
	uint64_t slice_ns;
	uint64_t busy_ns[CAUSAL_SLICES]; /* CPU time of the program in each */
	uint32_t looked, hot; /* functions that were looked at, and those too hot to be counted */
	double rate_most[2];  /* from here on counting costs more than 1 %; of cheap probes */
	uint64_t probe_ns[2]; /* what counting one visit costs; 0: not known */
	bool is_first;	      /* more will be asked about if none of these is it */
};

/* Search a progress point once no point was visited for `patience_ns`: first on the stacks of the
 * program, then among these functions. */
struct causal_search {
	const struct causal_point *functions; /* then the points on stacks */
	uint32_t function_count, count;
	uint64_t patience_ns;
	bool is_asked; /* then also in a process that can have no counters of its own */
	/* Where the program was: put the points on these stacks behind the functions, the outermost
	 * first. */
	void (*take_stacks)(void *context, const struct causal_stack *stacks, uint32_t count);
	/* Which function is it?  UINT32_MAX: none. */
	uint32_t (*choose)(void *context, const struct causal_counted *counted);
};

struct causal_run_options {
	enum causal_engine_choice engine;
	const char *path; /* the program's file; NULL: process `id`, which runs already */
	/* The file of a program that this one starts, to experiment on that; NULL: on itself. */
	const char *follows;
	char *const *argv;
	pid_t id;
	bool stdout_to_stderr;
	uint64_t period_ns; /* between samples; 0: the default */
	uint64_t window_ns; /* of one experiment; 0: from the rate of progress, 200 ms to 2 s */
	uint64_t budget_ns; /* for all of it, starts included; 0: one execution, to its end */
	bool stop_target;   /* end the program when there is enough; else it runs on to its end */
	const struct causal_point *points; /* beside those the program has itself */
	uint32_t point_count;
	const struct causal_search *search; /* NULL: do not */
	enum causal_whole whole_runs;
	bool waits;
	struct interrupt (*interrupted)(void);
	/* Where the program spends its time: after a second of watching it, then after every few
	 * pairs.  May be NULL. */
	int (*take_spots)(
		void *context, const struct causal_spot *spots, uint32_t count, struct err *err);
	/* What of this file is the user's own: functions that begin in *ret_place, and its code in
	 * others.  Time elsewhere counts for the place of his that called it.  May be NULL: all. */
	enum causal_own (*classify_code)(
		void *context, const char *path, const struct place **ret_place);
	/* The next pair: 1 with *ret_choice set, 0: there is enough, or a negative errno.
	 * `pairs_left`: there is time for so many; 0: not known. */
	int (*choose_pair)(void *context, uint32_t pairs_left, struct causal_choice *ret_choice,
		struct err *err);
	/* A pair was measured whole; may be NULL. */
	void (*take_pair)(void *context, const struct causal_pair *pair);
	void *context;
};

/* What the run came to, also when it failed. */
struct causal_summary {
	uint32_t pairs, executions;
	uint32_t cut;	 /* experiments thrown away: the program ended or the user stopped it */
	bool progressed; /* some point was visited */
	enum causal_seal sealed; /* the program was left alone, because... */
	uint64_t no_stack;	 /* delays not asked for: the stack had no room for a signal */
	uint32_t stray;	  /* the signal that a handler of the program may have got; 0: none */
	int harmed_by;	  /* the signal that ended the program, very likely through us; 0: none */
	bool distorted;	  /* counting the progress point changes the program: no answer */
	bool preload;	  /* the fallback was used... */
	struct err why;	  /* ...because of this, if it was not asked for */
	uint64_t stop_ns; /* a thread was stopped for so long to put the handler in; 0: none was */
};

/* Run.  0 when it came to its end, 1 when the user stopped it, or a negative errno; what was
 * emitted before stays valid in each case. */
int causal_run(const struct causal_run_options *options, const struct wire_sink *sink,
	struct causal_summary *ret_summary, struct err *err);
