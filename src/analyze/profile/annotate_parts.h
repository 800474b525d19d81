/* annotate_parts.h - what the files behind annotate.h share: one annotation under way. */
#pragma once

#include "analyze/annotate.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/run.h"

/* What a location of the run is to the function. */
struct annotate_place {
	bool inside;	      /* in the function */
	bool foreign;	      /* inside, in code that was inlined into it */
	bool copy;	      /* elsewhere, in an inlined copy of it */
	uint32_t line;	      /* index of a line */
	uint32_t instruction; /* index + 1, 0: none */
};

struct annotate_work {
	const struct run *run;
	const struct annotate_options *options;
	struct arena *arena;
	struct annotate_view *view;
	uint32_t *columns;	       /* by the event's id: its index + 1, 0: not shown */
	struct annotate_place *places; /* by the location's id */
	vec_of(struct annotate_line) lines;
	vec_of(struct annotate_file) files;
	struct map file_index, line_index;
	struct map function_at; /* by address, in the function's module */
	row_id host;		/* a function that it was inlined into, 0: none seen */
	uint64_t copy_samples, cut_samples, samples;
};

/* The index of this file or line, new or known. */
uint32_t annotate_file_index(struct annotate_work *work, const char *path);
uint32_t annotate_line_index(
	struct annotate_work *work, uint32_t file, uint32_t line, const char *function);

/* Fill `places`, `files` and `lines`, and the lines of the instructions. */
void annotate_find_places(struct annotate_work *work);

/* Pass over the samples once: every cost of the view. */
void annotate_count(struct annotate_work *work);
