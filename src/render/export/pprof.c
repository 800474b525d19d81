/* pprof.c - pprof's profile.proto, encoded by hand and compressed with gzip.
 *
 * Protobuf wants nothing but tags, varints and lengths; a library would be longer than this.  The
 * fields of a message may come in any order, so the string table is written last, when it is known.
 * Two values a sample: how many, and what they weigh (the event); pprof shows the last by default.
 * Threads are labels: `go tool pprof -tagfocus thread=NAME`. */
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>

#include "base/map.h"
#include "export_parts.h"

/* Field numbers of profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
};

struct pprof {
	struct stream plain; /* gathers the protobuf, deflates into `out` */
	struct stream *out;
	z_stream zip;
	struct map strings; /* text to its index */
	vec_of(const char *) texts;
	struct str scratch, inner;
};

/* ---- gzip ---- */

static int zip_bytes(struct pprof *p, const void *bytes, size_t len, int flush)
{
	unsigned char piece[16384];

	p->zip.next_in = bytes;
	p->zip.avail_in = (uInt)len;
	do {
		p->zip.next_out = piece;
		p->zip.avail_out = sizeof(piece);
		deflate(&p->zip, flush);
		str_add_bytes(&p->out->text, (char *)piece, sizeof(piece) - p->zip.avail_out);
		stream_pace(p->out);
	} while (p->zip.avail_out == 0);
	return p->out->error;
}

static int zip_write(void *context, const void *bytes, size_t len)
{
	return zip_bytes(context, bytes, len, Z_NO_FLUSH);
}

/* ---- protobuf ---- */

static void put_varint(struct str *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		str_add_char(out, (char)(value | 0x80));
	str_add_char(out, (char)value);
}

/* Zero is what a field has when it is not there. */
static void put_number(struct str *out, unsigned field, uint64_t value)
{
	if (!value)
		return;
	put_varint(out, field << 3);
	put_varint(out, value);
}

static void put_bytes(struct str *out, unsigned field, const char *bytes, size_t len)
{
	put_varint(out, field << 3 | 2);
	put_varint(out, len);
	str_add_bytes(out, bytes, len);
}

/* What stands in `scratch` as a member of the profile. */
static void put_message(struct pprof *p, unsigned field)
{
	put_bytes(&p->plain.text, field, str_text(&p->scratch), p->scratch.len);
	str_clear(&p->scratch);
	stream_pace(&p->plain);
}

static uint64_t string_index(struct pprof *p, const char *text)
{
	size_t len = strlen(text);
	uint32_t index;

	if (!len)
		return 0;
	if (map_get(&p->strings, text, len, &index))
		return index;
	vec_push(&p->texts, text);
	map_put(&p->strings, text, len, p->texts.count);
	return p->texts.count;
}

static void put_value_type(struct pprof *p, unsigned field, const char *type, const char *unit)
{
	put_number(&p->scratch, 1, string_index(p, type));
	put_number(&p->scratch, 2, string_index(p, unit));
	put_message(p, field);
}

/* ---- the profile ---- */

static void add_types(struct pprof *p, const struct sample_walk *walk)
{
	const char *type = walk->period_is_ns ? "cpu" : walk->event;
	const char *unit = walk->period_is_ns ? "nanoseconds" : "count";

	put_value_type(p, PROFILE_SAMPLE_TYPE, "samples", "count");
	if (walk->weighted && !walk->merged) {
		put_value_type(p, PROFILE_SAMPLE_TYPE, type, unit);
		put_value_type(p, PROFILE_PERIOD_TYPE, type, unit);
	}
	put_number(&p->plain.text, PROFILE_PERIOD, walk->common_period);
	put_number(&p->plain.text, PROFILE_TIME_NANOS, walk->started_ns);
	put_number(&p->plain.text, PROFILE_DURATION_NANOS, walk->last_ns - walk->first_ns);
	if (*walk->target)
		put_number(&p->plain.text, PROFILE_COMMENT, string_index(p, walk->target));
}

/* The addresses of a run are those of the file, so a mapping starts at 0, as if the file had been
 * loaded there; the flags say that nothing is left to be named. */
static void add_mapping(struct pprof *p, const struct walk_module *module, uint32_t id)
{
	put_number(&p->scratch, 1, id);
	put_number(&p->scratch, 2, module->kernel || module->jit ? module->low : 0);
	put_number(&p->scratch, 3, module->high == UINT64_MAX ? module->high : module->high + 1);
	put_number(&p->scratch, 5, string_index(p, module->path));
	put_number(&p->scratch, 6, string_index(p, module->build_id));
	for (unsigned flag = 7; flag <= 10; flag++) /* has functions, files, lines, inlines */
		put_number(&p->scratch, flag, 1);
	put_message(p, PROFILE_MAPPING);
}

