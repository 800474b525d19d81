/* debug_set.h - all debug information of a program: which files have it, then opened.
 *
 * The one way to DWARF: for names and lines of addresses, and for what compilers recorded.
 * Owns: the images it found and what it opened, until debug_set_done(). */
#pragma once

#include "debug_file.h"
#include "image_search.h"

struct debug_set {
	struct image *image;	 /* that has it, or should: the program or `separate`; borrowed */
	struct image *separate;	 /* the debug file, NULL: none */
	struct image *shared;	 /* by dwz, NULL: none */
	const char *shared_name; /* of the last, found or not; NULL: nothing is shared */
	struct debug_file *file, *alternate;
};

/* Find the file that has it; `program` stays the caller's. */
void debug_set_find(struct debug_set *set, struct image_search *search, struct image *program);
/* Then what dwz took out of it.  Symbols alone do not need it. */
void debug_set_find_shared(struct debug_set *set, struct image_search *search);
void debug_set_open(struct debug_set *set); /* `file` stays NULL where there is none */
void debug_set_done(struct debug_set *set);
