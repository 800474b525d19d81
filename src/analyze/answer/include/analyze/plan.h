/* plan.h - what the main job does with its time: which phases, how long each, and why one is left
 * out.
 *
 * Made after the first run of the program, which tells how long one takes, and again before each
 * phase with the time that is really left, so that the budget is kept whatever the phases before
 * took. Pure.  Owns nothing; texts are the caller's or constant. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PLAN_BUSY_SHARE 0.15 /* of the CPUs, to others: not quiet (hypotheses/noise.txt) */

enum plan_kind {
	PLAN_REPEATED,	 /* whole runs, as many as there is time for */
	PLAN_WHOLE,	 /* one run, at its own speed */
	PLAN_PART,	 /* one run with a smaller input, at its own speed */
	PLAN_SIMULATED,	 /* one run, tens of times slower: a part of it tells too */
	PLAN_EXPERIMENT, /* the program is started again while there is time */
	PLAN_QUICK,	 /* no run at all */
};

/* A phase that could be done. */
struct plan_wish {
	const char *phase;
	enum plan_kind kind;
	const char *refused; /* why it cannot, or shall not, be done; NULL: it can */
	const char *fix;     /* the way to get it, or "" */
	bool done;	     /* already: it takes nothing from the others any more */
	uint32_t slower;     /* of PLAN_SIMULATED: than the program alone; 0: 50 times */
	uint64_t run_ns;     /* one run with its own input; 0: as that of the others */
};

struct plan_input {
	uint64_t run_ns;     /* one run of the program; with `endless` what was watched of it */
	bool endless;	     /* it did not end by itself in that time */
	double cpus;	     /* that it used in that run */
	double others_share; /* of the CPUs, to other programs while it was observed; NAN: unknown
			      */
	uint64_t budget_ns;  /* for everything */
	uint64_t spent_ns;   /* of it, so far */
	uint32_t runs_least; /* of PLAN_REPEATED, when there is time; 0: 3 */
};

struct plan_step {
	const char *phase;
	bool skipped;
	const char *reason, *fix; /* of a skipped one; else what it does, or "" */
	uint64_t expected_ns;	  /* what it will take */
	uint64_t limit_ns;	  /* when it is stopped */
	uint64_t share_ns;	  /* the time to ask for, where the command has an option */
	uint32_t runs;
	bool watches;	  /* the program is stopped at the limit, not waited for */
	uint32_t rate_hz; /* of PLAN_WHOLE: samples per second that tell enough */
};

enum { PLAN_STEPS_MAX = 16 };

/* One step for each wish, in the same order; at most PLAN_STEPS_MAX. */
void plan_make(const struct plan_input *input, const struct plan_wish *wishes, uint32_t count,
	struct plan_step *ret_steps);

/* What all steps will take. */
uint64_t plan_expected_ns(const struct plan_step *steps, uint32_t count);

/* How long to wait for the end of the first run: what does not end by then is watched. */
uint64_t plan_trial_limit_ns(uint64_t budget_ns);
