/* stat_parts.h - private to stat*.c: the job that `assay stat` does. */
#pragma once

#include "analyze/metric.h"
#include "base/arena.h"
#include "cli.h"
#include "cpu_tables.h"
#include "source/event.h"

struct run;
struct store;

struct stat_job {
	struct cli *cli;
	struct run *run;
	struct store *store; /* NULL without -o */
	struct metric_book book;
	struct cpu_tables cpu;
	struct event_list events;
	struct arena arena;
	uint32_t shown; /* intervals printed so far */
	bool simulated; /* --engine sim */
};

/* -e, --set and --metric as events of the simulator; its own set without any of them. */
int stat_simulate_events(struct stat_job *job, struct err *err);

/* Count in the simulator; as count_target(). */
int stat_simulate(struct stat_job *job, struct err *err);

/* Where the machine has no counter for what the simulator could count: say so. */
void stat_note_simulator(struct stat_job *job);
