/* sampler.c - see sampler.h.  How the rings are read; sampler_open.c opens them.
 *
 * A pass reads where the sample rings end, then the clock, then all tasks and mappings up to that
 * time in the order of time, then the samples.  The kernel has committed the record of a mapping
 * before mmap() returns, of a fork before the child runs, of an exec before its first instruction:
 * so everything a sample in this pass can need was read before it.  The limit by the clock keeps
 * the order between CPUs: a task that migrates between two of our reads has its later record
 * behind the limit, and its earlier one is not overtaken.  Nothing waits, nothing is copied. */
#include "source/sampler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "sampler_event.h"
#include "sampler_parts.h"
#include "source/emit.h"
#include "source/refusal.h"
#include "source/task_scan.h"

enum { PATIENCE_MS = 100, PATIENCE_DEAF_MS = 10, BELLS = 64 };

int sampler_open(const struct sampler_options *options, struct event_list *list,
	const struct wire_sink *sink, struct sampler **ret_sampler, struct err *err)
{
	sampler_auto struct sampler *sampler = mem_new(1, sizeof(*sampler));
	int r;

	*sampler = (struct sampler){.options = *options,
		.list = list,
		.sink = sink,
		.unswapped = {-1, -1},
		.bell = -1,
		.with_build_id = true,
		.with_lost_count = true,
		.bounce = mem_new(1, RING_RECORD_MAX)};
	r = sampler_open_all(sampler, err);
	if (r < 0)
		return r;
	*ret_sampler = sampler;
	sampler = NULL;
	return 0;
}

/* ---- on and off ---- */

static int events_control(
	struct sampler *sampler, unsigned long request, bool side, struct err *err)
{
	vec_foreach (const struct sampler_event, event, &sampler->events)
		if ((event->event == 0) == side && ioctl(event->fd, request, 0) < 0)
			return err_set(err, ERR_UNAVAILABLE, errno,
				"cannot turn sampling on or off: %s", err_words(errno));
	return 0;
}

int sampler_switch(struct sampler *sampler, bool on, struct err *err)
{
	return events_control(
		sampler, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, false, err);
}

/* 1,057 faults: 7 samples at 997 Hz, which stand for 7,437 (kernel 6.18). */
static int note_estimated(struct sampler *sampler)
{
	char text[256];

	vec_foreach (const struct event_spec, spec, &sampler->list->specs) {
		if (!sampler->facts.rate_hz || !sampler_event_is_raised(spec) ||
			spec->flags & WIRE_EVENT_EACH)
			continue;
		snprintf(text, sizeof(text),
			"with -F the kernel estimates how many %s each sample stands for, so their "
			"total may be several times too large",
			spec->name);
		return emit_note(sampler->sink, "estimated-totals", text,
			"remove -F to sample each of them, or use -c to sample one in so many");
	}
	return 0;
}

static int emit_events(struct sampler *sampler)
{
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < sampler->list->specs.count; i++)
		r = event_emit(&sampler->list->specs.at[i], i + 1, sampler->sink);
	if (r >= 0)
		r = note_estimated(sampler);
	if (r >= 0 && sampler->facts.kernel)
		r = task_scan_kernel(sampler->sink);
	return r;
}

static int note_nameless(struct sampler *sampler, const struct task_scan *scan)
{
	struct refusal_facts facts;
	char text[256];
	bool machine = sampler->options.mode == COUNTERS_MACHINE;
	int r = 0;

	if (!machine && !scan->denied)
		return 0;
	refusal_facts_read(&facts);
	if (machine && facts.container)
		r = emit_note(sampler->sink, "outside-container",
			"processes outside of this container are sampled too, without process IDs "
			"and names",
			"run assay on the host, or start the container with --pid=host");
	if (r < 0 || !scan->denied)
		return r;
	if (scan->processes == 1)
		snprintf(text, sizeof(text),
			"cannot read the mappings of process %d, so its samples have no names",
			(int)scan->denied_first);
	else
		snprintf(text, sizeof(text),
			"cannot read the mappings of %u of %u processes (such as process %d), so "
			"their samples have no names",
			scan->denied, scan->processes, (int)scan->denied_first);
	return emit_note(sampler->sink, "maps-denied", text, refusal_maps_hint(&facts));
}

static int scan_what_runs(struct sampler *sampler, struct err *err)
{
	struct task_scan scan = {0};
	int r;

	if (sampler->options.mode == COUNTERS_MACHINE)
		r = task_scan_machine(sampler->sink, &scan);
	else
		r = task_scan_process(sampler->options.id, sampler->sink, &scan);
	if (r >= 0)
		r = note_nameless(sampler, &scan);
	return r < 0 ? err_set(err, ERR_OUTPUT, -r, "cannot store the scanned processes: %s",
			       err_words(-r))
		     : 0;
}

