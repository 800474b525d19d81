/* pattern_parts.h - the book of patterns as it is kept, and the stacks it is held against: private
 * to pattern*.c. */
#pragma once

#include "analyze/function_class.h"
#include "analyze/label.h"
#include "analyze/patterns.h"
#include "analyze/profile_filter.h"
#include "hypothesis_parts.h"

/* What a rule of `stacks` looks at.  The own frame is the innermost of the program's own code; what
 * it calls is everything inside of it. */
enum stack_rule {
	STACK_LEAF,    /* the innermost frame of the user's side */
	STACK_IN,      /* a frame of what the own frame calls */
	STACK_ALSO,    /* another one */
	STACK_CALL,    /* what the own frame calls itself */
	STACK_ANY,     /* any frame of the stack */
	STACK_OWN,     /* the function that the row is about */
	STACK_NOT,     /* no frame of what the own frame calls is one of these */
	STACK_NOT_OWN, /* nor is the function */
	STACK_RULES,
};

enum { PATTERN_STACKS = 4, PATTERN_WHENS = 3, PATTERN_ADVICES = 4 };

struct name_list {
	const char **names; /* * is any text; "class:lock": that class of data/function.classes */
	unsigned count;
};

struct pattern_stacks {
	const char *name;
	struct name_list lists[STACK_RULES];
	bool of_caller; /* the row is about who calls the own frame */
};

struct pattern_advice {
	const char *text;
	struct condition when; /* no part: always */
};

struct pattern {
	const char *file;
	unsigned line;
	const char *name, *title, *means, *refute, *plant;
	bool of_setting;			      /* about what runs there, not about how */
	struct pattern_stacks stacks[PATTERN_STACKS]; /* the first is what the row is about */
	unsigned stacks_count;
	struct condition whens[PATTERN_WHENS];
	unsigned when_count;
	struct pattern_advice advices[PATTERN_ADVICES];
	unsigned advice_count;
};

struct pattern_book {
	struct arena arena;
	vec_of(struct pattern) rows;
	struct name_list library;  /* not the program's own code, wherever it is compiled in */
	struct name_list wrappers; /* own code that only hands on: its caller is the place */
};

/* One sampled stack with the labels of its frames, innermost first. */
struct walked_stack {
	uint32_t stack; /* row id */
	uint64_t weight, samples;
	uint32_t first, count; /* in `functions` and `lines` */
	/* Frames; `count`: there is none.  The caller is the place's, of own code too. */
	uint32_t leaf, own, place, caller;
};

struct stack_walk {
	const struct run *run;
	struct profile_samples samples;
	struct label_book function_labels, line_labels;
	struct function_book *classes;
	size_t *lengths; /* of the functions' names, as they are compared; 0: no name */
	vec_of(uint32_t) functions;
	vec_of(uint32_t) lines;
	vec_of(struct walked_stack) stacks;
};

/* -EINVAL: there are no samples. */
int stack_walk_init(
	struct stack_walk *walk, const struct pattern_book *book, const struct run *run);
void stack_walk_done(struct stack_walk *walk);
#define stack_walk_auto __attribute__((cleanup(stack_walk_done)))

/* The stacks that a rule means, and what can be counted of them. */
struct stack_set {
	vec_of(uint32_t) stacks; /* row ids, rising */
	uint64_t weight, samples;
	double share;	/* of all samples */
	double site;	/* of these, from the function with the most */
	double callers; /* functions with 5 % of these or more */
	double bursts;	/* how often a thread was found to enter them; at least */
	double late;	/* of these, taken in the last third of all samples */
	double classes; /* that have a function of one name, called from the place; 5 % or more */
	uint32_t place, line, callee; /* labels; 0: none */
};

void stack_set_make(const struct stack_walk *walk, const struct pattern_stacks *rule,
	struct stack_set *ret_set);
void stack_set_done(struct stack_set *set);

/* ret_marks[id]: the label's name is in the list. */
void name_list_mark(const struct name_list *list, const struct stack_walk *walk, bool *ret_marks);

/* * in the pattern is any text. */
bool name_matches(const char *pattern, const char *name, size_t len);
