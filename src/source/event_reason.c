/* event_reason.c - see event_reason.h.
 *
 * One errno has several causes (EACCES: paranoid level or a foreign process; EPERM: seccomp or a
 * missing capability; ENOENT: no PMU or no such event), and the advice differs, so each is looked
 * into before anything is said. */
#include "event_reason.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/str.h"
#include "source/pmu_sysfs.h"

static void event_fail(struct event_spec *spec, enum wire_event_status status, const char *reason)
{
	spec->status = status;
	spec->reason = reason;
}

/* Software events that the kernel raises from its own code; excluding the kernel hides them all. */
static bool event_is_kernel_only(const struct event_spec *spec)
{
	return spec->type == PERF_TYPE_SOFTWARE &&
	       (spec->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		       spec->config == PERF_COUNT_SW_CPU_MIGRATIONS || spec->config == 11);
}

/* Clocks count whatever the task does; the exclude bits do not apply to them. */
static bool event_is_clock(const struct event_spec *spec)
{
	return spec->type == PERF_TYPE_SOFTWARE && (spec->config == PERF_COUNT_SW_TASK_CLOCK ||
							   spec->config == PERF_COUNT_SW_CPU_CLOCK);
}

bool event_reason_check(struct event_list *list, struct event_spec *spec,
	const struct event_reason_context *context)
{
	if (spec->whole_machine && !context->whole_machine_mode)
		event_fail(spec, WIRE_EVENT_NOT_SUPPORTED,
			"it counts a whole package, not one program; count it with -a");
	else if (event_is_kernel_only(spec) && spec->exclude_kernel)
		event_fail(spec, WIRE_EVENT_NOT_SUPPORTED,
			"it happens in the kernel, so its user side is always 0; leave the :u off");
	else
		return true;
	(void)list;
	return false;
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
		event_fail(spec, WIRE_EVENT_NOT_PERMITTED,
			arena_format(&list->arena,
				"it happens in the kernel and kernel.perf_event_paranoid is %s; sudo "
				"sysctl kernel.perf_event_paranoid=1, or run as root",
				level));
		return true;
	}
	spec->exclude_kernel = spec->exclude_hypervisor = true;
	if (!event_is_clock(spec))
		spec->name = arena_format(&list->arena, "%s:u", spec->name);
	return true;
}

static bool seccomp_is_on(void)
{
	str_auto struct str text = {0};
	const char *at;

	if (io_read_at(-1, "/proc/self/status", 1 << 16, &text) < 0)
		return false;
	at = strstr(str_text(&text), "\nSeccomp:\t");
	return at && at[10] == '2';
}

static void event_fail_permission(struct event_list *list, struct event_spec *spec, int code,
	const struct event_reason_context *context)
{
	char level[16] = "unreadable";

	io_read_line("/proc/sys/kernel/perf_event_paranoid", level, sizeof(level));
	if (seccomp_is_on() && code == EPERM)
		event_fail(spec, WIRE_EVENT_NOT_PERMITTED,
			"the container's seccomp profile forbids perf_event_open; start it with "
			"--cap-add PERFMON and a profile that allows the call");
	else if (context->whole_machine_mode)
		event_fail(spec, WIRE_EVENT_NOT_PERMITTED,
			arena_format(&list->arena,
				"counting the whole machine needs root, CAP_PERFMON or "
				"kernel.perf_event_paranoid 0 (it is %s)",
				level));
	else if (spec->type == PERF_TYPE_TRACEPOINT)
		event_fail(spec, WIRE_EVENT_NOT_PERMITTED,
			arena_format(&list->arena,
				"tracepoints need root, CAP_PERFMON or kernel.perf_event_paranoid "
				"-1 (it is %s)",
				level));
	else if (!context->own)
		event_fail(spec, WIRE_EVENT_NOT_PERMITTED,
			"the process belongs to somebody else; run as its user or as root");
	else
		event_fail(spec, WIRE_EVENT_NOT_PERMITTED,
			arena_format(&list->arena,
				"kernel.perf_event_paranoid is %s; sudo sysctl "
				"kernel.perf_event_paranoid=1, or run as root",
				level));
}

static bool machine_is_virtual(void)
{
	str_auto struct str text = {0};

	/* The flag stands in the first CPU's block; 64 KiB hold several. */
	io_read_at(-1, "/proc/cpuinfo", 1 << 16, &text);
	return strstr(str_text(&text), " hypervisor") != NULL;
}

static void event_fail_missing(struct event_list *list, struct event_spec *spec)
{
	const char *cores[1];
	bool core = spec->type == PERF_TYPE_HARDWARE || spec->type == PERF_TYPE_HW_CACHE ||
		    spec->type == PERF_TYPE_RAW;

	if (core && pmu_core_list(&list->arena, cores, 1) == 0)
		event_fail(spec, WIRE_EVENT_NOT_SUPPORTED,
			machine_is_virtual()
				? "this machine has no PMU: the hypervisor passes none on"
				: "this machine has no PMU that the kernel knows");
	else
		event_fail(spec, WIRE_EVENT_NOT_SUPPORTED, "this CPU has no such event");
}

void event_reason_failed(struct event_list *list, struct event_spec *spec, int code,
	const struct event_reason_context *context)
{
	switch (code) {
	case EACCES:
	case EPERM:
		event_fail_permission(list, spec, code, context);
		break;
	case ENOENT:
	case ENODEV:
	case ENXIO:
		event_fail_missing(list, spec);
		break;
	case EOPNOTSUPP:
		event_fail(spec, WIRE_EVENT_NOT_SUPPORTED,
			spec->precise ? "this PMU cannot be that precise; leave the :p off"
				      : "this PMU cannot count it this way");
		break;
	case EINVAL:
		event_fail(spec, WIRE_EVENT_NOT_SUPPORTED,
			spec->group ? "it does not fit into its group: the PMU has too few "
				      "counters or cannot combine these events"
				    : "the kernel refuses this encoding");
		break;
	case ENOSYS:
		event_fail(spec, WIRE_EVENT_NOT_SUPPORTED,
			seccomp_is_on() ? "the container's seccomp profile hides perf_event_open"
					: "this kernel was built without perf events");
		break;
	case EBUSY:
		event_fail(spec, WIRE_EVENT_NOT_COUNTED, "somebody else holds the PMU exclusively");
		break;
	default:
		event_fail(spec, WIRE_EVENT_NOT_SUPPORTED,
			arena_format(&list->arena, "the kernel refused it: %s", err_words(code)));
	}
}

void event_reason_never_ran(struct event_list *list, struct event_spec *spec, unsigned group_size)
{
	char watchdog[8] = "";

	io_read_line("/proc/sys/kernel/nmi_watchdog", watchdog, sizeof(watchdog));
	if (spec->core)
		event_fail(spec, WIRE_EVENT_NOT_COUNTED,
			arena_format(&list->arena, "the program never ran on a core of type %s",
				spec->core));
	else if (group_size > 1)
		event_fail(spec, WIRE_EVENT_NOT_COUNTED,
			arena_format(&list->arena,
				"its group of %u never fitted onto the PMU at once%s; split the "
				"group",
				group_size,
				str_equal(watchdog, "1") ? " (the NMI watchdog holds one counter)"
							 : ""));
	else
		event_fail(spec, WIRE_EVENT_NOT_COUNTED,
			"the PMU was taken by other events all the time");
}
