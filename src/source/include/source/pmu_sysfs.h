/* pmu_sysfs.h - the kernel's own description of its PMUs: /sys/bus/event_source/devices.
 *
 * Does: type numbers, field layouts, named events, CPU masks.  Does not: open events. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "source/event.h"

/* The PMU's type number, or -ENOENT. */
int pmu_type(const char *pmu, uint32_t *ret_type);

/* Fill `spec` from PMU terms: "event=0x3c,umask=1" or the name of a sysfs event. */
int pmu_encode(struct arena *arena, const char *pmu, const char *terms, struct event_spec *spec,
	struct err *err);

/* A PMU that names this event in sysfs; its name in `ret_pmu`.  False when there is none. */
bool pmu_find_event(const char *event, char *ret_pmu, size_t capacity);
