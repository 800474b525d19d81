/* site_place.h - one place in the code, as tables of sites show it.
 *
 * The innermost function at an address with its line.  Texts are the run's.  Pure. */
#pragma once

#include <stdint.h>

#include "analyze/label.h"

struct place_row;
struct run;

struct site_place {
	const char *function; /* "[unknown]" */
	const char *module;   /* path, "": not known */
	const char *file;     /* "": not known */
	uint32_t line;	      /* 0: not known */
	uint64_t addr;	      /* in the module's file; kernel and JIT: in memory; 0: none */
	uint32_t flags;	      /* LABEL_* */
};

/* The place of a location of the run (0: one that is not known). `book` is of LABEL_LINE. */
struct site_place site_place_of(const struct label_book *book, uint32_t location);

/* The place that a simulator names. */
struct site_place site_place_simulated(const struct run *run, const struct place_row *place);
