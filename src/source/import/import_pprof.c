/* import_pprof.c - pprof: a protobuf Profile, gzipped or not, read by hand.
 *
 * Needed fields only: sample types (1), samples (2), mappings (3), locations (4), functions (5),
 * the string table (6), the default type (14).  Everything refers to everything by id and in any
 * order, so the file is passed twice: first the tables, then the samples.  A sample has one value
 * for each sample type; the default one is read, or the last, as `go tool pprof` does. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/cursor.h"
#include "base/str.h"
#include "import_named.h"
#include "source/emit.h"

enum {
	PPROF_UNPACKED = 1 << 30,
	PPROF_STEP = 1 << 20,
	PPROF_DEEPEST = 4096, /* frames of one sample */
	PPROF_ROW = 64,	      /* bytes */
};

/* One field of a message: a number, or bytes. */
struct field {
	uint32_t number;
	bool is_bytes;
	uint64_t value;
	struct cursor bytes;
};

/* False at the end, and when the message is broken (in->broken). */
static bool field_next(struct cursor *in, struct field *field)
{
	uint64_t tag, len;
	const void *bytes;

	if (!cursor_left(in) || in->broken)
		return false;
	tag = cursor_uleb(in);
	*field = (struct field){.number = tag >> 3 > UINT32_MAX ? 0 : (uint32_t)(tag >> 3)};
	switch (tag & 7) {
	case 0:
		field->value = cursor_uleb(in);
		break;
	case 1:
		field->value = cursor_u64(in);
		break;
	case 2:
		len = cursor_uleb(in);
		bytes = cursor_take(in, len);
		field->is_bytes = true;
		if (bytes)
			field->bytes = cursor_of(bytes, (size_t)len);
		break;
	case 5:
		field->value = cursor_u32(in);
		break;
	default:
		cursor_break(in);
	}
	if (!field->number)
		cursor_break(in);
	return !in->broken;
}

struct pprof_function {
	uint64_t name, file;
};

struct pprof_location {
	uint64_t mapping, addr;
	struct cursor lines; /* the message again: its lines are read where they are needed */
};

struct pprof {
	struct named named;
	vec_of(struct import_text) strings;
	vec_of(struct pprof_function) functions;
	vec_of(struct pprof_location) locations;
	vec_of(uint64_t) mappings; /* string of its file */
	struct map function_ids, location_ids, mapping_ids;
	vec_of(struct pprof_function) types; /* name and unit of each value */
	uint64_t default_type;
	uint32_t chosen, event;
};

static struct quota *quota_of_profile(const struct pprof *p)
{
	return p->named.report->quota;
}

static const char *string_at(struct pprof *p, uint64_t index)
{
	if (index >= p->strings.count)
		return NULL;
	return named_text(&p->named, p->strings.at[index].at, p->strings.at[index].len);
}

/* Two fields of a small message; those of other numbers are stepped over. */
static struct pprof_function pair_of(struct cursor in, uint32_t first, uint32_t second)
{
	struct pprof_function pair = {0};
	struct field field;

	while (field_next(&in, &field)) {
		if (field.number == first)
			pair.name = field.value;
		if (field.number == second)
			pair.file = field.value;
	}
	return pair;
}

static uint64_t id_of(struct cursor in)
{
	return pair_of(in, 1, 0).name;
}

static void take_location(struct pprof *p, struct cursor in)
{
	struct pprof_function place = pair_of(in, 2, 3);
	struct pprof_location location = {place.name, place.file, in};
	uint64_t id = id_of(in);

	map_put(&p->location_ids, &id, sizeof(id), p->locations.count);
	vec_push(&p->locations, location);
}

/* A message of a table is read twice, and has a row and an id. */
static bool table_fits(struct pprof *p, const struct field *field)
{
	bool is_row = field->is_bytes && field->number != 2;

	return quota_step(quota_of_profile(p), 4 + cursor_left(&field->bytes) / 4) &&
	       quota_take(quota_of_profile(p), is_row ? PPROF_ROW : 0);
}

static void take_table(struct pprof *p, const struct field *field)
{
	uint64_t id = field->is_bytes && field->number != 2 ? id_of(field->bytes) : 0;

	if (!field->is_bytes) {
		if (field->number == 14)
			p->default_type = field->value;
		return;
	}
	switch (field->number) {
	case 1:
		vec_push(&p->types, pair_of(field->bytes, 1, 2));
		break;
	case 3:
		map_put(&p->mapping_ids, &id, sizeof(id), p->mappings.count);
		vec_push(&p->mappings, pair_of(field->bytes, 5, 0).name);
		break;
	case 4:
		take_location(p, field->bytes);
		break;
	case 5:
		map_put(&p->function_ids, &id, sizeof(id), p->functions.count);
		vec_push(&p->functions, pair_of(field->bytes, 2, 4));
		break;
	case 6:
		vec_push(&p->strings, (struct import_text){(const char *)field->bytes.at,
					      cursor_left(&field->bytes)});
		break;
	default:
		break;
	}
}

