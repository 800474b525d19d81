/* evidence.h - records of what is known beside counts and samples: costs of places in the source,
 * numbers that one witness tells about the whole target, and what the program says of itself.
 *
 * Part of record.h, which is what everybody includes. */
#pragma once

#include "wire/record.h"

/* An event counted at one line, by a simulator.  The event came before. */
struct wire_place {
	struct wire_record head;
	uint32_t event;
	uint32_t line; /* 0: unknown */
	uint64_t value;
	struct wire_text function; /* as the simulator spells it, or no text */
	struct wire_text file;
};

/* One number about the whole target, as one witness tells it. */
struct wire_fact {
	struct wire_record head;
	uint32_t execution; /* 1, 2, 3...; 0: not of one execution */
	uint32_t reserved;
	double value; /* only without a reason */
	struct wire_text name;
	struct wire_text unit;
	struct wire_text witness; /* "proc.schedstat" */
	struct wire_text reason;  /* why it is not known, or no text */
};

/* A named piece of work that the program timed itself; NAN: it did not say. */
struct wire_span {
	struct wire_record head;
	uint64_t count;
	double total_ns, p50_ns, p95_ns, p99_ns, p999_ns, max_ns;
	struct wire_text name;
	struct wire_text category; /* "CPU", "IO", "alloc", "lock" */
	struct wire_text evidence;
};

/* What the program says about an explanation. */
struct wire_claim {
	struct wire_record head;
	struct wire_text name;
	struct wire_text verdict; /* "supports", "rejects" */
	struct wire_text evidence;
};
