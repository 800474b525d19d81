/* annotate.h - the cost of one function, line by line and instruction by instruction.
 *
 * Two costs stand at each place.  `self`: samples taken right there; over all lines, and over all
 * instructions with `outside`, they add up to the function's own samples exactly.  `below`: samples
 * taken in what was called from there, each counted once however often it recurs.
 * The function is what stands at its addresses: code inlined into it is part of it and is shown at
 * its own source line, under the name of the function it came from.
 * Pure.  Owns: everything is in the caller's arena; texts are the run's or the listing's. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/profile_filter.h"
#include "base/arena.h"
#include "base/err.h"

struct run;
struct listing;
struct function_found;

struct annotate_event {
	uint32_t id; /* row of the run */
	const char *name;
	bool precise;		   /* asked for with :pp or more; otherwise samples skid */
	bool weighted;		   /* false: a sample of it has no period, so each weighs 1 */
	struct profile_cost run;   /* all samples of the run */
	struct profile_cost self;  /* in the function */
	struct profile_cost total; /* with it anywhere on the stack */
};

/* A source file that code of the function comes from.  The caller of annotate_make() may put the
 * text in afterwards. */
struct annotate_file {
	const char *path; /* as recorded; "" for what has no line */
	const char *const *lines;
	uint32_t line_count;
	const char *found;   /* where the text is, or NULL */
	const char *missing; /* why there is no text, or NULL */
	bool changed;	     /* written to after the recording began */
};

struct annotate_line {
	uint32_t file;	      /* index of a file */
	uint32_t line;	      /* 0: not known */
	const char *function; /* it was inlined from, NULL: the annotated function itself */
	struct profile_cost *self, *below; /* one per event */
	bool hot;
};

enum annotate_kind {
	ANNOTATE_PLAIN,
	ANNOTATE_CALL,
	ANNOTATE_JUMP,
	ANNOTATE_RETURN,
	ANNOTATE_BYTES, /* not decodable */
};

struct annotate_instruction {
	uint64_t addr;
	uint32_t size_bytes;
	enum annotate_kind kind;
	const char *text;
	uint32_t file, line; /* line 0: not known */
	uint32_t label;	     /* L1, L2... where a jump of the function leads; 0: none */
	bool has_target;
	uint64_t target;
	uint32_t target_label;	 /* of a jump within the function */
	const char *target_name; /* of a call, or NULL */
	struct profile_cost *self, *below;
	bool hot;
};

struct annotate_note {
	const char *code, *text, *hint;
};

struct annotate_view {
	const char *function, *module, *file; /* file: of the definition, "" unknown */
	uint32_t line;
	uint64_t addr, size_bytes;
	bool inlined_only; /* it stands nowhere by itself: lines only */
	struct annotate_event *events;
	uint32_t event_count;
	struct annotate_file *files;
	uint32_t file_count;
	struct annotate_line *lines; /* by file (the function's own first) and number */
	uint32_t line_count;
	uint32_t *ranking;			   /* indexes of all lines, the hottest first */
	struct annotate_instruction *instructions; /* by address, all of them */
	uint32_t instruction_count;
	const char *missing, *missing_hint; /* why there are no instructions, NULL when there are */
	struct profile_cost *outside; /* self samples at no instruction shown, one per event */
	struct profile_cost *inlined; /* of self: in code inlined into it, one per event */
	struct annotate_note notes[8];
	uint32_t note_count;
	const char *next; /* the next command worth running */
};

struct annotate_options {
	const struct function_found *function;
	const struct listing *listing; /* NULL: lines only */
	const char *event;	       /* this one only, NULL: all that have samples */
	const char *run_path;	       /* for the next command */
	uint32_t hot_rows;	       /* places to mark as hot, 0: every one with a sample */
};

/* -EINVAL when the run has no such event. */
int annotate_make(const struct run *run, const struct annotate_options *options,
	struct arena *arena, struct annotate_view *ret_view, struct err *err);

/* Share of the function's own samples, of those with it on the stack, of the run's: by weight; NAN
 * when there are none. */
double annotate_self_share(const struct annotate_event *event, const struct profile_cost *cost);
double annotate_total_share(const struct annotate_event *event, const struct profile_cost *cost);
double annotate_run_share(const struct annotate_event *event, const struct profile_cost *cost);

/* Whether an event of this name was sampled without skid. */
bool annotate_is_precise(const char *event);
