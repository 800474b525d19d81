/* import_coz.c - the experiments of coz: profile.coz, and the JSON lines of its newer versions.
 *
 *     startup\ttime=NS
 *     experiment\tselected=FILE:LINE\tspeedup=0.25\tduration=NS\tselected-samples=N
 *     throughput-point\tname=NAME\tdelta=N
 *     latency-point\tname=NAME\tarrivals=N\tdepartures=N\tdifference=N
 *
 * The points behind an experiment belong to it; files are appended to by each run of coz, so there
 * may be several startups.  As JSON the same keys have underscores and "type" stands for the first
 * word.  coz does not pair its experiments, so ours have no pair (0): analyze finds each one a
 * baseline.  What `difference` means (begun and not ended, at the end) gives the same number at the
 * beginning, from arrivals and departures.  Line 0 is what assay writes for a whole function. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "import_format.h"
#include "source/emit.h"
#include "wire/build.h"

enum { COZ_NAMES = 65536, COZ_WORD = 3000 };

enum coz_type {
	COZ_UNKNOWN,
	COZ_EXPERIMENT,
	COZ_THROUGHPUT,
	COZ_LATENCY,
	COZ_ASIDE, /* startup, runtime, samples, shutdown: known, and not needed */
};

/* One line, of either form. */
struct coz_line {
	struct import_text text; /* the fields behind the type */
	json_t *object;		 /* NULL: the line is text */
	enum coz_type type;
};

struct coz_reader {
	const struct wire_sink *sink;
	struct import_report *report;
	struct arena arena;
	struct map targets, points;
	uint32_t target_count, point_count;
	uint64_t experiments;
	bool has_experiment; /* the points that come belong to one that was taken */
};

static enum coz_type type_of(const char *word, size_t len)
{
	static const struct {
		const char *word;
		enum coz_type type;
	} types[] = {
		{"experiment", COZ_EXPERIMENT},
		{"throughput-point", COZ_THROUGHPUT},
		{"progress-point", COZ_THROUGHPUT},
		{"latency-point", COZ_LATENCY},
		{"startup", COZ_ASIDE},
		{"runtime", COZ_ASIDE},
		{"samples", COZ_ASIDE},
		{"shutdown", COZ_ASIDE},
	};

	for (unsigned i = 0; i < sizeof(types) / sizeof(*types); i++) {
		size_t same = 0;

		while (same < len && types[i].word[same] &&
			(types[i].word[same] == word[same] ||
				(types[i].word[same] == '-' && word[same] == '_')))
			same++;
		if (same == len && !types[i].word[same])
			return types[i].type;
	}
	return COZ_UNKNOWN;
}

/* ---- the fields of a line ---- */

/* The value of key= between tabs; .at NULL: there is none. */
static struct import_text field_text(struct import_text fields, const char *key)
{
	size_t key_len = strlen(key);

	while (fields.len) {
		const char *tab = memchr(fields.at, '\t', fields.len);
		size_t len = tab ? (size_t)(tab - fields.at) : fields.len;

		if (len > key_len && fields.at[key_len] == '=' &&
			memcmp(fields.at, key, key_len) == 0)
			return (struct import_text){fields.at + key_len + 1, len - key_len - 1};
		fields.at += len + (tab != NULL);
		fields.len -= len + (tab != NULL);
	}
	return (struct import_text){0};
}

static const json_t *field_json(const struct coz_line *line, const char *key)
{
	str_auto struct str name = {0};

	for (; *key; key++)
		str_add_char(&name, *key == '-' ? '_' : *key);
	return json_object_get(line->object, str_text(&name));
}

