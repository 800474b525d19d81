/* import_perf_sample.c - a SAMPLE record taken apart.
 *
 * Which fields it has is the sample_type of its event; their order is the kernel's
 * (perf_output_sample() in kernel/events/core.c; the comment in the uapi header has AUX too early).
 * So the event must be known first: its id stands at the very front (IDENTIFIER, Linux 3.12), or at
 * a place that all events of the file share.  Fields that nobody needs are stepped over by size.  A
 * bit newer than those here adds fields at the end, where it does no harm. */
#include <linux/perf_event.h>

#include "import_perf_data.h"
#include "source/kernel_record.h"

enum {
	BRANCH_HW_INDEX = 1 << 17, /* Linux 5.7 */
	BRANCH_COUNTERS = 1 << 19, /* Linux 6.8: one u64 per entry behind them */
	READ_LOST = 1 << 4,	   /* Linux 6.0 */
	ABI_32 = 1,
	FLAG_INHERIT = 1 << 1, /* of perf_event_attr */
};

static unsigned bits_count(uint64_t bits)
{
	return (unsigned)__builtin_popcountll(bits);
}

/* One of the first fields, which have 8 bytes each; `before` are those that come before it. */
static bool field_at(const char *record, uint64_t before, uint64_t *ret_value)
{
	size_t at = RECORD_HEAD + sizeof(uint64_t) * bits_count(before);

	if (record_head(record).size < at + sizeof(uint64_t))
		return false;
	memcpy(ret_value, record + at, sizeof(uint64_t));
	return true;
}

const struct recording_event *sample_event(const struct recording *rec, const char *record)
{
	enum { BEFORE = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR };
	uint64_t type, id = 0;

	if (rec->events.count < 2)
		return rec->events.count ? rec->events.at : NULL;
	type = rec->events.at[0].sample_type;
	if (type & PERF_SAMPLE_IDENTIFIER)
		return field_at(record, 0, &id) ? recording_event_of(rec, id) : NULL;
	if (!(type & PERF_SAMPLE_ID))
		return NULL;
	return field_at(record, type & BEFORE, &id) ? recording_event_of(rec, id) : NULL;
}

uint64_t sample_time(const struct recording_event *event, const char *record)
{
	enum { BEFORE = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID };
	uint64_t time_ns = 0;

	if (event->sample_type & PERF_SAMPLE_TIME)
		field_at(record, event->sample_type & BEFORE, &time_ns);
	return time_ns;
}

/* Counts of all events of a group: value, id and what else is not needed. */
struct group_read {
	const uint64_t *at;
	unsigned words; /* of each */
	uint64_t count;
};

/* The counts of the event, or of all events of its group; nothing in `ret_read` without ids. */
static void take_read(struct cursor *in, uint64_t format, struct group_read *ret_read)
{
	unsigned each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & READ_LOST);
	unsigned times = bits_count(
		format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING));
	bool group = format & PERF_FORMAT_GROUP;
	uint64_t count = group ? cursor_u64(in) : 1;
	const char *counts;

	if (count > RECORD_LARGEST)
		cursor_break(in);
	cursor_take(in, sizeof(uint64_t) * times);
	counts = cursor_take(in, sizeof(uint64_t) * count * each);
	if (counts && group && format & PERF_FORMAT_ID)
		*ret_read = (struct group_read){(const uint64_t *)counts, each, count};
}

static void take_chain(struct cursor *in, struct wire_sample *sample)
{
	uint64_t count = cursor_u64(in);

	if (count > RECORD_LARGEST)
		cursor_break(in);
	sample->chain = cursor_take(in, count * sizeof(uint64_t));
	sample->chain_count = sample->chain ? (uint32_t)count : 0;
}

/* Entries of a ring that is not full yet are all zero; they are no branches. */
static void take_branches(struct recording *rec, const struct recording_event *event,
	struct cursor *in, struct wire_sample *sample)
{
	uint64_t count = cursor_u64(in);

