/* rounds.h - the rounds of making a program faster: one line of JSON per main job.
 *
 * A chain begins with a run that stands alone (round 0); each run against another is the next
 * round. Ratios are time after over time before; the compounded one is their product, never their
 * sum. A line that cannot be understood is counted and skipped (as in history.h). Does not: compute
 * (analyze/round.h).  Owns: rounds own their rows and texts. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"

#define ROUNDS_FILE "history.ndjson"

struct round_row {
	uint64_t time_ns; /* CLOCK_REALTIME */
	const char *run_id, *target, *fingerprint;
	const char *against; /* run id of the one before; "": round 0 */
	const char *verdict; /* improved, regressed, equivalent, inconclusive; "" in round 0 */
	const char *first;   /* what to change first now, or "" */
	uint32_t round;
	/* Medians; ratio of them, with its interval; product of all ratios.  NAN: not known. */
	double before_ns, after_ns, ratio, ratio_lo, ratio_hi, compounded;
	double promised, promised_lo, promised_hi; /* ratio that the round before predicted */
	double score;				   /* of what is first now */
};

struct rounds {
	struct arena texts;
	vec_of(struct round_row) rows; /* as in the file, oldest first */
	uint32_t skipped;	       /* lines that are none */
};

void rounds_read(struct rounds *rounds, const char *text, size_t len);

/* Add those of a file.  A file that is not there has none. */
int rounds_load(struct rounds *rounds, const char *path, struct err *err);
void rounds_done(struct rounds *rounds);
#define rounds_auto __attribute__((cleanup(rounds_done)))

/* The row as one line, with its newline. */
void round_line(const struct round_row *row, struct str *out);
int round_append(const char *path, const struct round_row *row, struct err *err);
