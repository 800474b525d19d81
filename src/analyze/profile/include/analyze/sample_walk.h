/* sample_walk.h - the samples of one event with everything they refer to, for exporters.
 *
 * Only what the samples use is in the tables, numbered from 0, so an exporter writes them as they
 * stand.  Nothing needs a second case: code without a name has a function and a frame as well
 * ("[libc.so.6]"), and so has a sample without a stack ("[no stack]").
 * Pure.  Owns: its tables, until sample_walk_done(); texts are the run's, which must live on. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/profile_filter.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

#define WALK_NONE UINT32_MAX

struct walk_module {
	const char *path, *name; /* name: without its folders */
	const char *build_id;	 /* hex, "": not known */
	bool kernel, jit;
	uint64_t low, high; /* the addresses seen */
};

struct walk_function {
	const char *name;
	const char *file; /* of its definition, "": not known */
	uint32_t line;	  /* 0: not known */
	uint32_t module;  /* WALK_NONE: in no module */
	uint64_t addr, size_bytes;
};

struct walk_frame {
	uint32_t function;
	uint32_t outer; /* the frame it is inlined into; WALK_NONE: it is not */
	const char *file;
	uint32_t line;
};

struct walk_location {
	uint32_t module, frame; /* frame: the innermost; never WALK_NONE */
	uint64_t addr;
	bool kernel;
};

/* One step of a call chain, inlined ones too: several steps may share one location.  Callers have
 * lower numbers. */
struct walk_node {
	uint32_t parent; /* the caller; WALK_NONE: a root */
	uint32_t location, frame;
	uint32_t inline_depth; /* 0: the function that really stands there, 1: inlined into it... */
};

struct walk_thread {
	uint32_t pid, tid;
	const char *name;
	uint64_t samples;
};

/* One sample, or, merged, all of one thread with the same chain. */
struct walk_sample {
	uint64_t time_ns; /* merged: of the first */
	uint64_t samples, period;
	uint32_t node, thread;
	uint32_t cpu; /* WALK_NONE: not known */
	bool truncated, broken;
};

enum walk_order {
	WALK_BY_TIME,	/* all samples as they came */
	WALK_BY_THREAD, /* thread by thread, each in time order */
	WALK_MERGED,	/* thread by thread, equal chains made one */
};

struct sample_walk {
	const char *event;
	uint32_t event_row; /* its id in the run */
	const char *unit;   /* of a period: "ns", "samples", else the event's own */
	bool weighted;	    /* false: the samples have no periods, each is 1 */
	bool merged;	    /* a period is a number of samples */
	bool period_is_ns;
	const char *target; /* the command line that was measured */
	uint64_t started_ns;
	uint64_t total_samples, total_period;
	uint64_t first_ns, last_ns; /* of the samples */
	uint64_t common_period;	    /* of every sample, 0: they differ */
	vec_of(struct walk_module) modules;
	vec_of(struct walk_function) functions;
	vec_of(struct walk_frame) frames;
	vec_of(struct walk_location) locations;
	vec_of(struct walk_node) nodes;
	vec_of(struct walk_thread) threads;
	vec_of(struct walk_sample) samples;
	struct arena texts;
};

/* The samples that pass `filter`, in this order.  Errors as profile_samples_take() has them. */
int sample_walk_make(const struct run *run, const struct profile_filter *filter,
	enum walk_order order, struct sample_walk *ret_walk, struct err *err);
void sample_walk_done(struct sample_walk *walk);
#define sample_walk_auto __attribute__((cleanup(sample_walk_done)))

/* The nodes of a chain, outermost first; reused from call to call. */
struct walk_chain {
	vec_of(uint32_t) nodes;
};

void sample_walk_chain(const struct sample_walk *walk, uint32_t node, struct walk_chain *chain);
void walk_chain_done(struct walk_chain *chain);
#define walk_chain_auto __attribute__((cleanup(walk_chain_done)))

/* The module of a node: that of its location; NULL: in none. */
const struct walk_module *sample_walk_module(const struct sample_walk *walk, uint32_t node);

/* Samples of the run that belong to other events than this row: what a profile of one event leaves
 * out. */
uint64_t sample_walk_others(const struct run *run, uint32_t event);
