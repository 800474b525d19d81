/* sampler_open.c - the events and rings of a sampler.
 *
 * On each CPU and for each task: one dummy event that records what happens to tasks and mappings,
 * and one event per spec that samples.  The first of each kind on a CPU owns a ring, the others
 * write into it.  An event that is inherited must be bound to a CPU to have a ring at all.
 *
 * A stack copy takes its full size in the ring although the kernel copies only what is there, so
 * it costs space and not time; the size follows from the ring.  How large a ring may be is known
 * only when it is mapped, and the copy's size is fixed when the event is opened: so everything is
 * opened anew with half the size until it fits. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "event_fd.h"
#include "event_reason.h"
#include "sampler_event.h"
#include "sampler_parts.h"
#include "source/emit.h"
#include "source/refusal.h"

enum {
	RING_TOTAL_BYTES = 64 << 20, /* of all CPUs together */
	RING_MOST_BYTES = 16 << 20,
	RING_PLAIN_BYTES = 1 << 20, /* samples without a copy of the stack take about 200 bytes */
	RING_LEAST_BYTES = 64 << 10,
	SIDE_MOST_BYTES = 1 << 20,
	SIDE_LEAST_BYTES = 32 << 10,
	WAKE_PART = 4,		    /* wake us when a quarter is full */
	DUMP_MOST_BYTES = 60 << 10, /* a record has at most 65,535 bytes */
	DUMP_LEAST_BYTES = 8 << 10,
	DUMP_EACH_BYTES = 16 << 10, /* see decision 004 */
	REST_BYTES = 1536,	    /* of a record beside the copy: a chain of 127, registers */
	FIT_LEAST = 64,		    /* samples that a ring holds at least */
	FIT_PER_SECOND = 20,	    /* or those of 1/20 s, as long as we may be kept off the CPU */
};

#define FORMAT_LOST (1U << 4) /* PERF_FORMAT_LOST, Linux 6.0 */

uint32_t sampler_dump_bytes(uint64_t ring_bytes, uint64_t rate_hz)
{
	uint64_t fit = rate_hz / FIT_PER_SECOND > FIT_LEAST ? rate_hz / FIT_PER_SECOND : FIT_LEAST;
	uint64_t bytes = ring_bytes / fit;

	bytes = bytes > REST_BYTES ? (bytes - REST_BYTES) & ~UINT64_C(7) : 0;
	if (bytes > DUMP_MOST_BYTES)
		bytes = DUMP_MOST_BYTES;
	return bytes < DUMP_LEAST_BYTES ? DUMP_LEAST_BYTES : (uint32_t)bytes;
}

static bool stack_is_copied(const struct sampler *sampler)
{
	return sampler->options.stack == SAMPLER_STACK_AUTO ||
	       sampler->options.stack == SAMPLER_STACK_DUMP;
}

/* An event whose every one is a sample comes in bursts: more of them fit. */
static uint32_t dump_bytes_of(const struct sampler *sampler, const struct event_spec *spec)
{
	uint32_t bytes = sampler->facts.dump_bytes;

	return spec->flags & WIRE_EVENT_EACH && bytes > DUMP_EACH_BYTES ? DUMP_EACH_BYTES : bytes;
}

static uint64_t side_bytes(uint64_t ring_bytes)
{
	uint64_t bytes = ring_bytes / 4;

	if (bytes > SIDE_MOST_BYTES)
		bytes = SIDE_MOST_BYTES;
	return bytes < SIDE_LEAST_BYTES ? SIDE_LEAST_BYTES : bytes;
}

static uint64_t ring_bytes_wanted(const struct sampler *sampler)
{
	uint64_t most = stack_is_copied(sampler) ? RING_MOST_BYTES : RING_PLAIN_BYTES;
	uint64_t bytes = RING_LEAST_BYTES;

	while (bytes * 2 <= most && bytes * 2 * sampler->cpus.count <= RING_TOTAL_BYTES)
		bytes *= 2;
	return bytes;
}

/* ---- one event ---- */

static void attr_common(const struct sampler *sampler, struct perf_event_attr *attr)
{
	attr->disabled = 1;
	attr->inherit = sampler->options.mode != COUNTERS_MACHINE;
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->watermark = 1;
	attr->read_format = sampler->with_lost_count ? FORMAT_LOST : 0;
}

