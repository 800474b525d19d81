/* evidence.h - the runs of one main job, side by side.
 *
 * Each phase of `assay run` leaves one run file; what one of them could not give has a reason and,
 * where there is one, a way out.  A new source of evidence is one more kind here and one row in
 * the table of phases.  Plain data: borrows everything but the view of the experiments. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct algorithm_view;
struct causal_view;
struct hot_code;
struct growth_view;
struct run;

enum evidence_kind {
	EVIDENCE_BASELINE, /* bench: repeated executions, nothing else running beside them */
	EVIDENCE_OBSERVED, /* stat: software events and what /proc told while it ran */
	EVIDENCE_PROFILE,  /* record: clock samples with stacks */
	EVIDENCE_COUNTERS, /* hardware counters, or simulated ones with their lines */
	EVIDENCE_CAUSAL,   /* experiments */
	EVIDENCE_EVENTS,   /* what the program said of itself: spans and claims */
	EVIDENCE_CALLS,	   /* simulated: calls from each line, trips of each loop */
	EVIDENCE_SMALLER,  /* as the profile, with a smaller input */
	EVIDENCE_SMALLEST, /* and with one that is smaller still */
	EVIDENCE_KINDS,
};

struct evidence_piece {
	const struct run *run; /* NULL: not measured */
	const char *path;      /* its file in the directory: "profile.assay" */
	const char *reason;    /* why it was not measured; "" with a run */
	const char *fix;       /* the way to get it, or "" */
};

/* A hot function that no experiment could be made on. */
struct evidence_untried {
	const char *function, *reason;
};
enum { EVIDENCE_UNTRIED = 8 };

struct evidence {
	struct evidence_piece piece[EVIDENCE_KINDS];
	/* Of its input against the whole: 0 it was the whole, below 0 how much is not known. */
	double sizes[EVIDENCE_KINDS];
	const char *target;    /* as it can be typed; NULL: not known */
	const char *directory; /* of the files; NULL: not known */
	const char *against;   /* the directory that it is compared with, or NULL */
	const char *input;     /* the file that was stdin of each run, or NULL */
	bool no_experiments;   /* they were tried, and could not be made: not worth trying again */
	struct evidence_untried untried[EVIDENCE_UNTRIED]; /* of the experiments that were made */
	uint32_t untried_count;
	const char *follows; /* the program that experiments were made on, started by `target` */
	const struct causal_view *causal; /* by evidence_view_causal(); NULL: see its reason */
	const char *causal_reason;
	const struct hot_code *code; /* of the profile's locations; NULL: nobody looked */
	const struct algorithm_view *algorithm; /* by evidence_view_algorithm(); NULL: none */
	const struct growth_view *growth;	/* the same */
};

/* What the experiments say, looked at once for all who ask: signals, hotspots.  Call it when the
 * pieces are there; the view is in `arena`. */
void evidence_view_causal(struct evidence *evidence, struct arena *arena);

/* The same for calls and loops, and for how the time grows. */
void evidence_view_algorithm(struct evidence *evidence, struct arena *arena);

/* "baseline", "observed", "profile", "counters", "causal", "events", "calls", "smaller",
 * "smallest". */
const char *evidence_kind_word(enum evidence_kind kind);
