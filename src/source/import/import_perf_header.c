/* import_perf_header.c - what perf.data says about itself: events with their ids, and features.
 *
 * File: magic, u64 size of this header, u64 size of one attr entry, sections {u64 offset, size} of
 * attrs, data and event types, 256 feature bits; behind the data one section per set bit, in the
 * order of the bits.  An attr entry is a perf_event_attr and the section of its ids, so its size
 * tells the age of perf: 80 to 152 were seen.  A longer attr than we know is read as far as we
 * know, a shorter one has zeros.  Pipe: magic and a header size of 16; attrs and features are
 * records.
 *
 * A recorder that was killed leaves a data size of 0: everything behind the header is data then. */
#include <linux/perf_event.h>

#include "base/str.h"
#include "import_perf_data.h"
#include "source/emit.h"
#include "wire/build.h"

enum {
	HEADER_PIPE = 16,
	HEADER_SECTIONS = 72, /* before the feature bits */
	HEADER_FILE = 104,
	ATTR_SMALLEST = 64, /* PERF_ATTR_SIZE_VER0 */
	ID_STEPS = 4,
	ID_BYTES = 96, /* of one in the table */
	EVENTS_MOST =
		4096, /* perf record of all 2,000 tracepoints fits; ids are not bounded by this */
};

enum feature {
	FEATURE_BUILD_ID = 2,
	FEATURE_OSRELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_CPUDESC = 8,
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12,
	FEATURE_PMU_MAPPINGS = 16,
	FEATURE_GROUP_DESC = 17,
	FEATURE_COMPRESSED = 27,
	FEATURES = 256,
};

/* The part of the file, NULL when it is not all there. */
static const char *file_part(const struct recording *rec, uint64_t offset, uint64_t len)
{
	if (offset > rec->file.len || len > rec->file.len - offset)
		return NULL;
	return rec->file.at + offset;
}

void recording_add_event(struct recording *rec, const char *attr, size_t attr_len)
{
	struct perf_event_attr known = {0};

	if (rec->events.count == EVENTS_MOST) {
		rec->report->skipped[IMPORT_TOO_MANY]++;
		return;
	}
	memcpy(&known, attr, attr_len < sizeof(known) ? attr_len : sizeof(known));
	vec_push(&rec->events, (struct recording_event){
				       .type = known.type,
				       .stack_user = known.sample_stack_user,
				       .config = known.config,
				       .period = known.freq ? 1 : known.sample_period,
				       .sample_type = known.sample_type,
				       .read_format = known.read_format,
				       .flags = 0,
				       .branch_type = known.branch_sample_type,
				       .regs_user = known.sample_regs_user,
				       .regs_intr = known.sample_regs_intr,
				       .scale = 1,
				       .changed = true,
			       });
	memcpy(&rec->events.at[rec->events.count - 1].flags, attr + 40, sizeof(uint64_t));
	rec->events_changed = true;
}

void recording_add_ids(struct recording *rec, const char *ids, uint64_t len)
{
	struct cursor in = cursor_of(ids, (size_t)len);

	while (rec->events.count && cursor_left(&in) >= sizeof(uint64_t) &&
		quota_step(rec->report->quota, ID_STEPS)) {
		uint64_t id = cursor_u64(&in);
		uint32_t known;

		if (!map_get(&rec->ids, &id, sizeof(id), &known))
			quota_take(rec->report->quota, ID_BYTES);
		map_put(&rec->ids, &id, sizeof(id), rec->events.count - 1);
	}
}

const struct recording_event *recording_event_of(const struct recording *rec, uint64_t id)
{
	uint32_t index;

	if (map_get(&rec->ids, &id, sizeof(id), &index))
		return &rec->events.at[index];
	/* perf gives its own records the id 0, and one event needs no id. */
	return rec->events.count == 1 || (!id && rec->events.count) ? rec->events.at : NULL;
}

/* u32 length with padding, then the text; "" when it is not there. */
static const char *feature_text(struct recording *rec, struct cursor *in)
{
	uint32_t len = cursor_u32(in);
	const char *text = cursor_take(in, len);

	if (!text || !quota_take(rec->report->quota, len))
		return "";
	return arena_text(&rec->arena, text, strnlen(text, len));
}

static void take_event_desc(struct recording *rec, struct cursor in)
{
	uint32_t count = cursor_u32(&in), attr_len = cursor_u32(&in);

	for (uint32_t i = 0; i < count && i < rec->events.count && !in.broken; i++) {
		uint32_t ids;
		const char *name;

		cursor_take(&in, attr_len);
		ids = cursor_u32(&in);
		name = feature_text(rec, &in);
		cursor_take(&in, (uint64_t)ids * sizeof(uint64_t));
		if (*name) {
			rec->events.at[i].name = name;
			rec->events.at[i].changed = rec->events_changed = true;
		}
	}
}