	if (event->branch_type & BRANCH_HW_INDEX)
		cursor_u64(in);
	for (uint64_t i = 0; i < count && !in->broken; i++) {
		uint64_t from = cursor_u64(in), to = cursor_u64(in), bits = cursor_u64(in);

		if (!in->broken && (from || to))
			rec->branches[sample->branch_count++] = kernel_branch_of(from, to, bits);
	}
	if (event->branch_type & BRANCH_COUNTERS && !in->broken)
		cursor_take(in, count * sizeof(uint64_t));
	sample->branches = rec->branches;
}

/* What ARCH says; a cut off file has no features, but arm64 alone has a register 32 and x86-64
 * alone has 16 to 23 without 24 and up. */
static enum wire_machine machine_of(const struct recording *rec, uint64_t mask)
{
	if (rec->machine_known)
		return rec->machine;
	if (mask >> 32 & 1)
		return WIRE_AARCH64;
	return mask >> 16 & 0xff && !(mask >> 24) ? WIRE_X86_64 : WIRE_MACHINE_OTHER;
}

/* Numbers of the registers in the mask: arch/.../uapi/asm/perf_regs.h. */
static uint64_t *register_of(
	struct wire_registers *user, enum wire_machine machine, unsigned number)
{
	static const unsigned char numbers[][4] = {
		[WIRE_X86_64] = {8, 7, 6, 255},
		[WIRE_AARCH64] = {32, 31, 29, 30},
		[WIRE_MACHINE_OTHER] = {15, 13, 11, 14}, /* armv7 */
	};
	uint64_t *const places[] = {&user->ip, &user->sp, &user->fp, &user->lr};

	for (unsigned i = 0; i < 4; i++)
		if (numbers[machine][i] == number)
			return places[i];
	return NULL;
}

static void take_user_registers(struct recording *rec, const struct recording_event *event,
	struct cursor *in, struct wire_sample *sample)
{
	uint64_t mask = event->regs_user, abi = cursor_u64(in);

	if (!abi) /* a kernel thread */
		return;
	for (unsigned number = 0; number < 64; number++) {
		uint64_t value, *place;

		if (!(mask >> number & 1))
			continue;
		value = cursor_u64(in);
		place = register_of(&sample->user, sample->machine, number);
		if (place)
			*place = value;
	}
	sample->user.valid = sample->machine == WIRE_MACHINE_OTHER || abi != ABI_32;
	rec->report->skipped[IMPORT_STACK_32] += !in->broken && !sample->user.valid;
}

static void take_user_stack(struct cursor *in, struct wire_sample *sample)
{
	uint64_t size = cursor_u64(in), used;

	if (!size)
		return;
	sample->stack = cursor_take(in, size);
	used = cursor_u64(in);
	if (in->broken)
		return;
	sample->stack_asked = (uint32_t)size;
	sample->stack_bytes = (uint32_t)(used < size ? used : size);
}

/* Fields up to PERIOD, 8 bytes each. */
static void take_head(uint64_t type, struct cursor *in, struct wire_sample *sample)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		cursor_u64(in);
	if (type & PERF_SAMPLE_IP)
		sample->ip = cursor_u64(in);
	if (type & PERF_SAMPLE_TID) {
		sample->pid = cursor_u32(in);
		sample->tid = cursor_u32(in);
	}
	if (type & PERF_SAMPLE_TIME)
		sample->time_ns = cursor_u64(in);
	if (type & PERF_SAMPLE_ADDR)
		sample->addr = cursor_u64(in);
	if (type & PERF_SAMPLE_ID)
		cursor_u64(in);
	if (type & PERF_SAMPLE_STREAM_ID)
		cursor_u64(in);
	if (type & PERF_SAMPLE_CPU) {
		sample->cpu = cursor_u32(in);
		cursor_u32(in);
	}
	if (type & PERF_SAMPLE_PERIOD)
		sample->period = cursor_u64(in);
}

/* Fields behind the stack; of those behind DATA_SRC nothing is needed.  `perf record --call-graph
 * dwarf` asks for DATA_SRC of every event, and of one that is no memory access it says "not
 * available": no operation but the first bit. */
