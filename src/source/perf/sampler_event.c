/* sampler_event.c - see sampler_event.h.
 *
 * perf samples cpu-clock when it was asked for cycles and there are none.  Here what was asked for
 * is sampled or refused; only who asks for nothing gets what the machine has. */
#include "sampler_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/str.h"
#include "event_reason.h"
#include "source/pmu.h"

enum {
	RATE_DEFAULT_HZ = 997,	/* a prime: never in step with timers of whole milliseconds */
	CLOCK_LEAST_NS = 10000, /* a shorter period is silently raised to this by the kernel */
};

bool sampler_event_is_clock(const struct event_spec *spec)
{
	return spec->type == PERF_TYPE_SOFTWARE &&
	       (spec->config == PERF_COUNT_SW_CPU_CLOCK ||
		       spec->config == PERF_COUNT_SW_TASK_CLOCK);
}

bool sampler_event_is_raised(const struct event_spec *spec)
{
	return spec->type == PERF_TYPE_TRACEPOINT ||
	       (spec->type == PERF_TYPE_SOFTWARE && !sampler_event_is_clock(spec));
}

/* Of the PMU, by a generic name, a code or a PMU's own name; what is no core PMU's is left alone by
 * the judgement. */
static bool event_is_hardware(const struct event_spec *spec)
{
	return spec->type != PERF_TYPE_SOFTWARE && spec->type != PERF_TYPE_TRACEPOINT;
}

static bool cycles_are_trusted(const struct pmu_report *report)
{
	for (unsigned c = 0; c < report->cores; c++)
		for (unsigned i = 0; i < report->core[c].events; i++)
			if (str_equal(report->core[c].event[i].name, "cycles") &&
				report->core[c].event[i].verdict != PMU_TRUSTED)
				return false;
	return report->present && report->cores;
}

int sampler_default_event(struct event_list *list, struct err *err)
{
	struct pmu_report report;
	struct err ignored;
	bool cycles = pmu_present(&ignored) > 0 && pmu_selftest(&report, &ignored) >= 0 &&
		      cycles_are_trusted(&report);

	return event_list_parse(list, cycles ? "cycles" : "cpu-clock", err);
}

static void refuse_hint(const struct sampler_options *options, struct err *err)
{
	if (options->branches)
		err_hint(err,
			"remove -b; `assay branches --engine sim -- PROGRAM` finds mispredicted "
			"branches without a PMU");
	else if (options->stack == SAMPLER_STACK_BRANCHES)
		err_hint(err, "remove --stack: stacks are unwound without the PMU");
	else
		err_hint(err, "remove -e to sample cycles or cpu-clock, whichever works");
}

static int refuse(
	const struct event_spec *spec, const struct sampler_options *options, struct err *err)
{
	const char *reason = spec->reason ? spec->reason : "this machine has no such event";
	/* Without the clock there is nothing to choose instead: then the way out is the reason's.
	 */
	const char *fix = sampler_event_is_clock(spec) ? strstr(reason, "; ") : NULL;

	err_set(err, ERR_UNAVAILABLE, EOPNOTSUPP,
		options->branches ? "branches cannot be recorded with %s: %.*s"
				  : "%s cannot be sampled: %.*s",
		spec->name, (int)(fix ? (size_t)(fix - reason) : strlen(reason)), reason);
	if (fix && !options->branches)
		err_hint(err, "%s", fix + 2);
	else
		refuse_hint(options, err);
	return -EOPNOTSUPP;
}

static int rate_check(const struct sampler_options *options, struct err *err)
{
	char text[32] = "";
	uint64_t most;

	if (options->period || !options->rate_hz ||
		io_read_line("/proc/sys/kernel/perf_event_max_sample_rate", text, sizeof(text)) <=
			0 ||
		str_to_u64(text, &most) < 0 || options->rate_hz <= most)
		return 0;
	err_set(err, ERR_UNAVAILABLE, EINVAL,
		"%llu samples per second is more than the kernel's limit of %llu",
		(unsigned long long)options->rate_hz, (unsigned long long)most);
	err_hint(err, "use -F %llu, or sudo sysctl kernel.perf_event_max_sample_rate=%llu",
		(unsigned long long)most, (unsigned long long)options->rate_hz);
	return -EINVAL;
}