static void take_pmu_mappings(struct recording *rec, struct cursor in)
{
	uint32_t count = cursor_u32(&in);

	for (uint32_t i = 0; i < count && i < EVENTS_MOST && !in.broken; i++) {
		uint32_t type = cursor_u32(&in);
		const char *name = feature_text(rec, &in);

		if (!in.broken)
			vec_push(&rec->pmus, (struct recording_pmu){type, name});
	}
}

static void take_group_desc(struct recording *rec, struct cursor in)
{
	uint32_t count = cursor_u32(&in);

	for (uint32_t i = 0; i < count && i < rec->events.count && !in.broken; i++) {
		uint32_t leader, members;

		feature_text(rec, &in);
		leader = cursor_u32(&in);
		members = cursor_u32(&in);
		for (uint32_t j = 0; !in.broken && j < members && j < rec->events.count; j++)
			if (leader < rec->events.count - j) {
				rec->events.at[leader + j].group = i + 1;
				rec->events.at[leader + j].changed = true;
			}
		rec->events_changed = true;
	}
}

static void take_arch(struct recording *rec, const char *arch)
{
	rec->machine_known = *arch;
	rec->machine = str_equal(arch, "x86_64")    ? WIRE_X86_64
		       : str_equal(arch, "aarch64") ? WIRE_AARCH64
						    : WIRE_MACHINE_OTHER;
}

static void take_command(struct recording *rec, struct cursor in)
{
	str_auto struct str line = {0};
	uint32_t count = cursor_u32(&in);

	for (uint32_t i = 0; i < count && !in.broken; i++)
		str_addf(&line, "%s%s", i ? " " : "", feature_text(rec, &in));
	if (!in.broken && line.len)
		emit_field(rec->sink, "recording", "command", WIRE_FIELD_VALUE, str_text(&line));
}

static void take_fact(struct recording *rec, const char *name, struct cursor in)
{
	const char *value = feature_text(rec, &in);

	if (*value)
		emit_field(rec->sink, "recording", name, WIRE_FIELD_VALUE, value);
}

void recording_take_feature(struct recording *rec, unsigned feature, struct cursor in)
{
	switch (feature) {
	case FEATURE_BUILD_ID:
		while (cursor_left(&in) >= RECORD_HEAD) {
			size_t size = record_head((const char *)in.at).size;
			const void *record = cursor_take(&in, size);

			if (!record || size < RECORD_HEAD)
				return;
			recording_take_build_id(rec, cursor_of(record, size));
		}
		return;
	case FEATURE_ARCH:
		take_arch(rec, feature_text(rec, &in));
		return;
	case FEATURE_OSRELEASE:
		take_fact(rec, "os_release", in);
		return;
	case FEATURE_VERSION:
		take_fact(rec, "perf_version", in);
		return;
	case FEATURE_CPUDESC:
		take_fact(rec, "cpu", in);
		return;
	case FEATURE_CMDLINE:
		take_command(rec, in);
		return;
	case FEATURE_EVENT_DESC:
		take_event_desc(rec, in);
		return;
	case FEATURE_PMU_MAPPINGS:
		take_pmu_mappings(rec, in);
		return;
	case FEATURE_GROUP_DESC:
		take_group_desc(rec, in);
		return;
	case FEATURE_COMPRESSED:
		cursor_take(&in, 4 * sizeof(uint32_t)); /* version, type, level, ratio */
		rec->unpack_limit = cursor_u32(&in);
		return;
	default:
		return;
	}
}

/* A record: head, i32 pid, 20 bytes and 4 of padding, the path.  Newer perf puts the real length
 * into the padding and says so in misc. */
void recording_take_build_id(struct recording *rec, struct cursor in)
{
	enum { SIZE_IS_GIVEN = 1 << 15, LARGEST = 20 };
	str_auto struct str hex = {0};
	struct record_head head;
	const unsigned char *id;
	const char *path;
	size_t len = LARGEST;

	if (cursor_left(&in) < RECORD_HEAD)
		return;
	head = record_head((const char *)in.at);
	cursor_take(&in, RECORD_HEAD + sizeof(uint32_t));
	id = cursor_take(&in, LARGEST + 4);
	path = cursor_text(&in);
	if (in.broken)
		return;
	if (head.misc & SIZE_IS_GIVEN && id[LARGEST] <= LARGEST)
		len = id[LARGEST];
	for (size_t i = 0; i < len; i++)
		str_addf(&hex, "%02x", id[i]);
	map_put(&rec->build_id_of, path, strlen(path), rec->build_ids.count);
	vec_push(&rec->build_ids, arena_text(&rec->arena, str_text(&hex), hex.len));
}

