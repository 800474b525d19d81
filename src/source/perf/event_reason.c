/* event_reason.c - see event_reason.h.
 *
 * What the kernel refuses is explained by refusal.h; here stands what is particular to counting: an
 * event whose user side is always 0, an uncore PMU asked for one program, a group that is too
 * large, a counter that lies. */
#include "event_reason.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>

#include "base/io.h"
#include "base/str.h"
#include "source/refusal.h"

enum { CGROUP_SWITCHES = 11 }; /* PERF_COUNT_SW_CGROUP_SWITCHES, Linux 5.13 */

static void event_fail(struct event_spec *spec, enum wire_event_status status, const char *reason)
{
	spec->status = status;
	spec->reason = reason;
}

static bool event_is_core(const struct event_spec *spec)
{
	return spec->type == PERF_TYPE_HARDWARE || spec->type == PERF_TYPE_HW_CACHE ||
	       spec->type == PERF_TYPE_RAW;
}

/* Software events that the kernel raises from its own code; excluding the kernel hides them all. */
static bool event_is_kernel_only(const struct event_spec *spec)
{
	return spec->type == PERF_TYPE_SOFTWARE &&
	       (spec->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		       spec->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
		       spec->config == CGROUP_SWITCHES);
}

/* Clocks count whatever the task does; the exclude bits do not apply to them. */
static bool event_is_clock(const struct event_spec *spec)
{
	return spec->type == PERF_TYPE_SOFTWARE && (spec->config == PERF_COUNT_SW_TASK_CLOCK ||
							   spec->config == PERF_COUNT_SW_CPU_CLOCK);
}

bool event_reason_check(struct event_spec *spec, const struct event_reason_context *context)
{
	if (spec->whole_machine && !context->whole_machine_mode)
		event_fail(spec, WIRE_EVENT_NOT_SUPPORTED,
			"it counts a whole CPU package, not one program; use -a");
	else if (event_is_kernel_only(spec) && spec->exclude_kernel)
		event_fail(spec, WIRE_EVENT_NOT_SUPPORTED,
			"it happens in the kernel, so :u always counts 0; remove the :u");
	else
		return true;
	return false;
}

static void event_fail_refusal(
	struct event_list *list, struct event_spec *spec, enum refusal_of what, int code)
{
	bool permission = code == EACCES || code == EPERM || code == ENOSYS;
	struct refusal_facts facts;
	struct err err;

	refusal_facts_read(&facts);
	refusal_explain(&facts, what, code, &err);
	event_fail(spec, permission ? WIRE_EVENT_NOT_PERMITTED : WIRE_EVENT_NOT_SUPPORTED,
		permission ? arena_format(&list->arena, "%s; %s", err.text, err.hint)
			   : arena_format(&list->arena, "%s", err.text));
}

bool event_reason_narrow(struct event_list *list, struct event_spec *spec)
{
	char level[16] = "2";

	if (spec->modified || spec->exclude_kernel || spec->type == PERF_TYPE_TRACEPOINT)
		return false;
	io_read_line("/proc/sys/kernel/perf_event_paranoid", level, sizeof(level));
	if (atoi(level) > 2)
		return false; /* nothing at all is permitted; the plain reason says so */
	if (event_is_kernel_only(spec)) {
		event_fail_refusal(list, spec, REFUSED_KERNEL, EACCES);
		return true;
	}
	spec->exclude_kernel = spec->exclude_hypervisor = true;
	if (!event_is_clock(spec))
		spec->name = arena_format(&list->arena, "%s:u", spec->name);
	return true;
}

static enum refusal_of event_refused_as(
	const struct event_spec *spec, const struct event_reason_context *context)
{
	if (context->whole_machine_mode)
		return REFUSED_MACHINE;
	if (spec->type == PERF_TYPE_TRACEPOINT)
		return REFUSED_TRACEPOINT;
	if (!spec->exclude_kernel)
		return REFUSED_KERNEL;
	return event_is_core(spec) ? REFUSED_HARDWARE : REFUSED_SOFTWARE;
}

