/* kernel_record.c - see kernel_record.h.
 *
 * The order of a sample's fields is the kernel's (perf_output_sample() in kernel/events/core.c),
 * not that of the bits.  A dump of the stack takes its full size in the record; only its first
 * `dyn_size` bytes were copied, the rest is whatever the ring held before. */
#include "source/kernel_record.h"

#include <stdio.h>
#include <string.h>

#include "wire/build.h"

enum {
	TRAILER_BYTES = 24,	/* pid and tid, time, cpu */
	BRANCH_ENTRY_WORDS = 3, /* from, to, flags */
	BUILD_ID_MAX = 20,
	MAP_SIZE = 8192, /* a path has at most 4096 bytes */
};

#define MISC_BUILD_ID (1 << 14) /* PERF_RECORD_MISC_MMAP_BUILD_ID, Linux 5.12 */

/* The words of a record, each checked against what is left. */
struct words {
	const uint64_t *at;
	uint64_t left;
	bool bad;
};

static uint64_t take_word(struct words *w)
{
	if (!w->left) {
		w->bad = true;
		return 0;
	}
	w->left--;
	return *w->at++;
}

static const uint64_t *take_words(struct words *w, uint64_t count)
{
	const uint64_t *at = w->at;

	if (count > w->left) {
		w->bad = true;
		return NULL;
	}
	w->at += count;
	w->left -= count;
	return at;
}

static void read_chain(struct words *w, struct wire_sample *sample)
{
	uint64_t count = take_word(w);

	sample->chain = take_words(w, count);
	sample->chain_count = sample->chain ? (uint32_t)count : 0;
}

/* LBR in call-stack mode: the newest entry is the call that led into the sampled function, its
 * `from` the call instruction.  A chain holds return addresses, of which readers take one off, so
 * the place of the call plus one says the same. */
static void read_call_branches(
	struct words *w, struct kernel_scratch *scratch, struct wire_sample *sample)
{
	uint64_t entries = take_word(w);
	const uint64_t *entry =
		take_words(w, entries > w->left ? w->left + 1 : entries * BRANCH_ENTRY_WORDS);
	uint32_t used = 0;

	if (!entry)
		return;
	for (uint32_t i = 0; i < sample->chain_count && used < KERNEL_CHAIN_MAX / 2; i++) {
		if (sample->chain[i] == (uint64_t)PERF_CONTEXT_USER)
			break;
		scratch->chain[used++] = sample->chain[i];
	}
	scratch->chain[used++] = (uint64_t)PERF_CONTEXT_USER;
	if (!(sample->flags & WIRE_SAMPLE_KERNEL))
		scratch->chain[used++] = sample->ip;
	for (; entries && used < KERNEL_CHAIN_MAX; entries--, entry += BRANCH_ENTRY_WORDS)
		scratch->chain[used++] = entry[0] + 1;
	sample->chain = scratch->chain;
	sample->chain_count = used;
}

/* The kernel's bits: mispredicted, predicted, in transaction, abort, 16 of cycles, 4 of type, 2 of
 * speculation; the first four are the same in the run. */
struct wire_branch kernel_branch_of(uint64_t from, uint64_t to, uint64_t bits)
{
	/* Speculation follows the type, there and here. */
	return (struct wire_branch){
		.from = from,
		.to = to,
		.cycles = bits >> 4 & 0xffff,
		.flags = (uint32_t)((bits & 0xf) | (bits >> 20 & 0x3f) << WIRE_BRANCH_TYPE_SHIFT),
	};
}

/* Entries of a ring that is not full yet are all zero; they are no branches. */
static void read_branches(
	struct words *w, struct kernel_scratch *scratch, struct wire_sample *sample)
{
	uint64_t entries = take_word(w);

	if (entries > w->left / BRANCH_ENTRY_WORDS)
		w->bad = true;
	for (; entries && !w->bad; entries--) {
		uint64_t from = take_word(w), to = take_word(w), bits = take_word(w);

		if ((from || to) && sample->branch_count < KERNEL_BRANCHES_MAX)
			scratch->branches[sample->branch_count++] =
				kernel_branch_of(from, to, bits);
	}
	sample->branches = scratch->branches;
}

/* What was accessed.  An event that is no memory access says "not available": no operation but the
 * first bit. */