/* How the attrs of a file follow each other; `entry` is the size of one with its section of ids. */
static void read_attrs(struct recording *rec, const char *attrs, uint64_t len, uint64_t entry)
{
	for (uint64_t at = 0; len - at >= entry; at += entry) {
		const char *attr = attrs + at;
		struct cursor ids = cursor_of(attr + entry - 16, 16);
		uint64_t offset = cursor_u64(&ids), bytes = cursor_u64(&ids);
		const char *part = file_part(rec, offset, bytes);

		recording_add_event(rec, attr, (size_t)entry - 16);
		if (part)
			recording_add_ids(rec, part, bytes);
		else
			import_damage(
				rec->report, "the ids of an event are beyond the end of the file");
	}
}

static void features_cut(struct recording *rec)
{
	import_damage(rec->report,
		"it ends at byte %zu, before the description of its events and machine ends",
		rec->file.len);
}

static void read_features(struct recording *rec, uint64_t sections)
{
	const unsigned char *bits = (const unsigned char *)rec->file.at + HEADER_SECTIONS;

	for (unsigned i = 0; i < FEATURES; i++) {
		const char *section = file_part(rec, sections, 16), *part;
		struct cursor in;
		uint64_t offset, len;

		if (!(bits[i / 8] >> i % 8 & 1))
			continue;
		if (!section) {
			features_cut(rec);
			return;
		}
		in = cursor_of(section, 16);
		offset = cursor_u64(&in);
		len = cursor_u64(&in);
		sections += 16;
		part = file_part(rec, offset, len);
		if (part)
			recording_take_feature(rec, i, cursor_of(part, (size_t)len));
		else
			features_cut(rec);
	}
}

/* What the file says about where its records are, cut to what is there. */
static void find_records(
	struct recording *rec, uint64_t offset, uint64_t len, struct import_text *ret_records)
{
	uint64_t there = offset < rec->file.len ? rec->file.len - offset : 0;

	*ret_records = (struct import_text){rec->file.at + (there ? offset : 0), (size_t)there};
	if (!len && there) {
		import_damage(rec->report, "perf record did not finish");
		return;
	}
	if (len > there)
		import_damage(
			rec->report, "it ends at byte %zu, before its data ends", rec->file.len);
	else
		ret_records->len = (size_t)len;
}

bool recording_read_header(struct recording *rec, struct import_text *ret_records)
{
	struct cursor in = cursor_of(rec->file.at, rec->file.len);
	uint64_t size, entry, attrs, attrs_len, data, data_len, there;

	cursor_take(&in, 8);
	size = cursor_u64(&in);
	if (!in.broken && size == HEADER_PIPE) {
		*ret_records = (struct import_text){(const char *)in.at, cursor_left(&in)};
		return true;
	}
	entry = cursor_u64(&in);
	attrs = cursor_u64(&in);
	attrs_len = cursor_u64(&in);
	data = cursor_u64(&in);
	data_len = cursor_u64(&in);
	cursor_take(&in, 16); /* event types, of old perf */
	if (in.broken || size < HEADER_SECTIONS || size > rec->file.len) {
		import_damage(rec->report, "its header is incomplete");
		return false;
	}
	if (entry < ATTR_SMALLEST + 16 || entry > 4096) {
		import_damage(rec->report, "its events have an impossible size of %llu bytes",
			(unsigned long long)entry);
		return false;
	}
	there = attrs < rec->file.len ? rec->file.len - attrs : 0;
	read_attrs(rec, rec->file.at + (there ? attrs : 0), attrs_len < there ? attrs_len : there,
		entry);
	find_records(rec, data, data_len, ret_records);
	/* Behind an unknown end of the data nothing can be found. */
	if (size >= HEADER_FILE && data_len && data_len <= UINT64_MAX - data)
		read_features(rec, data + data_len);
	return true;
}

static int emit_event(struct recording *rec, uint32_t index)
{
	union {
		struct wire_event event;
		unsigned char bytes[8192];
	} space;
	struct wire_builder b = wire_begin(&space, sizeof(space), WIRE_EVENT, sizeof(space.event));
	struct recording_event *event = &rec->events.at[index];
	const char *name = event->name ? event->name : recording_event_name(rec, event);
	const char *core = event->core;

	import_core_split(&rec->arena, &name, &core);
	space.event.event = index + 1;
	space.event.group = event->group;
	space.event.status = WIRE_EVENT_COUNTED;
	space.event.scale = event->scale;
	wire_add_text(&b, &space.event.unit, event->unit);
	wire_add_text(&b, &space.event.core, core);
	wire_add_text(&b, &space.event.name, name);
	return rec->sink->take(rec->sink->context, wire_end(&b));
}

int recording_emit_events(struct recording *rec)
{
	int r = 0;

	if (!rec->events_changed)
		return 0;
	for (uint32_t i = 0; r == 0 && i < rec->events.count; i++) {
		if (rec->events.at[i].changed)
			r = emit_event(rec, i);
		rec->events.at[i].changed = false;
	}
	rec->events_changed = false;
	return r;
}
