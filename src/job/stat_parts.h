/* stat_parts.h - private to stat*.c. */
#pragma once

#include "job/stat.h"

/* What the words of -e and --set stand for: events of this machine, or of the simulator. */
struct stat_choice {
	int (*parse)(struct event_list *list, const char *text, struct err *err);
	int (*add_set)(struct stat_job *job, const char *name, struct err *err);
	const char *default_set;
};

/* Events, sets and metrics that were asked for; the default set without any of them. */
int stat_events_choose(struct stat_job *job, const struct stat_choice *choice, struct err *err);

/* The simulator's events; its own set without any. */
extern const struct stat_choice stat_choice_simulated;

/* Count in the simulator; as count_target(). */
int stat_simulate(struct stat_job *job, struct err *err);

/* Where the machine has no counter for what the simulator could count: say so. */
void stat_note_simulator(struct stat_job *job);
