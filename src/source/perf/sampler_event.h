/* sampler_event.h - which events can be sampled, how often, and why not. */
#pragma once

#include <linux/perf_event.h>

#include "source/sampler.h"

/* cpu-clock and task-clock: a timer, not a counter. */
bool sampler_event_is_clock(const struct event_spec *spec);

/* Faults, switches and tracepoints: the kernel raises them one by one. */
bool sampler_event_is_raised(const struct event_spec *spec);

/* Refuse what is known to fail or to lie before anything is opened, and settle the rate; events
 * that are to be a sample each get WIRE_EVENT_EACH. */
int sampler_event_check(struct event_list *list, struct sampler_options *options, struct err *err);

/* Fill in rate or period. */
void sampler_event_rate(const struct event_spec *spec, const struct sampler_options *options,
	struct perf_event_attr *attr);

/* Take the kernel side off an event, and say so in its name; false when that cannot help. */
bool sampler_event_narrow(struct event_list *list, struct event_spec *spec);

/* Why the kernel did not open it.  Returns -code. */
int sampler_event_refused(struct event_list *list, struct event_spec *spec, int code,
	const struct sampler_options *options, struct err *err);
