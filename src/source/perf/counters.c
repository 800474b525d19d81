/* counters.c - see counters.h.
 *
 * Every event is opened once per place (a task, or a CPU) and read alone: the kernel refuses
 * PERF_FORMAT_GROUP on inherited events before 6.13.  The counts of an event are the sum over its
 * places.  Nothing is reset between executions; what counts is the difference of two reads. */
#include "source/counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "event_fd.h"
#include "event_place.h"
#include "event_reason.h"

struct tally {
	uint64_t value, enabled_ns, running_ns;
};

struct counter {
	int *fds; /* one per place, -1: not open there */
	struct tally now, execution_mark, interval_mark;
};

struct counters {
	struct event_list *list;
	enum counters_mode mode;
	pid_t id;
	event_place_vec places;
	struct counter *each; /* one per spec */
	int *leaders;	      /* group leader per place while a group is opened */
	int unswapped;	      /* see event_fd_forbid_swap() */
};

static int event_open(const struct event_spec *spec, const struct counters *counters,
	const struct event_place *place, int leader)
{
	bool alone = leader < 0, children = counters->mode == COUNTERS_CHILDREN;
	struct perf_event_attr attr = {
		.type = spec->type,
		.config = spec->config,
		.config1 = spec->config1,
		.config2 = spec->config2,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = alone,
		.enable_on_exec = alone && children,
		.inherit = counters->mode != COUNTERS_MACHINE,
		.pinned = alone && spec->pinned,
		.exclude_user = spec->exclude_user,
		.exclude_kernel = spec->exclude_kernel,
		.exclude_hv = spec->exclude_hypervisor,
		.exclude_host = spec->exclude_host,
		.exclude_guest = spec->exclude_guest,
		.precise_ip = spec->precise & 3,
	};

	return event_fd_open(&attr, place->pid, place->cpu, leader);
}

/* Whether this event counts at this place at all. */
static bool place_suits(const struct counters *counters, const struct event_spec *spec,
	const struct event_place *place)
{
	if (counters->mode != COUNTERS_MACHINE)
		return true;
	return !spec->cpus || event_place_cpu_listed(spec->cpus, place->cpu);
}

static void counter_close(const struct counters *counters, struct counter *counter)
{
	for (uint32_t p = 0; p < counters->places.count; p++) {
		if (counter->fds[p] >= 0)
			close(counter->fds[p]);
		counter->fds[p] = -1;
	}
}

static int counter_open_places(
	struct counters *counters, struct counter *counter, const struct event_spec *spec)
{
	bool any = false;

	for (uint32_t p = 0; p < counters->places.count; p++) {
		const struct event_place *place = &counters->places.at[p];
		int fd;

		if (!place_suits(counters, spec, place))
			continue;
		fd = event_open(spec, counters, place, spec->group ? counters->leaders[p] : -1);
		if (fd == -ESRCH && counters->mode == COUNTERS_PROCESS)
			continue; /* the thread ended while we came */
		if (fd < 0) {
			counter_close(counters, counter);
			return fd;
		}
		counter->fds[p] = fd;
		any = true;
	}
	return any ? 0 : counters->mode == COUNTERS_MACHINE ? -ENOENT : -ESRCH;
}

/* Open one event everywhere; where the kernel side is not permitted, count the user side and say
 * so in the name.  Only what ends the whole measurement is returned as an error. */
static int counter_open(struct counters *counters, struct counter *counter, struct event_spec *spec,
	struct err *err)
{
	struct event_reason_context context = {
		.whole_machine_mode = counters->mode == COUNTERS_MACHINE,
		.own = counters->mode == COUNTERS_CHILDREN,
	};
	const char *name = spec->name;
	int r;

