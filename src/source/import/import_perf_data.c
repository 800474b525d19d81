/* import_perf_data.c - perf.data, as a file or as it comes through a pipe: the walk over its
 * records.
 *
 * A record is a head (type, misc, size) and its body.  Types below 64 are the kernel's and go
 * through the queue; the others are perf's own.  Three of perf's are longer than their size says:
 * AUXTRACE and TRACING_DATA are followed by a payload, and COMPRESSED2 (perf 6.16) holds up to a
 * ring of data while its 16-bit size wraps around, so that only its own data_size counts.
 *
 * The first record that cannot be is the damage: nothing behind it is read, because no record
 * starts with a mark that one could search for. */
#include <errno.h>
#include <stdlib.h>

#include "import_perf_data.h"

/* perf's own types (tools/perf util/event.h), which no installed header has. */
enum perf_type {
	TYPE_ATTR = 64,
	TYPE_TRACING_DATA = 66,
	TYPE_BUILD_ID = 67,
	TYPE_FINISHED_ROUND = 68,
	TYPE_AUXTRACE_INFO = 70,
	TYPE_AUXTRACE = 71,
	TYPE_AUXTRACE_ERROR = 72,
	TYPE_EVENT_UPDATE = 78,
	TYPE_FEATURE = 80,
	TYPE_COMPRESSED = 81,
	TYPE_COMPRESSED2 = 83,
	TYPE_LAST = 86, /* SCHEDSTAT_DOMAIN, perf 6.16 */
};

enum { RECORD_STEPS = 4 };

static const char magic[] = "PERFILE2";

static uint64_t align8(uint64_t value)
{
	return (value + 7) & ~UINT64_C(7);
}

/* Bytes of the record at `rest` with all that belongs to it.  0 when `rest` is too short to tell.
 */
static uint64_t record_extent(struct record_head head, struct import_text rest)
{
	struct cursor in = cursor_of(rest.at, rest.len);
	uint64_t payload;

	cursor_take(&in, RECORD_HEAD);
	switch (head.type) {
	case TYPE_COMPRESSED2:
		payload = cursor_u64(&in);
		if (payload > UINT64_MAX - 64)
			return UINT64_MAX;
		return in.broken ? 0 : align8(RECORD_HEAD + sizeof(uint64_t) + payload);
	case TYPE_AUXTRACE:
		payload = cursor_u64(&in);
		if (payload > UINT64_MAX - RECORD_LARGEST)
			return UINT64_MAX;
		return in.broken ? 0 : head.size + payload;
	case TYPE_TRACING_DATA:
		payload = cursor_u32(&in);
		return in.broken ? 0 : head.size + align8(payload);
	default:
		return head.size;
	}
}

/* {u64 what, id} and the value. */
static void take_event_update(struct recording *rec, struct cursor in)
{
	enum { UPDATE_UNIT, UPDATE_SCALE, UPDATE_NAME };
	uint64_t what = cursor_u64(&in), id = cursor_u64(&in), bits;
	uint32_t index;
	struct recording_event *event;
	const char *text;

	if (in.broken || !map_get(&rec->ids, &id, sizeof(id), &index))
		return;
	event = &rec->events.at[index];
	event->changed = rec->events_changed = true;
	if (what == UPDATE_SCALE) {
		bits = cursor_u64(&in);
		if (!in.broken)
			memcpy(&event->scale, &bits, sizeof(bits));
		return;
	}
	text = cursor_text(&in);
	if (in.broken || !*text)
		return;
	text = arena_copy(&rec->arena, text);
	if (what == UPDATE_UNIT)
		event->unit = text;
	else if (what == UPDATE_NAME)
		event->name = text;
}

/* The attr says how long it is; its ids fill the rest. */
static void take_attr(struct recording *rec, struct cursor in)
{
	const char *attr = (const char *)in.at;
	uint32_t size = 0;

	if (cursor_left(&in) >= 64)
		memcpy(&size, attr + 4, sizeof(size));
	size = size ? size : 64; /* the first version of the attr did not tell */
	if (size < 64 || size > cursor_left(&in)) {
		rec->report->skipped[IMPORT_RECORD_MALFORMED]++;
		return;
	}
	recording_add_event(rec, attr, size);
	recording_add_ids(rec, attr + size, cursor_left(&in) - size);
}

static int take_compressed(struct recording *rec, struct import_text packed);

