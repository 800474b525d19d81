/* place.h - where events are opened: tasks and CPUs, and the descriptors that takes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/vec.h"

struct place {
	pid_t pid; /* -1: every task */
	int cpu;   /* -1: every CPU */
};

struct place_list {
	struct place *at;
	uint32_t count;
	uint32_t room;
};

/* Whether `cpu` is in a list as sysfs writes it: "0-3,8". */
bool place_cpu_listed(const char *list, int cpu);

/* Every CPU that is online, for all tasks. */
int place_add_cpus(struct place_list *places, struct err *err);

/* Every thread that process `pid` has now, on any CPU. */
int place_add_threads(struct place_list *places, pid_t pid, struct err *err);

/* Raise our own limit when `need` descriptors are more than it allows; a target's spawner was
 * forked before and keeps its own. */
void place_allow_descriptors(uint64_t need);