/* A text of the line in the arena, without what a terminal would obey; NULL: none. */
static const char *line_word(const struct coz_line *line, const char *key, struct arena *arena)
{
	struct import_text found;
	char *copy;

	if (line->object) {
		found.at = json_string_value(field_json(line, key));
		found.len = found.at ? strlen(found.at) : 0;
	} else {
		found = field_text(line->text, key);
	}
	if (!found.len || memchr(found.at, '\0', found.len))
		return NULL;
	copy = arena_text(arena, found.at, found.len < COZ_WORD ? found.len : COZ_WORD);
	for (char *c = copy; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	return copy;
}

static bool line_number(const struct coz_line *line, const char *key, uint64_t *ret_value)
{
	arena_auto struct arena arena = {0};
	const json_t *number;
	const char *word;

	if (line->object) {
		number = field_json(line, key);
		if (!json_is_integer(number) || json_integer_value(number) < 0)
			return false;
		*ret_value = (uint64_t)json_integer_value(number);
		return true;
	}
	word = line_word(line, key, &arena);
	return word && *word >= '0' && *word <= '9' && str_to_u64(word, ret_value) == 0;
}

/* A share of 0 to 1 in thousandths. */
static bool line_permille(const struct coz_line *line, const char *key, uint32_t *ret_permille)
{
	arena_auto struct arena arena = {0};
	const char *word = line->object ? NULL : line_word(line, key, &arena);
	char *end = NULL;
	double share;

	if (line->object) {
		const json_t *number = field_json(line, key);

		if (!json_is_number(number))
			return false;
		share = json_number_value(number);
	} else if (word) {
		share = strtod(word, &end);
		if (end == word || *end)
			return false;
	} else {
		return false;
	}
	if (!(share >= 0 && share <= 1))
		return false;
	*ret_permille = (uint32_t)lround(1000 * share);
	return true;
}

/* ---- names ---- */

/* "dir/file.c:12" is line 12; what has no number is a name. */
static int target_take(struct coz_reader *in, uint32_t id, const char *selected)
{
	const char *colon = strrchr(selected, ':'), *slash = strrchr(selected, '/');
	uint64_t line = 0;
	bool numbered = colon && colon > selected && str_to_u64(colon + 1, &line) == 0 &&
			line <= UINT32_MAX;
	const char *file =
		numbered ? arena_text(&in->arena, selected, (size_t)(colon - selected)) : selected;
	struct emit_target target = {.target = id, .kind = WIRE_TARGET_CPU, .name = file};

	if (numbered && line) {
		target.name = slash ? slash + 1 : selected;
		target.file = file;
		target.line = (uint32_t)line;
	} else {
		target.function = file;
	}
	return emit_target(in->sink, &target);
}

static int point_emit(
	struct coz_reader *in, uint32_t id, enum wire_progress_kind kind, const char *name)
{
	union {
		struct wire_progress progress;
		unsigned char bytes[4096];
	} space;
	struct wire_builder b =
		wire_begin(&space, sizeof(space), WIRE_PROGRESS, sizeof(space.progress));

	space.progress.point = id;
	space.progress.kind = kind;
	wire_add_text(&b, &space.progress.name, name);
	return in->sink->take(in->sink->context, wire_end(&b));
}

/* ---- lines ---- */

static int skip(struct coz_reader *in, enum import_skip why)
{
	in->report->skipped[why]++;
	return 0;
}

static int take_experiment(struct coz_reader *in, const struct coz_line *line)
{
	const char *selected = line_word(line, "selected", &in->arena);
	struct wire_experiment e = {.head = {WIRE_EXPERIMENT, sizeof(e)}};
	int r = 0;

	in->has_experiment = false;
	if (!selected || !line_permille(line, "speedup", &e.speedup_permille) ||
		!line_number(line, "duration", &e.virtual_ns))
		return skip(in, IMPORT_MALFORMED);
	if (!e.virtual_ns || e.virtual_ns > INT64_MAX)
		return skip(in, IMPORT_RANGE);
	(void)line_number(line, "selected-samples", &e.hits);
	if (!map_get(&in->targets, selected, strlen(selected), &e.target)) {
		if (in->target_count == COZ_NAMES)
			return skip(in, IMPORT_TOO_MANY);
		e.target = ++in->target_count;
		map_put(&in->targets, selected, strlen(selected), e.target);
		r = target_take(in, e.target, selected);
	}
	e.wall_ns = e.virtual_ns;
	in->experiments++;
	in->has_experiment = true;
	return r < 0 ? r : in->sink->take(in->sink->context, &e.head);
}

static bool line_visits(const struct coz_line *line, struct wire_visit *visit)
{
	uint64_t begun;

	if (line->type == COZ_THROUGHPUT) {
		if (!line_number(line, "delta", &visit->departures))
			return false;
		visit->arrivals = visit->departures;
		return true;
	}
	if (!line_number(line, "arrivals", &visit->arrivals) ||
		!line_number(line, "departures", &visit->departures) ||
		!line_number(line, "difference", &visit->open_after))
		return false;
	if (__builtin_add_overflow(visit->open_after, visit->departures, &begun))
		return false;
	visit->open_before = begun > visit->arrivals ? begun - visit->arrivals : 0;
	return true;
}

static int take_point(struct coz_reader *in, const struct coz_line *line)
{
	const char *name = line_word(line, "name", &in->arena);
	struct wire_visit visit = {.head = {WIRE_VISIT, sizeof(visit)}};
	bool latency = line->type == COZ_LATENCY;
	str_auto struct str key = {0};
	int r = 0;

	if (!name || !in->has_experiment || !line_visits(line, &visit))
		return skip(in, IMPORT_MALFORMED);
	str_addf(&key, "%d%s", latency, name);
	if (!map_get(&in->points, key.at, key.len, &visit.point)) {
		if (in->point_count == COZ_NAMES)
			return skip(in, IMPORT_TOO_MANY);
		visit.point = ++in->point_count;
		map_put(&in->points, key.at, key.len, visit.point);
		r = point_emit(in, visit.point,
			latency ? WIRE_PROGRESS_LATENCY : WIRE_PROGRESS_THROUGHPUT, name);
	}
	return r < 0 ? r : in->sink->take(in->sink->context, &visit.head);
}

static struct coz_line line_of_text(struct import_text text)
{
	const char *tab = memchr(text.at, '\t', text.len);
	size_t word = tab ? (size_t)(tab - text.at) : text.len;

	return (struct coz_line){
		.text = {text.at + word + (tab != NULL), text.len - word - (tab != NULL)},
		.type = type_of(text.at, word)};
}

/* The object is the caller's to release. */
static struct coz_line line_of_json(struct import_text text)
{
	struct coz_line line = {.object = json_loadb(text.at, text.len, 0, NULL)};
	const char *type = json_string_value(json_object_get(line.object, "type"));

	line.type = type ? type_of(type, strlen(type)) : COZ_UNKNOWN;
	return line;
}

static int take_line(struct coz_reader *in, struct import_text text, bool whole)
{
	bool json = text.at[0] == '{';
	struct coz_line line = json ? line_of_json(text) : line_of_text(text);
	int r = 0;

	/* A number at the end of a line that was cut off may lack digits. */
	if (!whole && (!json || !line.object))
		r = skip(in, IMPORT_TRUNCATED);
	else if (line.type == COZ_EXPERIMENT)
		r = take_experiment(in, &line);
	else if (line.type == COZ_THROUGHPUT || line.type == COZ_LATENCY)
		r = take_point(in, &line);
	else if (line.type == COZ_UNKNOWN)
		r = skip(in, json && line.object ? IMPORT_FOREIGN : IMPORT_MALFORMED);
	json_decref(line.object);
	return r;
}

static int read_coz(
	struct import_text text, const struct wire_sink *sink, struct import_report *report)
{
	struct coz_reader in = {.sink = sink, .report = report};
	struct import_text line;
	bool whole;
	int r = 0;

	while (r >= 0 && import_line_next(report->quota, &text, &line, &whole)) {
		if (import_line_is_empty(line))
			continue;
		report->lines++;
		r = take_line(&in, line, whole);
	}
	if (r >= 0 && !in.experiments)
		import_damage(report, "it has no experiments");
	else if (r >= 0)
		r = emit_note(sink, "experiments-unpaired",
			"coz does not pair its experiments: each is compared with the nearest one "
			"of the same line without a speed-up",
			"the bounds assume that the speed did not drift in between");
	map_done(&in.targets);
	map_done(&in.points);
	arena_done(&in.arena);
	return r;
}

/* The first line that holds something is one of coz's. */
static bool detect_first(struct import_text text, bool json, struct quota *quota)
{
	struct import_text line;
	struct coz_line parsed;
	bool whole, found;

	while (import_line_next(quota, &text, &line, &whole)) {
		if (import_line_is_empty(line))
			continue;
		if ((line.at[0] == '{') != json)
			return false;
		parsed = json ? line_of_json(line) : line_of_text(line);
		found = parsed.type != COZ_UNKNOWN &&
			(json || memchr(parsed.text.at, '=', parsed.text.len));
		json_decref(parsed.object);
		return found;
	}
	return false;
}

static bool detect_text(struct import_text text, struct quota *quota)
{
	return detect_first(text, false, quota);
}

static bool detect_json(struct import_text text, struct quota *quota)
{
	return detect_first(text, true, quota);
}

const struct import_format import_coz = {"coz", IMPORT_EXPERIMENTS, detect_text, read_coz};
const struct import_format import_coz_json = {
	"coz-json", IMPORT_EXPERIMENTS, detect_json, read_coz};