/* One of perf's own records; `extent` bytes belong to it. */
static int take_user(struct recording *rec, const char *record, uint64_t extent)
{
	struct record_head head = record_head(record);
	struct cursor in = cursor_of(record + RECORD_HEAD, (size_t)extent - RECORD_HEAD);
	uint64_t number;

	switch (head.type) {
	case TYPE_ATTR:
		take_attr(rec, in);
		return 0;
	case TYPE_BUILD_ID:
		recording_take_build_id(rec, cursor_of(record, (size_t)extent));
		return 0;
	case TYPE_FINISHED_ROUND:
		return queue_round(rec);
	case TYPE_EVENT_UPDATE:
		take_event_update(rec, in);
		return 0;
	case TYPE_FEATURE:
		number = cursor_u64(&in);
		recording_take_feature(rec, number < 256 ? (unsigned)number : 256, in);
		return 0;
	case TYPE_COMPRESSED:
		return take_compressed(
			rec, (struct import_text){(const char *)in.at, cursor_left(&in)});
	case TYPE_COMPRESSED2:
		number = cursor_u64(&in);
		return take_compressed(
			rec, (struct import_text){(const char *)in.at, (size_t)number});
	case TYPE_AUXTRACE:
	case TYPE_AUXTRACE_ERROR:
		rec->report->skipped[IMPORT_AUX]++;
		return 0;
	default:
		rec->report->skipped[IMPORT_RECORD_UNKNOWN] += head.type > TYPE_LAST;
		return 0;
	}
}

/* Every whole record of `rest`; `*ret_used` bytes were read.  What is left is a part of a record.
 * 0 with the damage told where one cannot be, or what the sink returned. */
static int records_walk(struct recording *rec, struct import_text rest,
	struct recording_chunk *chunk, size_t *ret_used)
{
	const char *start = rest.at;
	int r = 0;

	while (r == 0 && rest.len >= RECORD_HEAD && (chunk || !rec->stop) &&
		quota_step(rec->report->quota, RECORD_STEPS)) {
		struct record_head head = record_head(rest.at);
		uint64_t extent = record_extent(head, rest);

		if (head.type != TYPE_COMPRESSED2 && head.size < RECORD_HEAD) {
			import_damage(rec->report,
				"the record at byte %zu claims a size of %u bytes",
				(size_t)((chunk ? rec->file.at : rest.at) - rec->file.at),
				head.size);
			rec->stop = true;
			break;
		}
		if (!extent || extent > rest.len)
			break;
		if (!chunk)
			rec->report->reached = rest.at;
		if (head.type < RECORD_USER)
			r = queue_take(rec, rest.at, chunk);
		else if (!chunk)
			r = take_user(rec, rest.at, extent);
		else /* perf packs nothing of its own but what is of no use here */
			rec->report->skipped[IMPORT_RECORD_UNKNOWN] += head.type > TYPE_LAST;
		rest.at += extent;
		rest.len -= (size_t)extent;
	}
	*ret_used = (size_t)(rest.at - start);
	return r;
}

static int take_compressed(struct recording *rec, struct import_text packed)
{
	struct recording_chunk *chunk = unpack_take(rec, packed);
	int r;

	if (!chunk)
		return 0;
	chunk->waiting = 1; /* ours, while its records are read */
	rec->queue.chunk_bytes += chunk->len;
	r = records_walk(rec, (struct import_text){chunk->bytes, chunk->len}, chunk, &chunk->used);
	unpack_keep_rest(rec, chunk);
	if (--chunk->waiting == 0)
		queue_free_chunk(rec, chunk);
	return r;
}

static bool detect(struct import_text text, struct quota *quota)
{
	static const char swapped[] = "2ELIFREP", first[] = "PERFFILE";

	(void)quota;
	return text.len >= 8 &&
	       (memcmp(text.at, magic, 8) == 0 || memcmp(text.at, swapped, 8) == 0 ||
		       memcmp(text.at, first, 8) == 0);
}

static int recording_read(struct recording *rec)
{
	struct import_text records;
	size_t used;
	int r;

	if (memcmp(rec->file.at, magic, 8) != 0) {
		import_damage(rec->report,
			*rec->file.at == '2' ? "it was recorded on a big-endian machine"
					     : "it was written by a perf older than Linux 3.0");
		return 0;
	}
	if (!recording_read_header(rec, &records))
		return 0;
	r = records_walk(rec, records, NULL, &used);
	if (r == 0 && !rec->stop && used < records.len && quota_is_left(rec->report->quota))
		import_damage(rec->report, "it ends inside a record, at byte %zu", rec->file.len);
	if (r == 0) /* what was read before a damage is good */
		r = queue_end(rec);
	if (!rec->events.count)
		import_damage(rec->report, "it describes no events");
	return r;
}

static int read_perf_data(
	struct import_text text, const struct wire_sink *sink, struct import_report *report)
{
	struct recording *rec = mem_new(1, sizeof(*rec));
	int r;

	rec->file = text;
	rec->sink = sink;
	rec->report = report;
	rec->machine = WIRE_MACHINE_OTHER;
	r = recording_read(rec);
	queue_done(rec);
	unpack_done(rec);
	vec_done(&rec->events);
	vec_done(&rec->build_ids);
	vec_done(&rec->pmus);
	map_done(&rec->ids);
	map_done(&rec->read_of);
	vec_done(&rec->reads);
	map_done(&rec->build_id_of);
	arena_done(&rec->arena);
	free(rec);
	return r;
}

const struct import_format import_perf_data = {"perf-data", IMPORT_PROFILE, detect, read_perf_data};