/* Lines of a location are its inlined functions, innermost first. */
static void push_location(struct pprof *p, const struct pprof_location *location)
{
	struct wire_named frame = {.addr = location->addr};
	struct cursor in = location->lines;
	uint32_t index, first = p->named.frames.count;
	struct field field;

	if (map_get(&p->mapping_ids, &location->mapping, sizeof(location->mapping), &index))
		frame.module = string_at(p, p->mappings.at[index]);
	while (p->named.frames.count < PPROF_DEEPEST && quota_step(quota_of_profile(p), 4) &&
		field_next(&in, &field)) {
		struct pprof_function line;

		if (field.number != 4 || !field.is_bytes)
			continue;
		quota_step(quota_of_profile(p), cursor_left(&field.bytes) / 2);
		line = pair_of(field.bytes, 1, 2);
		frame.line = line.file <= UINT32_MAX ? (uint32_t)line.file : 0;
		frame.function = frame.file = NULL;
		if (map_get(&p->function_ids, &line.name, sizeof(line.name), &index)) {
			frame.function = string_at(p, p->functions.at[index].name);
			frame.file = string_at(p, p->functions.at[index].file);
		}
		if (p->named.frames.count > first)
			p->named.frames.at[p->named.frames.count - 1].inlined = true;
		vec_push(&p->named.frames, frame);
	}
	if (p->named.frames.count == first)
		vec_push(&p->named.frames, frame);
}

/* A repeated number comes packed into bytes, or one field each. */
static bool numbers_next(struct field *field, uint64_t *ret_value)
{
	if (!field->is_bytes) {
		*ret_value = field->value;
		field->is_bytes = true; /* and empty: only once */
		return true;
	}
	if (!cursor_left(&field->bytes))
		return false;
	*ret_value = cursor_uleb(&field->bytes);
	return !field->bytes.broken;
}

static int take_sample(struct pprof *p, struct cursor in)
{
	struct import_report *report = p->named.report;
	struct wire_sample sample = {.event = p->event, .cpu = UINT32_MAX};
	uint32_t values = 0, index;
	struct field field;
	uint64_t number;

	p->named.frames.count = 0;
	while (quota_step(quota_of_profile(p), 1) && field_next(&in, &field)) {
		while (field.number == 1 && numbers_next(&field, &number) &&
			quota_step(quota_of_profile(p), 1)) {
			if (p->named.frames.count >= PPROF_DEEPEST)
				sample.named_truncated = true;
			else if (map_get(&p->location_ids, &number, sizeof(number), &index))
				push_location(p, &p->locations.at[index]);
		}
		while (field.number == 2 && numbers_next(&field, &number))
			if (values++ == p->chosen)
				sample.period = number;
	}
	if (!quota_is_left(quota_of_profile(p)))
		return 0;
	if (in.broken || values <= p->chosen)
		report->skipped[IMPORT_SAMPLE_MALFORMED]++;
	else if (sample.period > INT64_MAX)
		report->skipped[IMPORT_RANGE]++;
	else if (!sample.period)
		report->skipped[IMPORT_SAMPLE_EMPTY]++;
	else
		return named_sample(&p->named, &sample);
	return 0;
}

/* The names of the types that are not read. */
static void others_list(struct pprof *p, const char *read, struct str *others)
{
	for (uint32_t i = 0; i < p->types.count && others->len < 200; i++) {
		const char *name = string_at(p, p->types.at[i].name);

		if (i != p->chosen && name && !str_equal(name, read))
			str_addf(others, "%s%s", others->len ? ", " : "", name);
	}
}

/* The type that is read, as an event; what is left aside is told. */
static int choose_type(struct pprof *p)
{
	str_auto struct str others = {0}, text = {0};
	const char *name, *unit, *wanted = p->default_type ? string_at(p, p->default_type) : NULL;
	struct named_event event = {.unit = ""};
	int r;

	p->chosen = p->types.count - 1;
	for (uint32_t i = 0; wanted && i < p->types.count; i++)
		if ((name = string_at(p, p->types.at[i].name)) && str_equal(name, wanted))
			p->chosen = i;
	name = string_at(p, p->types.at[p->chosen].name);
	unit = string_at(p, p->types.at[p->chosen].file);
	event.name = name ? name : "samples";
	if (unit && !str_equal(unit, "count"))
		event.unit = str_equal(unit, "nanoseconds") ? "ns" : unit;
	else if (str_equal(event.name, "samples"))
		event.flags = WIRE_EVENT_MERGED;
	r = named_event(&p->named, &event, &p->event);
	others_list(p, event.name, &others);
	if (r < 0 || !others.len)
		return r;
	str_addf(&text, "each sample has several values: imported %s, not %s", event.name,
		others.at);
	return emit_note(p->named.sink, "import-one-value", text.at,
		"go tool pprof -sample_index chooses another");
}

