/* doctor.h - what the probed capabilities mean: tiers, affected commands, what root would add.
 *
 * Does: join the run's capability rows with data/capabilities.txt.  Does not: probe.
 * Owns: its arrays and the texts of its arena until doctor_done(); the rows' own texts are the
 * run's. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/vec.h"
struct run;

enum doctor_status { DOCTOR_OK, DOCTOR_LIMITED, DOCTOR_NO, DOCTOR_STATUSES };

struct doctor_row {
	const char *name, *reason, *fix; /* fix is "" when there is nothing to fix */
	enum doctor_status status;
	const char *purpose;  /* "" when data/capabilities.txt does not know it */
	const char *commands; /* separated by blanks */
	bool root_adds;	      /* privilege is all that is missing */
};

/* One line of "what this machine gives". */
struct doctor_tier {
	const char *name, *text;
	bool best; /* the first choice of this tier */
};

struct doctor_view {
	vec_of(struct doctor_row) rows;
	vec_of(struct doctor_tier) tiers;
	unsigned counts[DOCTOR_STATUSES];
	bool privileged; /* false: see root_adds */
	struct arena texts;
};

/* "ok", "limited", "no". */
const char *doctor_status_name(enum doctor_status status);

void doctor_build(const struct run *run, struct doctor_view *ret_view);
void doctor_done(struct doctor_view *view);
#define doctor_auto __attribute__((cleanup(doctor_done)))
