/* probe_sample.c - sample ourselves for a few milliseconds and look at what really came.
 *
 * The ring is never given back to the kernel (data_tail stays 0), so records never wrap and are
 * read in place; when it is full the kernel stops writing and what is there is enough.
 * The spin goes a few frames deep in our own code, which is built with frame pointers, and makes
 * system calls for half of the time, so that a kernel chain can be seen. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../perf/event_fd.h"
#include "base/clock.h"
#include "base/cursor.h"
#include "base/sorted.h"
#include "probe_parts.h"

enum {
	RING_PAGES = 64,
	STACK_COPY = 2048,
	SPIN_NS = 6000000,
	TIMES = 256,
	BRANCH_ENTRY_BYTES = 24,
};

/* Instruction pointer, stack pointer, frame pointer (arch/.../uapi/asm/perf_regs.h); on arm64 the
 * link register too. */
#if defined(__x86_64__)
enum { REGISTERS = 3 };
static const uint64_t register_mask = 7 << 6;
#else
enum { REGISTERS = 4 };
static const uint64_t register_mask = UINT64_C(0xf) << 29;
#endif

static __attribute__((noinline)) void spin_leaf(unsigned steps)
{
	for (unsigned i = 0; i < steps; i++)
		__asm__ volatile("");
}

/* Recursion that is no tail call: each level is a frame of its own. */
static __attribute__((noinline)) void spin_deep(unsigned depth)
{
	if (depth)
		spin_deep(depth - 1);
	else
		spin_leaf(20000);
	__asm__ volatile("");
}

/* System calls only where the kernel is sampled: a timer that fires in an excluded kernel gives no
 * sample, and the gaps would look longer than they are. */
static void spin(bool kernel)
{
	uint64_t end = clock_monotonic_ns() + SPIN_NS;

	while (clock_monotonic_ns() < end) {
		spin_deep(6);
		for (unsigned i = 0; kernel && i < 100; i++)
			syscall(SYS_getppid);
	}
}

static int ask_open(const struct sample_ask *ask)
{
	struct perf_event_attr attr = {
		.type = ask->type,
		.config = ask->config,
		.sample_period = ask->period,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
			       PERF_SAMPLE_STACK_USER,
		.disabled = 1,
		.exclude_kernel = !ask->kernel,
		.exclude_hv = 1,
		.sample_regs_user = register_mask,
		.sample_stack_user = STACK_COPY,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	if (ask->branches) {
		attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
	}
	return event_fd_open(&attr, 0, -1, -1);
}

static void chain_read(struct cursor *c, struct sample_trial *trial)
{
	uint64_t count = cursor_u64(c);
	unsigned frames[2] = {0, 0};
	bool user = false;

	for (uint64_t i = 0; i < count && cursor_left(c); i++) {
		uint64_t addr = cursor_u64(c);

		if (addr == (uint64_t)PERF_CONTEXT_USER)
			user = true;
		else if (addr < (uint64_t)PERF_CONTEXT_MAX)
			frames[user]++;
	}
	trial->with_kernel += frames[0] > 0;
	if (frames[0] > trial->kernel_frames)
		trial->kernel_frames = frames[0];
	if (frames[1] > trial->user_frames)
		trial->user_frames = frames[1];
}

static void sample_read(struct cursor c, bool branches, struct sample_trial *trial, uint64_t *time)
{
	uint64_t bytes;

	*time = cursor_u64(&c);
	chain_read(&c, trial);
	if (branches) {
		uint64_t entries = cursor_u64(&c);

		trial->with_branches += entries > 0;
		cursor_skip(
			&c, entries < cursor_left(&c) ? entries * BRANCH_ENTRY_BYTES : UINT64_MAX);
	}
	if (cursor_u64(&c) != PERF_SAMPLE_REGS_ABI_NONE) {
		trial->with_registers++;
		cursor_skip(&c, REGISTERS * sizeof(uint64_t));
	}
	bytes = cursor_u64(&c);
	if (bytes) {
		cursor_skip(&c, bytes);
		bytes = cursor_u64(&c); /* what the kernel could really copy */
		if (bytes > trial->stack_bytes && bytes <= STACK_COPY)
			trial->stack_bytes = bytes;
	}
}

static uint64_t median_gap(uint64_t *times, unsigned count)
{
	if (count < 2)
		return 0;
	for (unsigned i = 0; i + 1 < count; i++)
		times[i] = times[i + 1] - times[i];
	qsort(times, count - 1, sizeof(*times), sorted_compare);
	return times[(count - 1) / 2];
}

static void ring_read(
	const unsigned char *ring, size_t page, bool branches, struct sample_trial *trial)
{
	const struct perf_event_mmap_page *head = (const void *)ring;
	uint64_t end = __atomic_load_n(&head->data_head, __ATOMIC_ACQUIRE), times[TIMES];
	unsigned count = 0;

	if (end > RING_PAGES * page)
		end = RING_PAGES * page;
	for (uint64_t at = 0; at + sizeof(struct perf_event_header) <= end;) {
		struct perf_event_header record;
		uint64_t time;

		memcpy(&record, ring + page + at, sizeof(record));
		if (record.size < sizeof(record) || record.size > end - at)
			break;
		if (record.type == PERF_RECORD_LOST)
			trial->lost++;
		if (record.type == PERF_RECORD_SAMPLE) {
			trial->samples++;
			sample_read(cursor_of(ring + page + at + sizeof(record),
					    record.size - sizeof(record)),
				branches, trial, &time);
			if (count < TIMES)
				times[count++] = time;
		}
		at += record.size;
	}
	trial->gap_ns = median_gap(times, count);
}

void sample_try(const struct sample_ask *ask, struct sample_trial *ret_trial)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (RING_PAGES + 1) * page;
	struct sample_trial trial = {0};
	int fd = ask_open(ask);
	void *ring;

	if (fd < 0) {
		*ret_trial = (struct sample_trial){.open_code = -fd};
		return;
	}
	ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED)
		trial.map_code = errno;
	else {
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		spin(ask->kernel);
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		ring_read(ring, page, ask->branches, &trial);
		munmap(ring, bytes);
	}
	close(fd);
	*ret_trial = trial;
}