static int pprof_read(struct pprof *p, struct import_text text)
{
	struct cursor in = cursor_of(text.at, text.len);
	const uint8_t *start = in.at;
	struct field field;
	int r;

	for (; field_next(&in, &field) && table_fits(p, &field); start = in.at)
		take_table(p, &field);
	if (in.broken)
		import_damage(p->named.report, "the message ends at byte %zu of %zu",
			(size_t)((const char *)start - text.at), text.len);
	if (!p->types.count) {
		import_damage(p->named.report, "it does not say what its samples count");
		return 0;
	}
	r = choose_type(p);
	in = cursor_of(text.at, text.len);
	while (r == 0 && quota_step(quota_of_profile(p), 2) && field_next(&in, &field)) {
		p->named.report->reached = (const char *)in.at;
		if (field.number == 2 && field.is_bytes)
			r = take_sample(p, field.bytes);
	}
	return r;
}

static void pprof_done(struct pprof *p)
{
	vec_done(&p->strings);
	vec_done(&p->functions);
	vec_done(&p->locations);
	vec_done(&p->mappings);
	vec_done(&p->types);
	map_done(&p->function_ids);
	map_done(&p->location_ids);
	map_done(&p->mapping_ids);
	named_done(&p->named);
}

static bool is_gzip(struct import_text text)
{
	return text.len > 2 && memcmp(text.at, "\x1f\x8b", 2) == 0;
}

/* Unpack up to `limit` bytes; less when the data is broken or cut off (false). */
static bool gzip_unpack(struct import_text text, size_t limit, struct quota *quota, struct str *out)
{
	z_stream stream = {0};
	mem_auto unsigned char *step = mem_new(1, PPROF_STEP);
	size_t rest = text.len;
	int r = inflateInit2(&stream, 15 + 16);

	if (r != Z_OK)
		return false;
	stream.next_in = (unsigned char *)(uintptr_t)text.at;
	while (r == Z_OK && out->len < limit && quota_step(quota, PPROF_STEP / 8)) {
		if (!stream.avail_in) {
			stream.avail_in = rest > UINT32_MAX ? UINT32_MAX : (unsigned)rest;
			rest -= stream.avail_in;
		}
		stream.next_out = step;
		stream.avail_out = PPROF_STEP;
		r = inflate(&stream, Z_NO_FLUSH);
		str_add_bytes(out, (const char *)step, PPROF_STEP - stream.avail_out);
	}
	inflateEnd(&stream);
	return r == Z_STREAM_END;
}

/* A Profile: every field of it is known and well formed, up to where it may be cut.  No text
 * passes, because a sample begins with a control character. */
static bool is_profile(struct import_text text, bool may_be_cut, struct quota *quota)
{
	struct cursor in = cursor_of(text.at, text.len);
	bool types = false, samples = false;
	struct field field;

	while (quota_step(quota, 2) && field_next(&in, &field)) {
		if (field.number > 15)
			return false;
		types |= field.number == 1 && field.is_bytes;
		samples |= field.number == 2 && field.is_bytes;
	}
	return types && samples && (may_be_cut || !in.broken);
}

/* Of a gzipped one the beginning is looked at; a raw one begins with its sample types, mostly. */
static bool detect(struct import_text text, struct quota *quota)
{
	str_auto struct str head = {0};

	if (!is_gzip(text))
		return text.len && is_profile(text, *text.at == '\n', quota);
	gzip_unpack(text, PPROF_STEP, quota, &head);
	return is_profile((struct import_text){str_text(&head), head.len}, true, quota);
}

static int read_pprof(
	struct import_text text, const struct wire_sink *sink, struct import_report *report)
{
	struct pprof p = {.named = named_of(sink, report)};
	str_auto struct str unpacked = {0};
	/* As much again as the tables may take; they come on top. */
	uint64_t kept = report->quota ? report->quota->bytes_given : PPROF_UNPACKED;
	size_t limit = kept < PPROF_UNPACKED ? (size_t)kept : PPROF_UNPACKED;
	int r;

	if (is_gzip(text)) {
		if (!gzip_unpack(text, limit + PPROF_STEP, report->quota, &unpacked) &&
			quota_is_left(report->quota))
			import_damage(report, unpacked.len >= limit
						      ? "it unpacks to more than a profile can hold"
						      : "its compressed data ends early");
		text = (struct import_text){str_text(&unpacked), unpacked.len};
	}
	r = pprof_read(&p, text);
	pprof_done(&p);
	return r;
}

const struct import_format import_pprof = {"pprof", IMPORT_PROFILE, detect, read_pprof};
