/* event.h - what the user asked to count, turned into what the kernel understands.
 *
 *     task-clock,cycles:u,{instructions,branches}:u,sched:sched_switch,r1c2,cpu/event=0x3c/
 *
 * Does: names (software, hardware, cache, the CPU's own, sysfs, tracepoint, raw), groups,
 * modifiers, hybrid CPUs (one spec per core type).  Does not: open anything.  An event that is well
 * written but not on this machine is a spec with a status and a reason; only what cannot be
 * understood is an error. Owns: everything in its arena. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "wire/record.h"

/* A name of this CPU's vendor, handed in by the caller who knows the CPU. */
struct event_alias {
	const char *name; /* "UOPS_ISSUED.ANY"; typed in any case */
	uint64_t config, config1;
	const char *pmu; /* the core type it counts on, on a hybrid CPU; else NULL */
};

struct event_spec {
	const char *name;  /* as written, with its modifiers: "cycles:u" */
	const char *unit;  /* "ns", "Joules", or "" */
	const char *core;  /* "cpu_core" on a hybrid CPU, else NULL */
	const char *alias; /* the vendor's name for it, else NULL */
	const char *cpus;  /* the only CPUs it counts on ("0-7"), or NULL */
	double scale;	   /* value * scale is in `unit` */
	uint32_t group;	   /* 0: alone */
	uint32_t type;
	uint64_t config, config1, config2;
	bool exclude_user, exclude_kernel, exclude_hypervisor, exclude_host, exclude_guest;
	bool modified; /* the user chose user/kernel; never widened or narrowed for him */
	bool pinned;
	uint32_t flags;	    /* WIRE_EVENT_PRESCALED, WIRE_EVENT_SIMULATED, WIRE_EVENT_EACH */
	bool whole_machine; /* an uncore PMU: cannot be counted for one task */
	unsigned precise;
	enum wire_event_status status; /* COUNTED: may be opened */
	const char *reason;
};

struct event_list {
	struct arena arena;
	vec_of(struct event_spec) specs;
	uint32_t groups;
	const struct event_alias *aliases; /* borrowed; may be set before a text is parsed */
	uint32_t aliases_count;
};

/* Add the events of `text` to the list.  -EINVAL with the place and the nearest name. */
int event_list_parse(struct event_list *list, const char *text, struct err *err);

/* Emit the event as WIRE_EVENT under the id that counts and samples refer to. */
int event_emit(const struct event_spec *spec, uint32_t id, const struct wire_sink *sink);

void event_list_done(struct event_list *list);
#define event_list_auto __attribute__((cleanup(event_list_done)))