void event_reason_failed(struct event_list *list, struct event_spec *spec, int code,
	const struct event_reason_context *context)
{
	struct pmu_core core;
	bool has_pmu = pmu_list(PMU_DEVICES, &core, 1) > 0;

	if (code == EACCES && !context->own && !context->whole_machine_mode)
		event_fail(spec, WIRE_EVENT_NOT_PERMITTED,
			"the process belongs to another user; run as that user or as root");
	else if ((code == ENOENT || code == ENODEV || code == ENXIO) &&
		 (has_pmu || !event_is_core(spec)))
		event_fail(spec, WIRE_EVENT_NOT_SUPPORTED, "this CPU has no such event");
	else if (code == EOPNOTSUPP)
		event_fail(spec, WIRE_EVENT_NOT_SUPPORTED,
			spec->precise ? "this PMU cannot be that precise; remove the :p"
				      : "this PMU cannot count it this way");
	else if (code == EINVAL && spec->group) /* event_reason_group() may know more */
		event_fail(spec, WIRE_EVENT_NOT_COUNTED,
			"it does not fit in its group: the PMU has too few counters or cannot "
			"combine these events");
	else if (code == EINVAL)
		event_fail(spec, WIRE_EVENT_NOT_SUPPORTED, "the kernel refuses this encoding");
	else
		event_fail_refusal(list, spec, event_refused_as(spec, context), code);
}

/* The core whose PMU counts this event; NULL when the self-test does not know it. */
static const struct pmu_core *core_of(
	const struct pmu_report *report, const struct event_spec *spec)
{
	for (unsigned i = 0; report && i < report->cores; i++)
		if (!spec->core || str_equal(report->core[i].name, spec->core))
			return &report->core[i];
	return NULL;
}

bool event_reason_group(struct event_list *list, struct event_spec *spec, unsigned group_size,
	const struct pmu_report *report)
{
	const struct pmu_core *core = core_of(report, spec);
	char watchdog[8] = "";

	if (!core || !core->counters || group_size <= core->counters)
		return false;
	io_read_line("/proc/sys/kernel/nmi_watchdog", watchdog, sizeof(watchdog));
	event_fail(spec, WIRE_EVENT_NOT_COUNTED,
		arena_format(&list->arena,
			"its group needs %u counters, but the PMU has %u free%s; split the group",
			group_size, core->counters,
			str_equal(watchdog, "1") ? " (the NMI watchdog uses one)" : ""));
	return true;
}

void event_reason_never_ran(struct event_list *list, struct event_spec *spec, unsigned group_size,
	const struct pmu_report *report)
{
	if (spec->core)
		event_fail(spec, WIRE_EVENT_NOT_COUNTED,
			arena_format(&list->arena, "the program never ran on a core of type %s",
				spec->core));
	else if (!event_reason_group(list, spec, group_size, report))
		event_fail(spec, WIRE_EVENT_NOT_COUNTED,
			group_size > 1 ? "its group never fit on the PMU at once; split it"
				       : "other events used the PMU the whole time");
}

void event_reason_distrust(
	struct event_list *list, struct event_spec *spec, const struct pmu_report *report)
{
	const struct pmu_core *core = core_of(report, spec);

	for (unsigned i = 0; core && i < core->events; i++) {
		const struct pmu_event *event = &core->event[i];

		if (event->type != spec->type || event->config != (spec->config & UINT32_MAX) ||
			(event->verdict != PMU_ZERO && event->verdict != PMU_IMPLAUSIBLE))
			continue;
		event_fail(spec, WIRE_EVENT_NOT_TRUSTED,
			arena_format(&list->arena, "the self-test says this counter is wrong: %s",
				event->reason));
	}
}

/* The core whose PMU this event names by code; NULL for generic events and those of other PMUs. */
static const struct pmu_core *core_of_code(
	const struct pmu_report *report, const struct event_spec *spec)
{
	if (spec->type == PERF_TYPE_RAW)
		return core_of(report, spec);
	for (unsigned i = 0; i < report->cores; i++)
		if (report->core[i].type == spec->type && spec->type > PERF_TYPE_RAW)
			return &report->core[i];
	return NULL;
}

void event_reason_distrust_code(
	struct event_list *list, struct event_spec *spec, const struct pmu_report *report)
{
	const struct pmu_core *core = core_of_code(report, spec);

	if (!core || !pmu_core_is_cut_down(core) || spec->config1 || spec->config2 ||
		pmu_event_moves(spec->type, spec->config) != 0)
		return;
	event_fail(spec, WIRE_EVENT_NOT_TRUSTED,
		arena_format(&list->arena,
			"it reads 0 for the self-test's loop, branches and cache misses, and %s is "
			"a limited PMU: it may not count at all",
			core->name));
}