int sampler_start(struct sampler *sampler, struct err *err)
{
	int r = emit_events(sampler);

	if (r < 0)
		return err_set(err, ERR_OUTPUT, -r, "cannot store the events: %s", err_words(-r));
	if (sampler->options.mode == COUNTERS_CHILDREN)
		return 0;
	r = events_control(sampler, PERF_EVENT_IOC_ENABLE, true, err);
	if (r >= 0)
		r = scan_what_runs(sampler, err);
	if (r >= 0 && !sampler->options.delayed)
		r = sampler_switch(sampler, true, err);
	return r;
}

/* ---- reading ---- */

static int emit_lost(
	struct sampler *sampler, enum wire_lost_kind kind, uint64_t count, uint64_t time_ns)
{
	struct wire_lost lost = {.head = {WIRE_LOST, sizeof(lost)},
		.kind = kind,
		.count = count,
		.time_ns = time_ns};

	if (kind == WIRE_LOST_SAMPLES)
		sampler->facts.lost_samples += count;
	else if (kind == WIRE_LOST_RECORDS)
		sampler->facts.lost_records += count;
	else
		sampler->facts.throttled += count;
	return sampler->sink->take(sampler->sink->context, &lost.head);
}

/* { id, lost } and a trailer. */
static uint64_t lost_count(const struct perf_event_header *record)
{
	uint64_t words[2] = {0};

	if (record->size >= sizeof(*record) + sizeof(words))
		memcpy(words, record + 1, sizeof(words));
	return words[1];
}

static int side_record(struct sampler *sampler, const struct perf_event_header *record)
{
	int r = kernel_record_emit(record, sampler->sink);

	if (r == 1 && record->type == PERF_RECORD_LOST)
		r = emit_lost(sampler, WIRE_LOST_RECORDS, lost_count(record), 0);
	return r < 0 ? r : 0;
}

/* Tasks and mappings of all CPUs up to `limit_ns`, in order of time.  Whoever comes next is found
 * by looking at every ring: they are few, and most are empty. */
static int side_drain(struct sampler *sampler, uint64_t limit_ns)
{
	int r = 0;

	vec_foreach (struct sampler_cpu, cpu, &sampler->cpus)
		cpu->side_end = ring_head(&cpu->side);
	while (r >= 0) {
		struct sampler_cpu *next = NULL;
		uint64_t time, earliest = UINT64_MAX;

		vec_foreach (struct sampler_cpu, cpu, &sampler->cpus)
			if (ring_peek(&cpu->side, cpu->side_end, KERNEL_TIME_BEFORE_END, &time) &&
				time <= limit_ns && (!next || time < earliest)) {
				next = cpu;
				earliest = time;
			}
		if (!next)
			break;
		r = side_record(sampler, ring_next(&next->side, next->side_end));
	}
	vec_foreach (struct sampler_cpu, cpu, &sampler->cpus)
		ring_release(&cpu->side);
	return r;
}

static int take_sample(struct sampler *sampler, const struct perf_event_header *record)
{
	struct wire_sample sample;
	uint64_t identifier;
	uint32_t event = 1;

	if (!kernel_sample_read(
		    record, sampler->sample_type, &sampler->scratch, &sample, &identifier) ||
		(sampler->list->specs.count > 1 &&
			!map_get(&sampler->identifiers, &identifier, sizeof(identifier), &event))) {
		sampler->facts.malformed++;
		return 0;
	}
	/* The spawner belongs to us: it is woken when the target ends. */
	if (sampler->options.mode == COUNTERS_CHILDREN &&
		sample.pid == (uint32_t)sampler->options.id)
		return 0;
	sample.event = event;
	if (!(sampler->sample_type & PERF_SAMPLE_PERIOD))
		sample.period = sampler->options.period;
	sampler->facts.samples++;
	if (event == 1 && sampler->facts.clock)
		sampler->facts.clock_ns += sample.period;
	return sampler->sink->take_sample
		       ? sampler->sink->take_sample(sampler->sink->context, &sample)
		       : 0;
}

static int sample_record(struct sampler *sampler, const struct perf_event_header *record)
{
	uint64_t time_ns = 0;

	if (record->type == PERF_RECORD_SAMPLE)
		return take_sample(sampler, record);
	if (record->size >= sizeof(*record) + KERNEL_SAMPLE_RING_TIME_BEFORE_END)
		memcpy(&time_ns,
			(const char *)record + record->size - KERNEL_SAMPLE_RING_TIME_BEFORE_END,
			sizeof(time_ns));
	if (record->type == PERF_RECORD_LOST)
		return emit_lost(sampler, WIRE_LOST_SAMPLES, lost_count(record), time_ns);
	if (record->type == PERF_RECORD_THROTTLE)
		return emit_lost(sampler, WIRE_LOST_THROTTLED, 1, time_ns);
	return 0;
}