	if (spec->status != WIRE_EVENT_COUNTED || !event_reason_check(spec, &context))
		return 0;
	r = counter_open_places(counters, counter, spec);
	/* Whole CPUs are permitted or not, with the kernel or without. */
	if ((r == -EACCES || r == -EPERM) && !context.whole_machine_mode &&
		event_reason_narrow(counters->list, spec)) {
		if (spec->status != WIRE_EVENT_COUNTED)
			return 0;
		r = counter_open_places(counters, counter, spec);
	}
	if (r == -EMFILE || r == -ENFILE) {
		err_set(err, ERR_UNAVAILABLE, EMFILE,
			"%u events on %u CPUs or threads need more open files than allowed",
			counters->list->specs.count, counters->places.count);
		err_hint(err, "raise the limit with `ulimit -n`, or count fewer events at a time");
		return r;
	}
	if (r == -ESRCH) {
		err_set(err, ERR_TARGET, ESRCH, "process %d ended before it could be counted",
			(int)counters->id);
		return r;
	}
	if (r < 0) {
		spec->name = name; /* narrowing it did not help */
		event_reason_failed(counters->list, spec, -r, &context);
	}
	return 0;
}

static int counters_open_all(struct counters *counters, struct err *err)
{
	struct event_list *list = counters->list;
	uint32_t group = 0;

	for (uint32_t i = 0; i < list->specs.count; i++) {
		struct event_spec *spec = &list->specs.at[i];
		struct counter *counter = &counters->each[i];
		bool leads = spec->group && spec->group != group;
		int r;

		if (leads)
			for (uint32_t p = 0; p < counters->places.count; p++)
				counters->leaders[p] = -1;
		group = spec->group;
		r = counter_open(counters, counter, spec, err);
		if (r < 0)
			return r;
		if (!spec->group || spec->status != WIRE_EVENT_COUNTED)
			continue;
		for (uint32_t p = 0; p < counters->places.count; p++)
			if (counters->leaders[p] < 0)
				counters->leaders[p] = counter->fds[p];
	}
	return 0;
}

int counters_open(struct event_list *list, enum counters_mode mode, pid_t id,
	struct counters **ret_counters, struct err *err)
{
	counters_auto struct counters *counters = mem_new(1, sizeof(*counters));
	int r = 0;

	*counters = (struct counters){.list = list, .mode = mode, .id = id, .unswapped = -1};
	if (mode == COUNTERS_MACHINE)
		r = event_place_add_cpus(&counters->places, err);
	else if (mode == COUNTERS_PROCESS)
		r = event_place_add_threads(&counters->places, id, err);
	else
		vec_push(&counters->places, (struct event_place){id, -1});
	if (r < 0)
		return r;
	event_place_allow_descriptors((uint64_t)list->specs.count * counters->places.count);
	counters->each = mem_new(list->specs.count, sizeof(*counters->each));
	counters->leaders = mem_new(counters->places.count, sizeof(int));
	for (uint32_t i = 0; i < list->specs.count; i++) {
		counters->each[i].fds = mem_new(counters->places.count, sizeof(int));
		for (uint32_t p = 0; p < counters->places.count; p++)
			counters->each[i].fds[p] = -1;
	}
	if (mode == COUNTERS_CHILDREN)
		counters->unswapped = event_fd_forbid_swap(counters->id);
	r = counters_open_all(counters, err);
	if (r < 0)
		return r;
	*ret_counters = counters;
	counters = NULL;
	return 0;
}

