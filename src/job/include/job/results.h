/* results.h - files of results, whoever wrote them: run files, and what `assay import` reads.
 *
 * Shared by `assay audit` and `assay attest`.  Owns: the runs and the facts of their programs,
 * until results_done(). */
#pragma once

#include "analyze/audit.h"
#include "base/arena.h"
#include "base/vec.h"
#include "job/host.h"

struct results {
	const struct job_host *host;
	struct arena arena;
	struct run *notes; /* warnings for the page, and this machine's fingerprint; frozen never */
	vec_of(struct run *) runs;
	vec_of(struct audit_input) inputs; /* the same, as the analysis wants them */
};

void results_open(struct results *results, const struct job_host *host);
void results_done(struct results *results);

/* Load one file.  Its programs are looked at when it was measured on this machine. */
int results_add(struct results *results, const char *path, struct err *err);

/* Load a file, or all *.assay and *.json of a folder; those that hold no results are named in a
 * warning.  -EINVAL when there is none. */
int results_add_all(struct results *results, const char *path, struct err *err);
