/* manifest.h - MANIFEST.json: what one main job did, and every file that it left.
 *
 * Does: write and read the manifest of an evidence directory (docs/commands/run.md has its layout).
 * It is written first, with the state "running" and the process that writes, again after each
 * phase, and at last with every file, its size and its SHA-256.  So a directory whose maker was
 * killed says so itself.  Does not: look at the files (directory.h). Owns: a manifest owns its
 * rows; texts are in its arena or the caller's, and live as long. */
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/sha256.h"
#include "base/str.h"
#include "base/vec.h"

#define MANIFEST_NAME "MANIFEST.json"

enum manifest_state {
	MANIFEST_RUNNING,
	MANIFEST_PARTIAL, /* it ended, and not everything that was planned was done */
	MANIFEST_COMPLETE,
	MANIFEST_STATES,
};

/* "running", "partial", "complete". */
const char *manifest_state_word(enum manifest_state state);

enum phase_outcome {
	PHASE_SKIPPED,	   /* not started: `reason` */
	PHASE_DONE,	   /* the program ran to its end */
	PHASE_WATCHED,	   /* the program was stopped when its share of the time was used */
	PHASE_FAILED,	   /* the command ended without a result: `reason` */
	PHASE_INTERRUPTED, /* by the user; what was measured is kept */
	PHASE_OUTCOMES,
};

/* "skipped", "done", "watched", "failed", "interrupted". */
const char *phase_outcome_word(enum phase_outcome outcome);

struct manifest_phase {
	const char *name;
	const char *command;	  /* quoted for a shell, as it can be typed; "": not started */
	const char *file;	  /* what it left in the directory, "": nothing */
	const char *reason, *fix; /* why it gave nothing or less, and the way out; "" */
	enum phase_outcome outcome;
	int status;		   /* its exit status; -1: not started */
	double planned_s, seconds; /* what the plan said; what it took.  NAN: none */
};

struct manifest_file {
	const char *path; /* in the directory */
	uint64_t bytes;
	char sha256[SHA256_TEXT];
};

/* What the answer promised, for the run that comes after the change.  NAN: not known. */
struct manifest_promise {
	const char *location; /* ""; no place was named */
	const char *function; /* that it is in, "" */
	const char *sentence;
	double gain, lo, hi, at; /* less time, when the place takes `at` less of its own */
	double score;
};

struct manifest {
	struct arena texts;
	enum manifest_state state;
	const char *run_id, *version, *target, *fingerprint;
	const char *against; /* run id of the one before, "": none */
	const char *output_sha256;
	uint64_t time_ns, budget_ns;
	int64_t pid;
	uint32_t round;	   /* 0: the first of its chain */
	double median_ns;  /* of the baseline; NAN: not measured */
	double planned_s;  /* what the plan said for all of it; NAN: there was none */
	double seconds;	   /* what it took until the manifest was written for the last time */
	double compounded; /* time now over time at round 0; NAN: not known */
	struct manifest_promise promise;
	vec_of(struct manifest_phase) phases;
	vec_of(struct manifest_file) files; /* by path */
};

/* Empty, with numbers that are not known and texts "". */
void manifest_init(struct manifest *manifest);
void manifest_done(struct manifest *manifest);
#define manifest_auto __attribute__((cleanup(manifest_done)))

void manifest_write(const struct manifest *manifest, struct str *out);

/* `manifest` is initialised here.  A text that is no manifest, or one of a newer assay, is refused:
 * ERR_USAGE. */
int manifest_read(
	const char *text, size_t len, const char *name, struct manifest *manifest, struct err *err);