static void read_access(struct words *w, uint64_t sample_type, struct wire_sample *sample)
{
	enum { OPERATIONS = 0x1e };

	if (sample_type & PERF_SAMPLE_WEIGHT)
		sample->weight = take_word(w);
	if (sample_type & PERF_SAMPLE_DATA_SRC) {
		sample->data_source = take_word(w);
		sample->has_access = sample->data_source & OPERATIONS;
	}
}

static void read_registers(struct words *w, struct wire_sample *sample)
{
	uint64_t abi = take_word(w);
	const uint64_t *at =
		abi == PERF_SAMPLE_REGS_ABI_NONE ? NULL : take_words(w, KERNEL_REGISTERS);

	/* A 32-bit program on a 64-bit kernel has other registers and other tables. */
	if (!at || abi != PERF_SAMPLE_REGS_ABI_64)
		return;
	sample->user.valid = true;
	sample->user.fp = at[0];
#if defined(__aarch64__)
	sample->machine = WIRE_AARCH64;
	sample->user.lr = at[1];
	sample->user.sp = at[2];
	sample->user.ip = at[3];
#else
	sample->machine = WIRE_X86_64;
	sample->user.sp = at[1];
	sample->user.ip = at[2];
#endif
}

static void read_stack(struct words *w, struct wire_sample *sample)
{
	uint64_t bytes = take_word(w), copied;
	const uint64_t *at;

	if (!bytes) /* no user stack: a kernel thread */
		return;
	at = take_words(w, bytes / 8);
	copied = take_word(w);
	if (w->bad || copied > bytes)
		return;
	sample->stack = at;
	sample->stack_bytes = (uint32_t)copied;
	sample->stack_asked = (uint32_t)bytes;
}

uint32_t kernel_flags_of(uint16_t misc)
{
	switch (misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_KERNEL:
	case PERF_RECORD_MISC_HYPERVISOR:
		return WIRE_SAMPLE_KERNEL;
	case PERF_RECORD_MISC_GUEST_KERNEL:
		return WIRE_SAMPLE_KERNEL | WIRE_SAMPLE_GUEST;
	case PERF_RECORD_MISC_GUEST_USER:
		return WIRE_SAMPLE_GUEST;
	default:
		return 0;
	}
}

bool kernel_sample_read(const struct perf_event_header *record, uint64_t sample_type,
	struct kernel_scratch *scratch, struct wire_sample *ret_sample, uint64_t *ret_identifier)
{
	struct words w = {
		.at = (const uint64_t *)(const void *)(record + 1),
		.left = (record->size - sizeof(*record)) / 8,
	};
	struct wire_sample sample = {
		.flags = kernel_flags_of(record->misc), .machine = WIRE_MACHINE_OTHER};
	uint64_t identifier = take_word(&w), task;

	sample.ip = take_word(&w);
	task = take_word(&w);
	sample.pid = (uint32_t)task;
	sample.tid = (uint32_t)(task >> 32);
	sample.time_ns = take_word(&w);
	if (sample_type & PERF_SAMPLE_ADDR)
		sample.addr = take_word(&w);
	sample.cpu = (uint32_t)take_word(&w);
	if (sample_type & PERF_SAMPLE_PERIOD)
		sample.period = take_word(&w);
	if (sample_type & PERF_SAMPLE_CALLCHAIN)
		read_chain(&w, &sample);
	if (sample_type & PERF_SAMPLE_BRANCH_STACK)
		(scratch->as_branches ? read_branches : read_call_branches)(&w, scratch, &sample);
	if (sample_type & PERF_SAMPLE_REGS_USER)
		read_registers(&w, &sample);
	if (sample_type & PERF_SAMPLE_STACK_USER)
		read_stack(&w, &sample);
	read_access(&w, sample_type, &sample);
	if (w.bad)
		return false;
	*ret_sample = sample;
	*ret_identifier = identifier;
	return true;
}

/* A text in a record ends at its NUL, or where the trailer starts. */
static void text_copy(char *to, size_t capacity, const char *from, const char *end)
{
	size_t len = from < end ? strnlen(from, (size_t)(end - from)) : 0;

	if (len >= capacity)
		len = capacity - 1;
	memcpy(to, from, len);
	to[len] = '\0';
}

