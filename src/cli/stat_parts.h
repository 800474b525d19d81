/* stat_parts.h - private to stat*.c: the job that `assay stat` does. */
#pragma once

#include "analyze/metric.h"
#include "base/arena.h"
#include "cli.h"
#include "job/cpu_tables.h"
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

/* What the words of -e and --set stand for: events of this machine, or of the simulator. */
struct stat_choice {
	int (*parse)(struct event_list *list, const char *text, struct err *err);
	int (*add_set)(struct stat_job *job, const char *name, struct err *err);
	int (*add_default)(struct stat_job *job, struct err *err);
};

/* -e, --set and --metric add up; without any of them the default set is counted. */
int stat_events_choose(struct stat_job *job, const struct stat_choice *choice, struct err *err);

/* -e, --set and --metric as events of the simulator; its own set without any of them. */
int stat_simulate_events(struct stat_job *job, struct err *err);

/* Count in the simulator; as count_target(). */
int stat_simulate(struct stat_job *job, struct err *err);

/* Where the machine has no counter for what the simulator could count: say so. */
void stat_note_simulator(struct stat_job *job);
