/* event_reason.h - why an event has no value here, in words that name the true cause. */
#pragma once

#include "source/event.h"
#include "source/pmu.h"

struct event_reason_context {
	bool whole_machine_mode;
	bool own; /* a child of ours, not a foreign process */
};

/* False, with status and reason set, when it is known without trying that this event cannot give a
 * true count this way. */
bool event_reason_check(struct event_spec *spec, const struct event_reason_context *context);

/* The kernel side is not permitted: narrow the event to the user side.  False when that is not
 * possible; true with a status other than COUNTED when the user side alone would always read 0. */
bool event_reason_narrow(struct event_list *list, struct event_spec *spec);

/* Set status and reason for a failed perf_event_open(). */
void event_reason_failed(struct event_list *list, struct event_spec *spec, int code,
	const struct event_reason_context *context);

/* Set status and reason when its group is larger than the PMU; false when it is not, or when that
 * is not known.  `report` may be NULL. */
bool event_reason_group(struct event_list *list, struct event_spec *spec, unsigned group_size,
	const struct pmu_report *report);

/* Set status and reason for an event that was open and never on the PMU.  `report` may be NULL. */
void event_reason_never_ran(struct event_list *list, struct event_spec *spec, unsigned group_size,
	const struct pmu_report *report);

/* Set status and reason when the self-test says that this counter lies. */
void event_reason_distrust(
	struct event_list *list, struct event_spec *spec, const struct pmu_report *report);

/* The same for an event by its code (rHEX, PMU/.../) that read 0, or is to be sampled, which the
 * self-test does not know: on a cut-down PMU it is tried over known work now.  On a sound one a 0
 * is a 0. */
void event_reason_distrust_code(
	struct event_list *list, struct event_spec *spec, const struct pmu_report *report);