/* The dummy counts nothing, so even an unprivileged user may have it. */
static int side_open(struct sampler *sampler, pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.wakeup_watermark = (uint32_t)(side_bytes(sampler->facts.ring_bytes) / WAKE_PART),
		.enable_on_exec = sampler->options.mode == COUNTERS_CHILDREN,
	};
	int fd;

	attr_common(sampler, &attr);
	attr.build_id = sampler->with_build_id;
	fd = event_fd_open(&attr, pid, cpu, -1);
	if (fd == -EINVAL && sampler->with_build_id) { /* before 5.12 */
		sampler->with_build_id = false;
		return side_open(sampler, pid, cpu);
	}
	if (fd == -EINVAL && sampler->with_lost_count) { /* before 6.0 */
		sampler->with_lost_count = false;
		sampler->with_build_id = true;
		return side_open(sampler, pid, cpu);
	}
	return fd;
}

static void attr_stack(
	const struct sampler *sampler, const struct event_spec *spec, struct perf_event_attr *attr)
{
	enum sampler_stack stack = sampler->options.stack;

	attr->sample_type = sampler->sample_type;
	if (stack_is_copied(sampler)) {
		attr->sample_regs_user = KERNEL_REGISTER_MASK;
		attr->sample_stack_user = dump_bytes_of(sampler, spec);
	}
	if (stack == SAMPLER_STACK_BRANCHES)
		attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK;
	if (sampler->options.branches)
		attr->branch_sample_type =
			sampler->options.branches |
			(sampler->facts.branch_types ? PERF_SAMPLE_BRANCH_TYPE_SAVE : 0);
	attr->exclude_callchain_kernel = attr->exclude_kernel;
	attr->exclude_callchain_user =
		stack == SAMPLER_STACK_DUMP || stack == SAMPLER_STACK_BRANCHES;
}

static int sample_open_once(
	struct sampler *sampler, const struct event_spec *spec, pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.type = spec->type,
		.config = spec->config,
		.config1 = spec->config1,
		.config2 = spec->config2,
		.wakeup_watermark = (uint32_t)(sampler->facts.ring_bytes / WAKE_PART),
		.enable_on_exec =
			sampler->options.mode == COUNTERS_CHILDREN && !sampler->options.delayed,
		.pinned = spec->pinned,
		.exclude_user = spec->exclude_user,
		.exclude_kernel = spec->exclude_kernel,
		.exclude_hv = spec->exclude_hypervisor,
		.exclude_host = spec->exclude_host,
		.exclude_guest = spec->exclude_guest,
		.exclude_idle =
			sampler->options.mode == COUNTERS_MACHINE && sampler_event_is_clock(spec),
		.precise_ip = spec->precise & 3,
	};

	sampler_event_rate(spec, &sampler->options, &attr);
	attr_common(sampler, &attr);
	attr_stack(sampler, spec, &attr);
	return event_fd_open(&attr, pid, cpu, -1);
}

static int sample_open(struct sampler *sampler, const struct event_spec *spec, pid_t pid, int cpu)
{
	int fd = sample_open_once(sampler, spec, pid, cpu);

	/* A PMU that records branches and not their types. */
	if ((fd == -EINVAL || fd == -EOPNOTSUPP) && sampler->facts.branch_types) {
		int plain;

		sampler->facts.branch_types = false;
		plain = sample_open_once(sampler, spec, pid, cpu);
		sampler->facts.branch_types = plain < 0;
		fd = plain < 0 ? fd : plain;
	}
	return fd;
}

static void event_keep(struct sampler *sampler, int fd, uint32_t cpu, uint32_t event)
{
	uint64_t identifier;

	vec_push(&sampler->events, (struct sampler_event){fd, cpu, event});
	if (event && ioctl(fd, PERF_EVENT_IOC_ID, &identifier) == 0)
		map_put(&sampler->identifiers, &identifier, sizeof(identifier), event);
}

void sampler_hold(struct sampler *sampler, pid_t pid)
{
	if (sampler->unswapped[1] < 0)
		sampler->unswapped[1] = event_fd_forbid_swap(pid);
}

/* ---- all events ---- */

/* One event on all tasks and CPUs.  A thread that ended while we came is left out. */
static int spec_open_places(struct sampler *sampler, uint32_t event)
{
	const struct event_spec *spec = event ? &sampler->list->specs.at[event - 1] : NULL;
	uint32_t before = sampler->events.count;

	for (uint32_t c = 0; c < sampler->cpus.count; c++) {
		int cpu = sampler->cpus.at[c].cpu;

		if (spec && spec->cpus && !event_place_cpu_listed(spec->cpus, cpu))
			continue;
		vec_foreach (const struct event_place, task, &sampler->tasks) {
			int fd = spec ? sample_open(sampler, spec, task->pid, cpu)
				      : side_open(sampler, task->pid, cpu);

			if (fd == -ESRCH && sampler->options.mode == COUNTERS_PROCESS)
				continue;
			if (fd < 0)
				return fd;
			event_keep(sampler, fd, c, event);
		}
	}
	return sampler->events.count > before ? 0 : -ESRCH;
}

