/* import_perf_record.c - the kernel's records other than samples, handed on.
 *
 * Behind the body of each (sample_id_all, Linux 2.6.38) stand the fields of a sample that say whose
 * and when: TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER, as far as the event has them.  They are read
 * from the end, because the body may hold a text of any length. */
#include <linux/perf_event.h>
#include <sys/mman.h>

#include "base/str.h"
#include "import_perf_data.h"
#include "wire/build.h"

enum {
	FLAG_SAMPLE_ID_ALL = 1 << 18,
	MMAP_BUILD_ID = 1 << 14,
	BUILD_ID_LARGEST = 20,
};

static unsigned bits_count(uint64_t bits)
{
	return (unsigned)__builtin_popcountll(bits);
}

uint64_t recording_time(const struct recording *rec, const char *record)
{
	enum {
		BEHIND = PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
			 PERF_SAMPLE_IDENTIFIER
	};
	struct record_head head = record_head(record);
	const struct recording_event *event = rec->events.at;
	uint64_t time_ns = 0;
	size_t from_end;

	if (head.type == PERF_RECORD_SAMPLE) {
		event = sample_event(rec, record);
		return event ? sample_time(event, record) : 0;
	}
	if (!rec->events.count || !(event->flags & FLAG_SAMPLE_ID_ALL) ||
		!(event->sample_type & PERF_SAMPLE_TIME))
		return 0;
	from_end = sizeof(uint64_t) * (1 + bits_count(event->sample_type & BEHIND));
	if (head.size >= RECORD_HEAD + from_end)
		memcpy(&time_ns, record + head.size - from_end, sizeof(time_ns));
	return time_ns;
}

/* Hex of the id in the record, else what the file says of this path. */
static const char *build_id_find(
	struct recording *rec, const unsigned char *id, const char *path, char *hex)
{
	static const char digits[] = "0123456789abcdef";
	uint32_t index;

	if (id && id[0] <= BUILD_ID_LARGEST) { /* size, 3 bytes, the id */
		for (unsigned i = 0; i < id[0]; i++) {
			hex[2 * i] = digits[id[4 + i] >> 4];
			hex[2 * i + 1] = digits[id[4 + i] & 15];
		}
		hex[2 * id[0]] = '\0';
		return hex;
	}
	if (map_get(&rec->build_id_of, path, strlen(path), &index))
		return rec->build_ids.at[index];
	/* "[kernel.kallsyms]_text" is listed without the symbol it is measured from. */
	if (str_starts(path, "[kernel.kallsyms]") &&
		map_get(&rec->build_id_of, "[kernel.kallsyms]", 17, &index))
		return rec->build_ids.at[index];
	return NULL;
}

static bool misc_is_kernel(uint16_t misc)
{
	uint16_t mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;

	return mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_GUEST_KERNEL;
}

/* MMAP and MMAP2, which has the file's identity and the protection in addition. */
static int emit_map(struct recording *rec, const char *record)
{
	union {
		struct wire_map map;
		unsigned char bytes[8192];
	} space;
	struct wire_builder b = wire_begin(&space, sizeof(space), WIRE_MAP, sizeof(space.map));
	struct record_head head = record_head(record);
	struct cursor in = record_body(record);
	char hex[2 * BUILD_ID_LARGEST + 1];
	const unsigned char *identity = NULL;
	uint32_t protection = PROT_EXEC;
	const char *path;

	space.map.pid = cursor_u32(&in);
	space.map.tid = cursor_u32(&in);
	space.map.start = cursor_u64(&in);
	space.map.len = cursor_u64(&in);
	space.map.file_offset = cursor_u64(&in);
	if (head.type == PERF_RECORD_MMAP2) {
		identity = cursor_take(&in, 24);
		protection = cursor_u32(&in);
		cursor_u32(&in); /* flags */
	}
	path = cursor_text(&in);
	if (in.broken) {
		rec->report->skipped[IMPORT_RECORD_MALFORMED]++;
		return 0;
	}
	if (head.misc & PERF_RECORD_MISC_MMAP_DATA || !(protection & PROT_EXEC)) {
		rec->report->skipped[IMPORT_DATA_MAP]++;
		return 0;
	}
	if (identity && !(head.misc & MMAP_BUILD_ID)) {
		memcpy(&space.map.inode, identity + 8, sizeof(space.map.inode));
		identity = NULL;
	}
	space.map.time_ns = recording_time(rec, record);
	space.map.flags = misc_is_kernel(head.misc) ? WIRE_MAP_KERNEL : 0;
	wire_add_text(&b, &space.map.path, path);
	wire_add_text(&b, &space.map.build_id, build_id_find(rec, identity, path, hex));
	return rec->sink->take(rec->sink->context, wire_end(&b));
}