/* pprof takes the first mapping for the program: 0 the target itself, 1 other files, 2 the rest. */
static unsigned mapping_rank(const struct sample_walk *walk, const struct walk_module *module)
{
	size_t len = strcspn(walk->target, " ");
	const char *slash = memrchr(walk->target, '/', len);
	const char *name = slash ? slash + 1 : walk->target;

	len -= (size_t)(name - walk->target);
	if (strlen(module->name) == len && !strncmp(module->name, name, len))
		return 0;
	return module->kernel || module->jit ? 2 : 1;
}

static void add_mappings(struct pprof *p, const struct sample_walk *walk)
{
	for (unsigned rank = 0; rank <= 2; rank++)
		for (uint32_t i = 0; i < walk->modules.count; i++)
			if (mapping_rank(walk, &walk->modules.at[i]) == rank)
				add_mapping(p, &walk->modules.at[i], i + 1);
}

static void add_functions(struct pprof *p, const struct sample_walk *walk)
{
	for (uint32_t i = 0; i < walk->functions.count; i++) {
		const struct walk_function *function = &walk->functions.at[i];

		put_number(&p->scratch, 1, i + 1);
		put_number(&p->scratch, 2, string_index(p, function->name));
		/* no system name: with one that is the same, pprof would take the name for mangled
		 * and cut its templates and arguments */
		put_number(&p->scratch, 4, string_index(p, function->file));
		put_number(&p->scratch, 5, function->line);
		put_message(p, PROFILE_FUNCTION);
	}
}

static void add_locations(struct pprof *p, const struct sample_walk *walk)
{
	for (uint32_t i = 0; i < walk->locations.count; i++) {
		const struct walk_location *location = &walk->locations.at[i];
		unsigned depth = 0;

		put_number(&p->scratch, 1, i + 1);
		put_number(
			&p->scratch, 2, location->module == WALK_NONE ? 0 : location->module + 1);
		put_number(&p->scratch, 3, location->addr);
		for (uint32_t frame = location->frame;
			frame != WALK_NONE && depth < LABEL_INLINES_MAX;
			frame = walk->frames.at[frame].outer, depth++) {
			str_clear(&p->inner);
			put_number(&p->inner, 1, walk->frames.at[frame].function + 1);
			put_number(&p->inner, 2, walk->frames.at[frame].line);
			put_bytes(&p->scratch, 4, str_text(&p->inner), p->inner.len);
		}
		put_message(p, PROFILE_LOCATION);
	}
}

static void put_label(struct pprof *p, const char *key, const char *text, uint64_t number)
{
	str_clear(&p->inner);
	put_number(&p->inner, 1, string_index(p, key));
	put_number(&p->inner, 2, string_index(p, text));
	put_number(&p->inner, 3, number);
	put_bytes(&p->scratch, 3, str_text(&p->inner), p->inner.len);
}

static void add_samples(struct pprof *p, const struct sample_walk *walk)
{
	vec_foreach (const struct walk_sample, sample, &walk->samples) {
		const struct walk_thread *thread = &walk->threads.at[sample->thread];

		if (p->out->error)
			return;
		str_clear(&p->inner);
		for (uint32_t node = sample->node; node != WALK_NONE;
			node = walk->nodes.at[node].parent)
			if (!walk->nodes.at[node].inline_depth)
				put_varint(&p->inner, walk->nodes.at[node].location + 1);
		put_bytes(&p->scratch, 1, str_text(&p->inner), p->inner.len);
		str_clear(&p->inner);
		put_varint(&p->inner, sample->samples);
		if (walk->weighted && !walk->merged)
			put_varint(&p->inner, sample->period);
		put_bytes(&p->scratch, 2, str_text(&p->inner), p->inner.len);
		if (*thread->name)
			put_label(p, "thread", thread->name, 0);
		put_label(p, "tid", "", thread->tid);
		put_message(p, PROFILE_SAMPLE);
	}
}

static void add_strings(struct pprof *p)
{
	put_bytes(&p->plain.text, PROFILE_STRING_TABLE, "", 0);
	vec_foreach (const char *const, text, &p->texts) {
		put_bytes(&p->plain.text, PROFILE_STRING_TABLE, *text, strlen(*text));
		stream_pace(&p->plain);
	}
}

void export_pprof(
	struct stream *out, const struct sample_walk *walk, const struct export_options *options)
{
	struct pprof p = {.out = out, .plain = {.write = zip_write}};

	(void)options;
	p.plain.context = &p;
	/* 15 + 16: a gzip header with no time in it, so equal runs give equal files */
	if (deflateInit2(&p.zip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
		    Z_DEFAULT_STRATEGY) != Z_OK)
		abort(); /* memory has run out */
	add_types(&p, walk);
	add_mappings(&p, walk);
	add_functions(&p, walk);
	add_locations(&p, walk);
	add_samples(&p, walk);
	add_strings(&p);
	stream_end(&p.plain);
	zip_bytes(&p, "", 0, Z_FINISH);
	deflateEnd(&p.zip);
	map_done(&p.strings);
	vec_done(&p.texts);
	str_done(&p.scratch);
	str_done(&p.inner);
}