int counters_start(struct counters *counters, struct err *err)
{
	for (uint32_t i = 0; i < counters->list->specs.count; i++)
		for (uint32_t p = 0; p < counters->places.count; p++) {
			int fd = counters->each[i].fds[p];

			if (fd >= 0 && ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
				return err_set(err, ERR_UNAVAILABLE, errno,
					"cannot start counting %s: %s",
					counters->list->specs.at[i].name, err_words(errno));
		}
	return 0;
}

int counters_read(struct counters *counters, struct err *err)
{
	for (uint32_t i = 0; i < counters->list->specs.count; i++) {
		struct counter *counter = &counters->each[i];
		struct tally sum = {0};

		for (uint32_t p = 0; p < counters->places.count; p++) {
			struct tally part;

			if (counter->fds[p] < 0)
				continue;
			/* 0 bytes: a pinned event that lost its counter. */
			if (read(counter->fds[p], &part, sizeof(part)) != sizeof(part))
				continue;
			sum.value += part.value;
			sum.enabled_ns += part.enabled_ns;
			sum.running_ns += part.running_ns;
		}
		counter->now = sum;
	}
	(void)err;
	return 0;
}

int counters_emit(
	struct counters *counters, uint32_t execution, uint64_t at_ns, const struct wire_sink *sink)
{
	for (uint32_t i = 0; i < counters->list->specs.count; i++) {
		struct counter *counter = &counters->each[i];
		struct tally *mark = at_ns ? &counter->interval_mark : &counter->execution_mark;
		struct wire_count count = {
			.head = {WIRE_COUNT, sizeof(count)},
			.event = i + 1,
			.execution = execution,
			.at_ns = at_ns,
			.value = counter->now.value - mark->value,
			.enabled_ns = counter->now.enabled_ns - mark->enabled_ns,
			.running_ns = counter->now.running_ns - mark->running_ns,
		};
		int r;

		*mark = counter->now;
		if (counters->list->specs.at[i].status != WIRE_EVENT_COUNTED)
			continue;
		r = sink->take(sink->context, &count.head);
		if (r < 0)
			return r;
	}
	return 0;
}

/* How many specs share this one's group (1 when it stands alone), with those that found no place in
 * it. */
static unsigned group_size(const struct event_list *list, const struct event_spec *spec)
{
	unsigned size = 0;

	if (!spec->group)
		return 1;
	vec_foreach (const struct event_spec, other, &list->specs)
		size += other->group == spec->group &&
			(other->status == WIRE_EVENT_COUNTED ||
				other->status == WIRE_EVENT_NOT_COUNTED);
	return size;
}

/* A hardware counter that opens and runs may still lie, and a group may be too large for the PMU:
 * the self-test knows.  It runs after the target, so that it disturbs nothing. */
static void counters_judge(struct counters *counters)
{
	struct event_list *list = counters->list;
	struct pmu_report report;
	struct err ignored;
	bool hardware = false, tested;

	vec_foreach (const struct event_spec, spec, &list->specs)
		hardware |= spec->status == WIRE_EVENT_COUNTED &&
			    spec->type != PERF_TYPE_SOFTWARE && spec->type != PERF_TYPE_TRACEPOINT;
	if (!hardware)
		return;
	tested = pmu_selftest(&report, &ignored) >= 0 && report.present;
	for (uint32_t i = 0; i < list->specs.count; i++) {
		struct event_spec *spec = &list->specs.at[i];
		const struct tally *now = &counters->each[i].now;

		if (tested && spec->status == WIRE_EVENT_NOT_COUNTED)
			event_reason_group(list, spec, group_size(list, spec), &report);
		if (spec->status != WIRE_EVENT_COUNTED)
			continue;
		if (now->enabled_ns && !now->running_ns)
			event_reason_never_ran(
				list, spec, group_size(list, spec), tested ? &report : NULL);
		else if (tested)
			event_reason_distrust(list, spec, &report);
		if (tested && spec->status == WIRE_EVENT_COUNTED && !now->value)
			event_reason_distrust_code(list, spec, &report);
	}
}

void counters_distrust(struct event_list *list, const struct pmu_report *report)
{
	vec_foreach (struct event_spec, spec, &list->specs)
		if (spec->status == WIRE_EVENT_COUNTED)
			event_reason_distrust(list, spec, report);
}

int counters_emit_events(struct counters *counters, bool final, const struct wire_sink *sink)
{
	int r = 0;

	if (final)
		counters_judge(counters);
	for (uint32_t i = 0; r >= 0 && i < counters->list->specs.count; i++)
		r = event_emit(&counters->list->specs.at[i], i + 1, sink);
	return r;
}

void counters_close(struct counters *counters)
{
	if (!counters)
		return;
	for (uint32_t i = 0; counters->each && i < counters->list->specs.count; i++) {
		if (counters->each[i].fds)
			counter_close(counters, &counters->each[i]);
		free(counters->each[i].fds);
	}
	if (counters->unswapped >= 0)
		close(counters->unswapped);
	free(counters->each);
	free(counters->leaders);
	vec_done(&counters->places);
	free(counters);
}

void counters_close_pointer(struct counters **counters)
{
	counters_close(*counters);
	*counters = NULL;
}