static void events_forget(struct sampler *sampler, uint32_t from)
{
	while (sampler->events.count > from)
		close(sampler->events.at[--sampler->events.count].fd);
}

static int open_failed(const struct sampler *sampler, int code, struct err *err)
{
	if (code == EMFILE || code == ENFILE) {
		err_set(err, ERR_UNAVAILABLE, code,
			"%u tasks on %u CPUs need more open files than allowed",
			sampler->tasks.count, sampler->cpus.count);
		err_hint(err, "raise the limit with `ulimit -n`");
		return -code;
	}
	if (code == ESRCH) {
		err_set(err, ERR_TARGET, code, "process %d ended before it could be sampled",
			(int)sampler->options.id);
		err_hint(err, "`ps -e` lists processes");
		return -code;
	}
	return 0;
}

static int side_failed(const struct sampler *sampler, int code, struct err *err)
{
	struct refusal_facts facts;

	if (open_failed(sampler, code, err) < 0)
		return -code;
	if (code == EACCES && sampler->options.mode == COUNTERS_PROCESS) {
		err_set(err, ERR_UNAVAILABLE, code, "process %d belongs to another user",
			(int)sampler->options.id);
		err_hint(err, "run as its user or as root");
		return -code;
	}
	refusal_facts_read(&facts);
	return refusal_explain(&facts,
		sampler->options.mode == COUNTERS_MACHINE ? REFUSED_MACHINE : REFUSED_SOFTWARE,
		code, err);
}

/* Where the kernel side is not permitted, the user side is sampled and the name says so. */
static int spec_open(struct sampler *sampler, uint32_t event, struct err *err)
{
	struct event_spec *spec = &sampler->list->specs.at[event - 1];
	uint32_t before = sampler->events.count;
	int r = spec_open_places(sampler, event);

	if ((r == -EACCES || r == -EPERM) && sampler->options.mode != COUNTERS_MACHINE &&
		sampler_event_narrow(sampler->list, spec)) {
		events_forget(sampler, before);
		sampler->facts.narrowed = true;
		r = spec_open_places(sampler, event);
	}
	if (r >= 0 || open_failed(sampler, -r, err) < 0)
		return r;
	return sampler_event_refused(sampler->list, spec, -r, &sampler->options, err);
}

static int events_open(struct sampler *sampler, struct err *err)
{
	int r = spec_open_places(sampler, 0);

	if (r < 0)
		return side_failed(sampler, -r, err);
	for (uint32_t i = 1; r >= 0 && i <= sampler->list->specs.count; i++)
		r = spec_open(sampler, i, err);
	return r;
}

/* ---- rings ---- */

static int ring_attach(struct sampler *sampler, const struct sampler_event *event)
{
	struct sampler_cpu *cpu = &sampler->cpus.at[event->cpu];
	struct ring *ring = event->event ? &cpu->samples : &cpu->side;
	int *owner = event->event ? &cpu->samples_owner : &cpu->side_owner;
	uint64_t bytes = sampler->facts.ring_bytes;
	struct epoll_event listen = {.events = EPOLLIN, .data.fd = event->fd};
	int r;

	if (ring->page)
		return ioctl(event->fd, PERF_EVENT_IOC_SET_OUTPUT, *owner) < 0 ? -errno : 0;
	r = ring_open(ring, event->fd, event->event ? bytes : side_bytes(bytes), sampler->bounce);
	if (r < 0)
		return r;
	*owner = event->fd;
	return epoll_ctl(sampler->bell, EPOLL_CTL_ADD, event->fd, &listen) < 0 ? -errno : 0;
}

static int rings_open(struct sampler *sampler)
{
	int r = 0;

	sampler->bell = epoll_create1(EPOLL_CLOEXEC);
	if (sampler->bell < 0)
		return -errno;
	vec_foreach (const struct sampler_event, event, &sampler->events) {
		r = ring_attach(sampler, event);
		if (r < 0)
			break;
	}
	return r;
}