static int samples_drain(struct sampler *sampler, struct sampler_cpu *cpu)
{
	const struct perf_event_header *record;
	int r = 0;

	while (r >= 0 && (record = ring_next(&cpu->samples, cpu->samples_end)))
		r = sample_record(sampler, record);
	ring_release(&cpu->samples);
	return r;
}

/* Clear the bell, and stop listening to a ring whose task has ended: it would ring for ever. */
static void bell_answer(struct sampler *sampler)
{
	struct epoll_event ready[BELLS];
	int count = epoll_wait(sampler->bell, ready, BELLS, 0);

	for (int i = 0; i < count; i++)
		if (ready[i].events & (EPOLLHUP | EPOLLERR)) {
			epoll_ctl(sampler->bell, EPOLL_CTL_DEL, ready[i].data.fd, NULL);
			sampler->deaf = true;
		}
}

static int pass(struct sampler *sampler, bool last)
{
	struct wire_round round = {.head = {WIRE_ROUND, sizeof(round)}};
	uint64_t start_ns;
	int r;

	bell_answer(sampler);
	vec_foreach (struct sampler_cpu, cpu, &sampler->cpus)
		cpu->samples_end = ring_head(&cpu->samples);
	start_ns = clock_monotonic_ns();
	r = side_drain(sampler, last ? UINT64_MAX : start_ns);
	vec_foreach (struct sampler_cpu, cpu, &sampler->cpus)
		if (r >= 0)
			r = samples_drain(sampler, cpu);
	sampler->facts.passes++;
	/* A record whose time was taken but that was still being written when this pass looked
	 * comes with the next one: only what is older than the pass before is surely complete. */
	round.time_ns = last ? start_ns : sampler->previous_ns;
	sampler->previous_ns = start_ns;
	if (r >= 0 && round.time_ns)
		r = sampler->sink->take(sampler->sink->context, &round.head);
	return r;
}

int sampler_pass(struct sampler *sampler)
{
	return pass(sampler, false);
}

/* A LOST record comes in front of the next record that finds room, so the losses of a ring that
 * stayed full until the end are in no record.  Since 6.0 the event itself counts them too. */
static uint64_t lost_by_events(const struct sampler *sampler, bool side)
{
	uint64_t sum = 0;

	vec_foreach (const struct sampler_event, event, &sampler->events) {
		uint64_t values[2]; /* the count, and how many were lost */

		if ((event->event == 0) == side &&
			read(event->fd, values, sizeof(values)) == sizeof(values))
			sum += values[1];
	}
	return sum;
}

static int emit_silent_losses(struct sampler *sampler)
{
	uint64_t samples = lost_by_events(sampler, false), records = lost_by_events(sampler, true);
	int r = 0;

	if (samples > sampler->facts.lost_samples)
		r = emit_lost(sampler, WIRE_LOST_SAMPLES, samples - sampler->facts.lost_samples, 0);
	if (r >= 0 && records > sampler->facts.lost_records)
		r = emit_lost(sampler, WIRE_LOST_RECORDS, records - sampler->facts.lost_records, 0);
	return r;
}

int sampler_end(struct sampler *sampler)
{
	struct err ignored;
	int r;

	(void)sampler_switch(sampler, false, &ignored);
	(void)events_control(sampler, PERF_EVENT_IOC_DISABLE, true, &ignored);
	r = pass(sampler, true);
	if (r >= 0 && sampler->with_lost_count)
		r = emit_silent_losses(sampler);
	return r;
}

/* ---- the rest ---- */

int sampler_descriptor(const struct sampler *sampler)
{
	return sampler->bell;
}

unsigned sampler_patience_ms(const struct sampler *sampler)
{
	return sampler->deaf ? PATIENCE_DEAF_MS : PATIENCE_MS;
}

struct sampler_facts sampler_facts(const struct sampler *sampler)
{
	return sampler->facts;
}

void sampler_close(struct sampler *sampler)
{
	if (!sampler)
		return;
	sampler_close_all(sampler);
	vec_done(&sampler->tasks);
	vec_done(&sampler->cpus);
	vec_done(&sampler->events);
	map_done(&sampler->identifiers);
	free(sampler->bounce);
	free(sampler);
}

void sampler_close_pointer(struct sampler **sampler)
{
	sampler_close(*sampler);
	*sampler = NULL;
}
