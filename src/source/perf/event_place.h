/* event_place.h - where events are opened: tasks and CPUs, and the descriptors that takes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/vec.h"

struct event_place {
	pid_t pid; /* -1: every task */
	int cpu;   /* -1: every CPU */
};

typedef vec_of(struct event_place) event_place_vec;

/* Whether `cpu` is in a list as sysfs writes it: "0-3,8". */
bool event_place_cpu_listed(const char *list, int cpu);

/* Every CPU that is online, for all tasks. */
int event_place_add_cpus(event_place_vec *places, struct err *err);

/* Every thread that process `pid` has now, on any CPU. */
int event_place_add_threads(event_place_vec *places, pid_t pid, struct err *err);

/* Raise our own limit when `need` descriptors are more than it allows; a target's spawner was
 * forked before and keeps its own. */
void event_place_allow_descriptors(uint64_t need);