struct mmap2_body {
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	union {
		struct {
			uint32_t major, minor;
			uint64_t inode, generation;
		};
		struct {
			uint8_t build_id_bytes, reserved[3];
			uint8_t build_id[BUILD_ID_MAX];
		};
	};
	uint32_t protection, flags;
};

static void hex_of(const uint8_t *bytes, unsigned count, char *ret_text)
{
	for (unsigned i = 0; i < count && i < BUILD_ID_MAX; i++)
		sprintf(ret_text + 2 * (size_t)i, "%02x", bytes[i]);
}

/* The space behind `record` up to its trailer, NULL when it is too short for `fixed` bytes. */
static const char *body_of(
	const struct perf_event_header *record, size_t fixed, const char **ret_end)
{
	if (record->size < sizeof(*record) + fixed + TRAILER_BYTES)
		return NULL;
	*ret_end = (const char *)record + record->size - TRAILER_BYTES;
	return (const char *)(record + 1);
}

static uint64_t time_of(const struct perf_event_header *record)
{
	uint64_t time;

	memcpy(&time, (const char *)record + record->size - KERNEL_TIME_BEFORE_END, sizeof(time));
	return time;
}

static int emit_map(const struct perf_event_header *record, const struct wire_sink *sink)
{
	union {
		struct wire_map map;
		unsigned char bytes[MAP_SIZE];
	} space;
	struct mmap2_body body;
	char path[4096 + 1], build_id[2 * BUILD_ID_MAX + 1] = "";
	const char *end, *at = body_of(record, sizeof(body), &end);
	struct wire_builder b = wire_begin(&space, sizeof(space), WIRE_MAP, sizeof(space.map));

	if (!at)
		return 0;
	memcpy(&body, at, sizeof(body));
	text_copy(path, sizeof(path), at + sizeof(body), end);
	space.map.pid = body.pid;
	space.map.tid = body.tid;
	space.map.time_ns = time_of(record);
	space.map.start = body.addr;
	space.map.len = body.len;
	space.map.file_offset = body.pgoff;
	if (record->misc & MISC_BUILD_ID)
		hex_of(body.build_id, body.build_id_bytes, build_id);
	else
		space.map.inode = body.inode;
	wire_add_text(&b, &space.map.path, path);
	wire_add_text(&b, &space.map.build_id, build_id);
	return sink->take(sink->context, wire_end(&b));
}

static int emit_name(const struct perf_event_header *record, const struct wire_sink *sink)
{
	union {
		struct wire_task task;
		unsigned char bytes[sizeof(struct wire_task) + 64];
	} space;
	uint32_t ids[2];
	char name[32];
	const char *end, *at = body_of(record, sizeof(ids), &end);
	struct wire_builder b = wire_begin(&space, sizeof(space), WIRE_TASK, sizeof(space.task));

	if (!at)
		return 0;
	memcpy(ids, at, sizeof(ids));
	text_copy(name, sizeof(name), at + sizeof(ids), end);
	space.task.kind =
		record->misc & PERF_RECORD_MISC_COMM_EXEC ? WIRE_TASK_EXEC : WIRE_TASK_NAME;
	space.task.pid = ids[0];
	space.task.tid = ids[1];
	space.task.time_ns = time_of(record);
	wire_add_text(&b, &space.task.name, name);
	return sink->take(sink->context, wire_end(&b));
}

static int emit_life(const struct perf_event_header *record, const struct wire_sink *sink)
{
	struct wire_task task = {
		.head = {WIRE_TASK, sizeof(task)},
		.kind = record->type == PERF_RECORD_FORK ? WIRE_TASK_FORK : WIRE_TASK_EXIT,
	};
	uint32_t ids[4];
	const char *end, *at = body_of(record, sizeof(ids), &end);

	if (!at)
		return 0;
	memcpy(ids, at, sizeof(ids));
	task.pid = ids[0];
	task.parent_pid = ids[1];
	task.tid = ids[2];
	task.parent_tid = ids[3];
	task.time_ns = time_of(record);
	return sink->take(sink->context, &task.head);
}

int kernel_record_emit(const struct perf_event_header *record, const struct wire_sink *sink)
{
	switch (record->type) {
	case PERF_RECORD_MMAP2:
		return emit_map(record, sink);
	case PERF_RECORD_COMM:
		return emit_name(record, sink);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return emit_life(record, sink);
	default:
		return 1;
	}
}
