/* verdict.h - why a program is slow, in one word, with what to do about it.
 *
 * One frame for every engine: the top-down tree of a PMU, the quick look at generic counters and
 * the simulator each fill category, share, confidence and why; verdict_advise() then adds what the
 * advice knows about that category (data/advice, one text per category, docs/metrics.md has the
 * format).
 * Does: hold, read the texts, choose by language.  Does not: decide (the engines do), print.
 * Owns: a book owns its texts, which a verdict borrows; what is written new is in the caller's
 * arena.  Threads: a filled book is never changed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

enum verdict_category {
	VERDICT_UNCLEAR, /* not enough is known to say */
	VERDICT_RETIRING,
	VERDICT_BAD_SPECULATION,
	VERDICT_FRONTEND,
	VERDICT_MEMORY_LATENCY,
	VERDICT_MEMORY_BANDWIDTH,
	VERDICT_MEMORY, /* memory; latency and bandwidth were not told apart */
	VERDICT_CORE,
	VERDICT_MIXED, /* enough is known, and nothing leads */
	VERDICT_CATEGORIES,
};

/* The word of the JSON: "memory_latency"; and the one for people: "memory latency". */
const char *verdict_category_word(enum verdict_category category);
const char *verdict_category_title(enum verdict_category category);

/* Memory of any kind: latency, bandwidth, or not told apart. */
bool verdict_category_is_memory(enum verdict_category category);

/* The category of a word, false when there is none. */
bool verdict_category_find(const char *word, enum verdict_category *ret_category);

enum verdict_confidence {
	VERDICT_LOW,	/* a hint from indirect numbers */
	VERDICT_MEDIUM, /* measured, with a known gap that `doubt` names */
	VERDICT_HIGH,	/* measured, and clear of the next category by more than its error */
};

/* "low", "medium", "high". */
const char *verdict_confidence_word(enum verdict_confidence confidence);

struct verdict_tip {
	const char *language; /* "" for any, else "c", "c++", "rust", "go" */
	const char *text;
};

struct verdict {
	/* By the engine.  `share` is a fraction 0..1 of `share_of`, or NAN with a reason. */
	enum verdict_category category;
	double share;
	const char *share_of;	  /* "the issue slots", "the cycles", "the time"; "" with NAN */
	const char *share_reason; /* why there is no share; "" otherwise */
	enum verdict_confidence confidence;
	const char *doubt; /* why the confidence is not higher, or "" */
	const char *why;   /* one sentence: what was seen that leads to this category */
	/* By verdict_advise(). */
	double speedup_bound; /* so many times faster if all of the loss went away; NAN: unknown */
	const char *meaning;  /* what the category means */
	const char *effect;   /* what can be expected from a change, and up to how much */
	const struct verdict_tip *advice; /* the program's language first */
	uint32_t advice_count;
	uint32_t advice_own;	 /* how many of them are for this program's language or for any */
	const char *next;	 /* the next command worth running */
	const char *const *plan; /* how to see whether a change helped, step by step */
	uint32_t plan_count;
};

/* The texts of one category. */
struct advice {
	enum verdict_category category;
	const char *meaning, *effect, *next;
	vec_of(struct verdict_tip) tips;
	vec_of(const char *) plan;
	bool filled;
};

struct advice_book {
	struct arena arena;
	struct advice of[VERDICT_CATEGORIES];
};

/* Fill a zeroed book from the texts compiled in; refuses when a category has no text. */
int advice_book_load(struct advice_book *book, struct err *err);

/* Add one text, `name` being its file name for the sentence. */
int advice_book_add(struct advice_book *book, const char *name, const char *text, struct err *err);

void advice_book_done(struct advice_book *book);
#define advice_book_auto __attribute__((cleanup(advice_book_done)))

/* What the verdict is about. */
struct verdict_subject {
	const char *program;  /* as it is typed behind --, for the commands */
	const char *language; /* "c", "c++", "rust", "go"; "" when not known: tips for all */
};

/* A verdict of no category yet, all texts "". */
struct verdict verdict_none(void);

/* Add meaning, advice, next command and plan of the verdict's category. */
void verdict_advise(const struct advice_book *book, const struct verdict_subject *subject,
	struct arena *arena, struct verdict *verdict);