static int emit_task(struct recording *rec, const char *record)
{
	union {
		struct wire_task task;
		unsigned char bytes[1024];
	} space;
	struct wire_builder b = wire_begin(&space, sizeof(space), WIRE_TASK, sizeof(space.task));
	struct record_head head = record_head(record);
	struct cursor in = record_body(record);
	const char *name = NULL;

	space.task.pid = cursor_u32(&in);
	if (head.type == PERF_RECORD_COMM) {
		space.task.kind =
			head.misc & PERF_RECORD_MISC_COMM_EXEC ? WIRE_TASK_EXEC : WIRE_TASK_NAME;
		space.task.tid = cursor_u32(&in);
		name = cursor_text(&in);
		space.task.time_ns = recording_time(rec, record);
	} else {
		space.task.kind = head.type == PERF_RECORD_FORK ? WIRE_TASK_FORK : WIRE_TASK_EXIT;
		space.task.parent_pid = cursor_u32(&in);
		space.task.tid = cursor_u32(&in);
		space.task.parent_tid = cursor_u32(&in);
		space.task.time_ns = cursor_u64(&in);
	}
	if (in.broken) {
		rec->report->skipped[IMPORT_RECORD_MALFORMED]++;
		return 0;
	}
	wire_add_text(&b, &space.task.name, name);
	return rec->sink->take(rec->sink->context, wire_end(&b));
}

static uint32_t event_id(const struct recording *rec, uint64_t id)
{
	const struct recording_event *event = id ? recording_event_of(rec, id) : NULL;

	return event ? (uint32_t)(event - rec->events.at) + 1 : 0;
}

/* The kernel tells of losses in front of the next record that finds room (LOST), and newer perfs
 * write the whole number once more at the end (LOST_SAMPLES): only what is new in it counts. */
static uint64_t lost_anew(struct recording *rec, uint64_t count)
{
	uint64_t told = count < rec->lost_told ? count : rec->lost_told;

	rec->lost_told -= told;
	return count - told;
}

static int emit_lost(struct recording *rec, const char *record)
{
	struct wire_lost lost = {.head = {WIRE_LOST, sizeof(lost)}, .count = 1};
	uint32_t type = record_head(record).type;
	struct cursor in = record_body(record);

	lost.time_ns = recording_time(rec, record);
	if (type == PERF_RECORD_THROTTLE) {
		lost.kind = WIRE_LOST_THROTTLED;
		lost.time_ns = cursor_u64(&in);
		lost.event = event_id(rec, cursor_u64(&in));
	} else if (type == PERF_RECORD_LOST) {
		lost.kind = WIRE_LOST_SAMPLES;
		lost.event = event_id(rec, cursor_u64(&in));
		lost.count = cursor_u64(&in);
		rec->lost_told += in.broken ? 0 : lost.count;
	} else {
		lost.kind = WIRE_LOST_SAMPLES;
		lost.count = lost_anew(rec, cursor_u64(&in));
	}
	if (in.broken) {
		rec->report->skipped[IMPORT_RECORD_MALFORMED]++;
		return 0;
	}
	return rec->sink->take(rec->sink->context, &lost.head);
}

/* What is of no use here, by its reason; IMPORT_SKIPS: no loss of any kind. */
static enum import_skip skip_of(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_UNTHROTTLE:
		return IMPORT_SKIPS;
	case PERF_RECORD_READ:
		return IMPORT_READ;
	case PERF_RECORD_AUX:
	case PERF_RECORD_ITRACE_START:
	case PERF_RECORD_AUX_OUTPUT_HW_ID:
		return IMPORT_AUX;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return IMPORT_SWITCH;
	case PERF_RECORD_NAMESPACES:
		return IMPORT_NAMESPACE;
	case PERF_RECORD_CGROUP:
		return IMPORT_CGROUP;
	case PERF_RECORD_KSYMBOL:
		return IMPORT_KSYMBOL;
	case PERF_RECORD_BPF_EVENT:
		return IMPORT_BPF;
	case PERF_RECORD_TEXT_POKE:
		return IMPORT_TEXT_POKE;
	default:
		return IMPORT_RECORD_UNKNOWN;
	}
}

int recording_emit(struct recording *rec, const char *record)
{
	uint32_t type = record_head(record).type;
	enum import_skip skip;
	int r = recording_emit_events(rec);

	if (r < 0)
		return r;
	switch (type) {
	case PERF_RECORD_SAMPLE:
		return recording_emit_sample(rec, record);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return emit_map(rec, record);
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return emit_task(rec, record);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
	case PERF_RECORD_THROTTLE:
		return emit_lost(rec, record);
	default:
		skip = skip_of(type);
		if (skip != IMPORT_SKIPS)
			rec->report->skipped[skip]++;
		return 0;
	}
}