void sampler_close_all(struct sampler *sampler)
{
	vec_foreach (struct sampler_cpu, cpu, &sampler->cpus) {
		ring_close(&cpu->samples);
		ring_close(&cpu->side);
	}
	events_forget(sampler, 0);
	io_close_pointer(&sampler->unswapped[0]);
	io_close_pointer(&sampler->unswapped[1]);
	io_close_pointer(&sampler->bell);
}

/* ---- all ---- */

static uint64_t sample_type_of(const struct sampler_options *options)
{
	enum sampler_stack stack = options->stack;
	uint64_t type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;

	/* With it, each fault, switch or tracepoint is a sample whatever the period is. */
	if (options->period < 2)
		type |= PERF_SAMPLE_PERIOD;
	if (stack != SAMPLER_STACK_NONE)
		type |= PERF_SAMPLE_CALLCHAIN;
	if (stack == SAMPLER_STACK_AUTO || stack == SAMPLER_STACK_DUMP)
		type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	if (stack == SAMPLER_STACK_BRANCHES || options->branches)
		type |= PERF_SAMPLE_BRANCH_STACK;
	if (options->accesses)
		type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC;
	return type;
}

static int places_find(struct sampler *sampler, struct err *err)
{
	event_place_vec cpus = {0};
	int r = event_place_add_cpus(&cpus, err);

	vec_foreach (const struct event_place, place, &cpus)
		vec_push(&sampler->cpus, (struct sampler_cpu){.cpu = place->cpu});
	vec_done(&cpus);
	if (r < 0)
		return r;
	if (sampler->options.mode == COUNTERS_PROCESS)
		r = event_place_add_threads(&sampler->tasks, sampler->options.id, err);
	else
		vec_push(&sampler->tasks,
			(struct event_place){sampler->options.mode == COUNTERS_MACHINE
						     ? -1
						     : sampler->options.id,
				-1});
	event_place_allow_descriptors((uint64_t)sampler->tasks.count * sampler->cpus.count *
				      (sampler->list->specs.count + 1));
	return r;
}

/* Once with rings of `ring_bytes`; -EPERM without a word when they may not be so large. */
static int sampler_try(struct sampler *sampler, uint64_t ring_bytes, struct err *err)
{
	struct refusal_facts facts;
	int r;

	sampler->facts.ring_bytes = ring_bytes;
	sampler->facts.dump_bytes =
		stack_is_copied(sampler) ? sampler_dump_bytes(ring_bytes, sampler->options.rate_hz)
					 : 0;
	if (sampler->options.mode != COUNTERS_MACHINE)
		sampler->unswapped[0] = event_fd_forbid_swap(sampler->options.id);
	r = events_open(sampler, err);
	if (r < 0)
		return r;
	r = rings_open(sampler);
	if (r >= 0)
		return 0;
	sampler_close_all(sampler);
	if (r == -EPERM && ring_bytes > RING_LEAST_BYTES)
		return 1;
	refusal_facts_read(&facts);
	return refusal_explain(&facts, REFUSED_RING, -r, err);
}

/* What -c or -F says, or, when each one is a sample, a period of 1. */
static void rate_settle(struct sampler *sampler)
{
	bool each = true;

	vec_foreach (const struct event_spec, spec, &sampler->list->specs)
		each &= (spec->flags & WIRE_EVENT_EACH) != 0;
	sampler->facts.period = each ? 1 : sampler->options.period;
	sampler->facts.rate_hz = sampler->facts.period ? 0 : sampler->options.rate_hz;
}

int sampler_open_all(struct sampler *sampler, struct err *err)
{
	int r = sampler_event_check(sampler->list, &sampler->options, err);
	uint64_t bytes;

	sampler->sample_type = sample_type_of(&sampler->options);
	sampler->scratch.as_branches = sampler->options.branches != 0;
	sampler->facts.branch_types = sampler->options.branches != 0;
	if (r >= 0)
		r = places_find(sampler, err);
	if (r < 0)
		return r;
	bytes = sampler->facts.ring_wanted_bytes = ring_bytes_wanted(sampler);
	sampler->facts.cpus = sampler->cpus.count;
	sampler->facts.clock = sampler_event_is_clock(&sampler->list->specs.at[0]);
	rate_settle(sampler);
	while ((r = sampler_try(sampler, bytes, err)) > 0)
		bytes /= 2;
	vec_foreach (const struct event_spec, spec, &sampler->list->specs)
		sampler->facts.kernel |= !spec->exclude_kernel;
	return r;
}
