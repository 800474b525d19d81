/* evidence_rows.h - what is known beside counts and samples.
 *
 * Part of rows.h, which is what everybody includes. */
#pragma once

#include "model/rows.h"

/* An event counted at one line of the source, by a simulator. */
struct place_row {
	row_id event;
	text_id function, file;
	uint32_t line; /* 0: unknown */
	uint64_t value;
};

/* One number about the whole target, as one witness tells it.  Two witnesses of one thing are two
 * rows of the same name. */
struct fact_row {
	text_id name, unit, witness;
	text_id reason;	  /* why it is not known; 0: it is */
	row_id execution; /* 0: not of one execution */
	double value;	  /* NAN with a reason */
};

/* Work that the program timed itself; NAN: it did not say. */
struct span_row {
	text_id name, category, evidence;
	uint64_t count;
	double total_ns, p50_ns, p95_ns, p99_ns, p999_ns, max_ns;
};

/* What the program says about an explanation. */
struct claim_row {
	text_id name, verdict, evidence;
};
