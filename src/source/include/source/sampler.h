/* sampler.h - events that sample, one pair of rings per CPU, and what the rings say.
 *
 * Does: open the events on a spawner's children, a process or the machine; hand over tasks,
 * mappings, samples and losses, in an order in which every mapping comes before the samples that
 * need it (docs/decisions/004-recording.md).  Samples point into the ring and are valid only during
 * the call.  Does not: start programs, unwind, know what an address means.
 * Owns: descriptors and rings.  Borrows the list, whose specs get their status and real names, and
 * the sink.  Closing it, also by dying, leaves the target as it was.  Threads: one. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "source/counters.h"
#include "source/event.h"
#include "wire/record.h"

enum sampler_stack {
	SAMPLER_STACK_AUTO,	      /* registers, a copy of the stack, and the kernel's chain */
	SAMPLER_STACK_FRAME_POINTERS, /* only the chain that the kernel walks */
	SAMPLER_STACK_DUMP,	      /* like AUTO without the walk over user frame pointers */
	SAMPLER_STACK_BRANCHES,	      /* the PMU's call stack of branches (LBR) */
	SAMPLER_STACK_NONE,
};

struct sampler_options {
	enum counters_mode mode;
	pid_t id;	  /* the spawner, or the process; not with COUNTERS_MACHINE */
	uint64_t rate_hz; /* samples per second while it runs; 0: 997, and each fault, switch... */
	uint64_t period;  /* or: one sample every so many events; 0: by rate */
	enum sampler_stack stack;
	uint64_t branches; /* branch_sample_type bits of branch_filter.h: each sample holds the last
			    * branches; 0: none.  Not with SAMPLER_STACK_BRANCHES */
	bool accesses;	   /* address, weight and source of a memory access, where told */
	bool delayed;	   /* no samples before sampler_switch(true) */
};

struct sampler_facts {
	uint64_t clock_ns; /* with `clock`: the sum of all periods */
	uint64_t samples, lost_samples, lost_records, throttled, malformed;
	uint64_t passes;
	uint64_t ring_bytes,
		ring_wanted_bytes; /* of samples, per CPU: what it is, what was tried */
	uint32_t dump_bytes;	   /* of the stack in each sample at most, 0: none */
	uint64_t rate_hz, period;  /* as settled; one of them is 0, the period 1 if each is one */
	unsigned cpus;
	bool clock;	   /* the first event is cpu-clock or task-clock */
	bool kernel;	   /* the kernel is sampled, too */
	bool narrowed;	   /* it was asked for and is not permitted */
	bool branch_types; /* the branches tell their types */
};

struct sampler;

/* Add what to sample when nobody said: cycles where the PMU passes its self-test, else cpu-clock.
 */
int sampler_default_event(struct event_list *list, struct err *err);

/* Open everything.  An event that cannot be sampled here is the failure, with its reason. */
int sampler_open(const struct sampler_options *options, struct event_list *list,
	const struct wire_sink *sink, struct sampler **ret_sampler, struct err *err);

/* Emit the events and what runs already, and start (children of a spawner start at their exec). */
int sampler_start(struct sampler *sampler, struct err *err);

/* The target has started as `pid`.  Without this call a target that forks often loses the part of
 * its period that is over at each fork. */
void sampler_hold(struct sampler *sampler, pid_t pid);

/* Samples on or off; tasks and mappings are always followed. */
int sampler_switch(struct sampler *sampler, bool on, struct err *err);

/* Readable when a ring has filled to a part that wants a pass. */
int sampler_descriptor(const struct sampler *sampler);

/* How long a pass may wait at most. */
unsigned sampler_patience_ms(const struct sampler *sampler);

/* Hand over what the rings hold.  0 or a negative errno of the sink. */
int sampler_pass(struct sampler *sampler);

/* Stop, hand over the rest, and what was lost without the rings saying so. */
int sampler_end(struct sampler *sampler);

struct sampler_facts sampler_facts(const struct sampler *sampler);

void sampler_close(struct sampler *sampler);
void sampler_close_pointer(struct sampler **sampler);
#define sampler_auto __attribute__((cleanup(sampler_close_pointer)))

/* How much of the stack to copy into each sample so that a ring of `ring_bytes` holds enough of
 * them at this rate; 0 as rate: not known. */
uint32_t sampler_dump_bytes(uint64_t ring_bytes, uint64_t rate_hz);