static int period_check(
	const struct event_spec *spec, const struct sampler_options *options, struct err *err)
{
	if (!options->period || options->period >= CLOCK_LEAST_NS || !sampler_event_is_clock(spec))
		return 0;
	err_set(err, ERR_USAGE, EINVAL, "the period of %s is in ns and must be at least %d",
		spec->name, CLOCK_LEAST_NS);
	err_hint(err, "use -c %d or more", CLOCK_LEAST_NS);
	return -EINVAL;
}

/* A counter that lies gives no samples, or samples of something else. */
static void events_judge(struct event_list *list)
{
	struct pmu_report report;
	struct err ignored;
	bool hardware = false;

	vec_foreach (const struct event_spec, spec, &list->specs)
		hardware |= spec->status == WIRE_EVENT_COUNTED && event_is_hardware(spec);
	if (!hardware || pmu_selftest(&report, &ignored) < 0 || !report.present)
		return;
	vec_foreach (struct event_spec, spec, &list->specs) {
		if (spec->status != WIRE_EVENT_COUNTED || !event_is_hardware(spec))
			continue;
		event_reason_distrust(list, spec, &report);
		if (spec->status == WIRE_EVENT_COUNTED)
			event_reason_distrust_code(list, spec, &report);
	}
}

/* A rate makes the kernel guess how many a sample stands for, which is far off while they are few:
 * so each one is a sample unless -c or, for what is no tracepoint, -F says how often. */
static bool event_is_each(const struct event_spec *spec, const struct sampler_options *options)
{
	if (options->period)
		return options->period == 1 && sampler_event_is_raised(spec);
	return spec->type == PERF_TYPE_TRACEPOINT ||
	       (sampler_event_is_raised(spec) && !options->rate_hz);
}

int sampler_event_check(struct event_list *list, struct sampler_options *options, struct err *err)
{
	const struct event_reason_context context = {
		.whole_machine_mode = options->mode == COUNTERS_MACHINE,
		.own = options->mode == COUNTERS_CHILDREN,
	};
	int r = rate_check(options, err);

	if (r < 0)
		return r;
	events_judge(list);
	vec_foreach (struct event_spec, spec, &list->specs) {
		if (spec->status != WIRE_EVENT_COUNTED || !event_reason_check(spec, &context))
			return refuse(spec, options, err);
		r = period_check(spec, options, err);
		if (r < 0)
			return r;
		spec->group = 0; /* samples are taken one by one */
	}
	vec_foreach (struct event_spec, spec, &list->specs)
		if (event_is_each(spec, options))
			spec->flags |= WIRE_EVENT_EACH;
	if (!options->rate_hz && !options->period)
		options->rate_hz = RATE_DEFAULT_HZ;
	return 0;
}

void sampler_event_rate(const struct event_spec *spec, const struct sampler_options *options,
	struct perf_event_attr *attr)
{
	if (options->period) {
		attr->sample_period = options->period;
	} else if (spec->flags & WIRE_EVENT_EACH) {
		attr->sample_period = 1;
	} else {
		attr->freq = 1;
		attr->sample_freq = options->rate_hz;
	}
}

bool sampler_event_narrow(struct event_list *list, struct event_spec *spec)
{
	if (!event_reason_narrow(list, spec) || spec->status != WIRE_EVENT_COUNTED)
		return false;
	/* A clock that counts does not mind the kernel; one that samples does. */
	if (!str_ends(spec->name, ":u"))
		spec->name = arena_format(&list->arena, "%s:u", spec->name);
	return true;
}

int sampler_event_refused(struct event_list *list, struct event_spec *spec, int code,
	const struct sampler_options *options, struct err *err)
{
	const struct event_reason_context context = {
		.whole_machine_mode = options->mode == COUNTERS_MACHINE,
		.own = options->mode == COUNTERS_CHILDREN,
	};

	if (options->branches && (code == EOPNOTSUPP || code == EINVAL)) {
		spec->status = WIRE_EVENT_NOT_SUPPORTED;
		spec->reason =
			"no PMU here can record branches with it (Intel LBR, AMD LbrExtV2, Arm "
			"BRBE)";
	} else if (options->stack == SAMPLER_STACK_BRANCHES &&
		   (code == EOPNOTSUPP || code == EINVAL || code == ENOENT)) {
		spec->status = WIRE_EVENT_NOT_SUPPORTED;
		spec->reason = "no PMU here can record LBR call stacks with it";
	} else {
		event_reason_failed(list, spec, code, &context);
	}
	refuse(spec, options, err);
	err->code = code;
	return -code;
}
