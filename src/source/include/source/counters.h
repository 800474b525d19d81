/* counters.h - a list of events, open on a task, on threads or on CPUs, and their counts.
 *
 * Does: open each event or say in its spec why not, read all, emit WIRE_EVENT and WIRE_COUNT.
 * Does not: start programs.
 * Owns: the descriptors.  Borrows the list, whose specs get the status and the real modifiers.
 *
 * On a spawner (COUNTERS_CHILDREN) events are opened once, disabled and inherited: each child
 * counts from its exec on, and a read between two children gives the sum so far; decision 003. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "source/event.h"
#include "wire/record.h"

enum counters_mode {
	COUNTERS_CHILDREN, /* the children that task `id` will exec */
	COUNTERS_PROCESS,  /* all threads of process `id`, and what they start */
	COUNTERS_THREAD,   /* thread `id` alone, and what it starts */
	COUNTERS_MACHINE,  /* every CPU, every task */
};

struct counters;
struct pmu_report;

/* Before they are opened: mark the events whose counters the self-test (pmu.h) found lying. */
void counters_distrust(struct event_list *list, const struct pmu_report *report);

int counters_open(struct event_list *list, enum counters_mode mode, pid_t id,
	struct counters **ret_counters, struct err *err);

/* Read all events; values are remembered for counters_emit(). */
int counters_read(struct counters *counters, struct err *err);

/* Emit what was counted since the last emit of the same kind: `at_ns` 0 for a whole execution, else
 * the end of an interval.  Whole executions and intervals are each counted from their own mark. */
int counters_emit(struct counters *counters, uint32_t execution, uint64_t at_ns,
	const struct wire_sink *sink);

/* Emit one WIRE_EVENT per event: its name as really counted and its status.  `final`, when all has
 * been counted, also finds out which events never ran and which counters lie (source/pmu.h). */
int counters_emit_events(struct counters *counters, bool final, const struct wire_sink *sink);

/* Start counting (COUNTERS_CHILDREN starts by itself at exec). */
int counters_start(struct counters *counters, struct err *err);

void counters_close(struct counters *counters);
void counters_close_pointer(struct counters **counters);
#define counters_auto __attribute__((cleanup(counters_close_pointer)))