static void take_tail(uint64_t type, struct cursor *in, struct wire_sample *sample)
{
	enum { OPERATIONS = 0x1e };

	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)) {
		sample->weight = cursor_u64(in);
		if (type & PERF_SAMPLE_WEIGHT_STRUCT) /* two more weights in the upper half */
			sample->weight &= UINT32_MAX;
	}
	if (type & PERF_SAMPLE_DATA_SRC) {
		sample->data_source = cursor_u64(in);
		sample->has_access = sample->data_source & OPERATIONS;
	}
}

static void take_body(struct recording *rec, const struct recording_event *event, struct cursor *in,
	struct wire_sample *sample, struct group_read *ret_read)
{
	uint64_t type = event->sample_type;

	take_head(type, in, sample);
	if (type & PERF_SAMPLE_READ)
		take_read(in, event->read_format, ret_read);
	if (type & PERF_SAMPLE_CALLCHAIN)
		take_chain(in, sample);
	if (type & PERF_SAMPLE_RAW)
		cursor_take(in, cursor_u32(in));
	if (type & PERF_SAMPLE_BRANCH_STACK)
		take_branches(rec, event, in, sample);
	if (type & PERF_SAMPLE_REGS_USER)
		take_user_registers(rec, event, in, sample);
	if (type & PERF_SAMPLE_STACK_USER)
		take_user_stack(in, sample);
	take_tail(type, in, sample);
}

static int emit(struct recording *rec, const struct wire_sample *sample)
{
	rec->report->samples++;
	return rec->sink->take_sample ? rec->sink->take_sample(rec->sink->context, sample) : 0;
}

/* Whose count it is.  A thread of its own only where threads inherit the group (Linux and perf
 * 6.12), and each counts for itself. */
struct read_key {
	uint64_t id, tid;
};

/* What was counted since the last sample that read this count.  False: less than then, so it is
 * not the same count. */
static bool read_since(
	struct recording *rec, const struct read_key *key, uint64_t value, uint64_t *ret_period)
{
	uint64_t last;
	uint32_t index;

	if (map_add(&rec->read_of, key, sizeof(*key), rec->reads.count, &index))
		vec_push(&rec->reads, 0);
	last = rec->reads.at[index];
	rec->reads.at[index] = value;
	*ret_period = value - last;
	return value >= last;
}

/* A sample that reads its group (`perf record -e '{a,b}:S'`) is one of each event that counted
 * since the last, with that as its period.  What else it holds is of the event that was sampled. */
static int emit_group(
	struct recording *rec, const struct wire_sample *sample, const struct group_read *read)
{
	bool inherits = rec->events.at[sample->event - 1].flags & FLAG_INHERIT;
	int r = 0;

	for (uint64_t i = 0; i < read->count && r >= 0; i++) {
		const uint64_t *count = read->at + i * read->words;
		struct read_key key = {count[1], inherits ? sample->tid : 0};
		struct wire_sample one = *sample;
		uint32_t event;

		if (!map_get(&rec->ids, &count[1], sizeof(*count), &event)) {
			rec->report->skipped[IMPORT_SAMPLE_NO_EVENT]++;
			continue;
		}
		if (!read_since(rec, &key, count[0], &one.period)) {
			rec->report->skipped[IMPORT_SAMPLE_MALFORMED]++;
			continue;
		}
		one.event = event + 1;
		if (one.event != sample->event) {
			one.branch_count = 0;
			one.has_access = false;
		}
		if (one.period)
			r = emit(rec, &one);
	}
	return r;
}

int recording_emit_sample(struct recording *rec, const char *record)
{
	const struct recording_event *event = sample_event(rec, record);
	struct cursor in = record_body(record);
	struct wire_sample sample = {.cpu = UINT32_MAX};
	struct group_read read = {0};

	if (!event) {
		rec->report->skipped[IMPORT_SAMPLE_NO_EVENT]++;
		return 0;
	}
	sample.event = (uint32_t)(event - rec->events.at) + 1;
	sample.flags = kernel_flags_of(record_head(record).misc);
	sample.machine = machine_of(rec, event->regs_user);
	sample.period = event->period;
	take_body(rec, event, &in, &sample, &read);
	if (in.broken) {
		rec->report->skipped[IMPORT_SAMPLE_MALFORMED]++;
		return 0;
	}
	return read.count ? emit_group(rec, &sample, &read) : emit(rec, &sample);
}
