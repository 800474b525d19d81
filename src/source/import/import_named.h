/* import_named.h - what the readers of files with names in them share: texts, events, tasks, and
 * one sample at a time whose frames are pushed innermost first.
 *
 * Owns: the texts, until named_done().  Texts are interned, so memory is bounded by the file. */
#pragma once

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "import_format.h"
#include "wire/sample.h"

struct named {
	const struct wire_sink *sink;
	struct import_report *report;
	struct arena arena;
	struct map ids; /* text -> index of `texts` */
	vec_of(const char *) texts;
	struct map events; /* name -> id */
	struct map tasks;  /* tid -> index of `texts`, its name */
	vec_of(struct wire_named) frames;
	vec_of(struct wire_branch) branches;
};

struct named named_of(const struct wire_sink *sink, struct import_report *report);
void named_done(struct named *named);

/* The text with a NUL behind it, NULL for none. */
const char *named_text(struct named *named, const char *at, size_t len);

struct named_event {
	const char *name, *unit;
	uint32_t flags; /* WIRE_EVENT_* */
};

/* The id of an event by its name, which is emitted when it is new.  `*ret_id` 0: one too many. */
int named_event(struct named *named, const struct named_event *event, uint32_t *ret_id);

/* Thread `tid` of `pid` has this name, emitted when it is new. */
int named_task(struct named *named, uint32_t pid, uint32_t tid, const char *name);

/* Hand over the sample with the frames and branches collected since the last one. */
int named_sample(struct named *named, struct wire_sample *sample);
