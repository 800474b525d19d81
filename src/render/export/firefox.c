/* firefox.c - the Firefox Profiler's processed format, version 60.
 *
 * The viewer upgrades every older version, so one is chosen and kept.  60 is the first whose tables
 * of stacks, frames and functions are shared by all threads, as ours are.  The tables are stored
 * column by column, so each is walked once per column.  A frame of theirs is a place: one of our
 * locations with one of the functions inlined there. */
#include "export_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/map.h"

enum { FIREFOX_VERSION = 60, GECKO_VERSION = 29, RESOURCE_LIBRARY = 1 };
enum { CATEGORY_USER, CATEGORY_KERNEL, CATEGORY_JIT };

struct firefox {
	struct stream *out;
	struct jsonw w;
	const struct sample_walk *walk;
	struct map strings;
	vec_of(const char *) texts;
	uint32_t *first_frame; /* by location: its outermost frame; what is inlined follows */
	struct {
		uint32_t location, frame, inline_depth;
	} * frames;
	uint32_t frame_count;
};

static uint32_t string_index(struct firefox *f, const char *text)
{
	uint32_t index;

	if (map_get(&f->strings, text, strlen(text), &index))
		return index;
	vec_push(&f->texts, text);
	map_put(&f->strings, text, strlen(text), f->texts.count - 1);
	return f->texts.count - 1;
}

/* Every node that is reached makes its frame known; locations without a node do not exist. */
static void number_frames(struct firefox *f)
{
	const struct sample_walk *walk = f->walk;
	uint32_t *depths = mem_new((size_t)walk->locations.count + 1, sizeof(*depths));

	f->first_frame = mem_new((size_t)walk->locations.count + 1, sizeof(*f->first_frame));
	vec_foreach (const struct walk_node, node, &walk->nodes)
		if (depths[node->location] < node->inline_depth + 1)
			depths[node->location] = node->inline_depth + 1;
	for (uint32_t i = 0; i < walk->locations.count; i++) {
		f->first_frame[i] = f->frame_count;
		f->frame_count += depths[i];
	}
	free(depths);
	f->frames = mem_new((size_t)f->frame_count + 1, sizeof(*f->frames));
	vec_foreach (const struct walk_node, node, &walk->nodes) {
		uint32_t frame = f->first_frame[node->location] + node->inline_depth;

		f->frames[frame].location = node->location;
		f->frames[frame].frame = node->frame;
		f->frames[frame].inline_depth = node->inline_depth;
	}
}

static void column_begin(struct firefox *f, const char *name)
{
	jsonw_open_array(&f->w, name);
}

/* A column that is the same in every row: null, or a number. */
static void column_of(struct firefox *f, const char *name, uint32_t count, int64_t value)
{
	column_begin(f, name);
	for (uint32_t i = 0; i < count; i++) {
		if (value == INT64_MIN)
			jsonw_null(&f->w);
		else
			jsonw_i64(&f->w, value);
		stream_pace(f->out);
	}
	jsonw_end_array(&f->w);
}

static void put_or_null(struct firefox *f, uint64_t value)
{
	if (value)
		jsonw_u64(&f->w, value);
	else
		jsonw_null(&f->w);
	stream_pace(f->out);
}

static void add_category(struct jsonw *w, const char *name, const char *color)
{
	jsonw_begin_object(w);
	jsonw_put_text(w, "name", name);
	jsonw_put_text(w, "color", color);
	jsonw_open_array(w, "subcategories");
	jsonw_text(w, "Other");
	jsonw_end_array(w);
	jsonw_end_object(w);
}

static double interval_ms(const struct sample_walk *walk)
{
	if (walk->period_is_ns && walk->common_period)
		return (double)walk->common_period / 1e6;
	return walk->total_samples > 1 ? (double)(walk->last_ns - walk->first_ns) / 1e6 /
						 (double)(walk->total_samples - 1)
				       : 1;
}

static void add_meta(struct firefox *f)
{
	struct jsonw *w = &f->w;
	const struct sample_walk *walk = f->walk;

	jsonw_open_object(w, "meta");
	jsonw_put_u64(w, "preprocessedProfileVersion", FIREFOX_VERSION);
	jsonw_put_u64(w, "version", GECKO_VERSION);
	jsonw_put_double(w, "interval", interval_ms(walk) > 0 ? interval_ms(walk) : 1);
	jsonw_put_double(w, "startTime", (double)walk->started_ns / 1e6);
	jsonw_put_u64(w, "processType", 0);
	jsonw_put_u64(w, "stackwalk", 1);
	jsonw_put_text(w, "product", *walk->target ? walk->target : "assay");
	jsonw_put_text(w, "importedFrom", "assay " ASSAY_VERSION);
	jsonw_put_bool(w, "symbolicated", true);
	jsonw_put_bool(w, "symbolicationNotSupported", true);
	jsonw_open_array(w, "categories");
	add_category(w, "User", "yellow"); /* in the order of CATEGORY_* */
	add_category(w, "Kernel", "orange");
	add_category(w, "JIT", "blue");
	add_category(w, "Other", "grey"); /* the viewer wants a grey one as default */
	jsonw_end_array(w);
	jsonw_open_array(w, "markerSchema");
	jsonw_end_array(w);
	jsonw_end_object(w);
}

static void add_libs(struct firefox *f)
{
	struct jsonw *w = &f->w;

	jsonw_open_array(w, "libs");
	vec_foreach (const struct walk_module, module, &f->walk->modules) {
		jsonw_begin_object(w);
		jsonw_put_text(w, "name", module->name);
		jsonw_put_text(w, "path", module->path);
		jsonw_put_text(w, "debugName", module->name);
		jsonw_put_text(w, "debugPath", module->path);
		jsonw_put_text(w, "breakpadId", "");
		jsonw_put_text(w, "codeId", str_or_null(module->build_id));
		jsonw_put_text(w, "arch", "");
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void add_stack_table(struct firefox *f)
{
	const struct sample_walk *walk = f->walk;

	jsonw_open_object(&f->w, "stackTable");
	column_begin(f, "frame");
	vec_foreach (const struct walk_node, node, &walk->nodes) {
		jsonw_u64(&f->w, f->first_frame[node->location] + node->inline_depth);
		stream_pace(f->out);
	}
	jsonw_end_array(&f->w);
	column_begin(f, "prefix");
	vec_foreach (const struct walk_node, node, &walk->nodes) {
		if (node->parent == WALK_NONE)
			jsonw_null(&f->w);
		else
			jsonw_u64(&f->w, node->parent);
		stream_pace(f->out);
	}
	jsonw_end_array(&f->w);
	jsonw_put_u64(&f->w, "length", walk->nodes.count);
	jsonw_end_object(&f->w);
}

static unsigned category_of(const struct sample_walk *walk, uint32_t location)
{
	uint32_t module = walk->locations.at[location].module;

	if (walk->locations.at[location].kernel)
		return CATEGORY_KERNEL;
	return module != WALK_NONE && walk->modules.at[module].jit ? CATEGORY_JIT : CATEGORY_USER;
}

static void add_frame_table(struct firefox *f)
{
	const struct sample_walk *walk = f->walk;
	struct jsonw *w = &f->w;

	jsonw_open_object(w, "frameTable");
	column_begin(f, "address");
	for (uint32_t i = 0; i < f->frame_count; i++, stream_pace(f->out)) {
		const struct walk_location *location = &walk->locations.at[f->frames[i].location];

		/* theirs are relative to a library and held in a double */
		if (location->addr && location->module != WALK_NONE && location->addr < 1ULL << 53)
			jsonw_u64(w, location->addr);
		else
			jsonw_i64(w, -1);
	}
	jsonw_end_array(w);
	column_begin(f, "inlineDepth");
	for (uint32_t i = 0; i < f->frame_count; i++, stream_pace(f->out))
		jsonw_u64(w, f->frames[i].inline_depth);
	jsonw_end_array(w);
	column_begin(f, "category");
	for (uint32_t i = 0; i < f->frame_count; i++, stream_pace(f->out))
		jsonw_u64(w, category_of(walk, f->frames[i].location));
	jsonw_end_array(w);
	column_of(f, "subcategory", f->frame_count, 0);
	column_begin(f, "func");
	for (uint32_t i = 0; i < f->frame_count; i++, stream_pace(f->out))
		jsonw_u64(w, walk->frames.at[f->frames[i].frame].function);
	jsonw_end_array(w);
	column_of(f, "nativeSymbol", f->frame_count, INT64_MIN);
	column_of(f, "innerWindowID", f->frame_count, 0);
	column_begin(f, "line");
	for (uint32_t i = 0; i < f->frame_count; i++)
		put_or_null(f, walk->frames.at[f->frames[i].frame].line);
	jsonw_end_array(w);
	column_of(f, "column", f->frame_count, INT64_MIN);
	jsonw_put_u64(w, "length", f->frame_count);
	jsonw_end_object(w);
}

/* Files are numbered as they are met: `source` refers to the table of sources. */
struct source_table {
	struct map indexes;
	vec_of(uint32_t) strings;
};

static uint32_t source_index(struct firefox *f, struct source_table *sources, const char *file)
{
	uint32_t index;

	if (map_get(&sources->indexes, file, strlen(file), &index))
		return index;
	vec_push(&sources->strings, string_index(f, file));
	map_put(&sources->indexes, file, strlen(file), sources->strings.count - 1);
	return sources->strings.count - 1;
}

static void add_function_sources(struct firefox *f, struct source_table *sources)
{
	column_begin(f, "source");
	vec_foreach (const struct walk_function, function, &f->walk->functions) {
		if (*function->file)
			jsonw_u64(&f->w, source_index(f, sources, function->file));
		else
			jsonw_null(&f->w);
		stream_pace(f->out);
	}
	jsonw_end_array(&f->w);
}

static void add_func_table(struct firefox *f, struct source_table *sources)
{
	const struct sample_walk *walk = f->walk;
	struct jsonw *w = &f->w;

	jsonw_open_object(w, "funcTable");
	column_begin(f, "name");
	vec_foreach (const struct walk_function, function, &walk->functions) {
		jsonw_u64(w, string_index(f, function->name));
		stream_pace(f->out);
	}
	jsonw_end_array(w);
	column_begin(f, "isJS");
	for (uint32_t i = 0; i < walk->functions.count; i++)
		jsonw_bool(w, false);
	jsonw_end_array(w);
	column_begin(f, "relevantForJS");
	for (uint32_t i = 0; i < walk->functions.count; i++)
		jsonw_bool(w, false);
	jsonw_end_array(w);
	column_begin(f, "resource");
	vec_foreach (const struct walk_function, function, &walk->functions)
		jsonw_i64(w, function->module == WALK_NONE ? -1 : (int64_t)function->module);
	jsonw_end_array(w);
	add_function_sources(f, sources);
	column_begin(f, "lineNumber");
	vec_foreach (const struct walk_function, function, &walk->functions)
		put_or_null(f, function->line);
	jsonw_end_array(w);
	column_of(f, "columnNumber", walk->functions.count, INT64_MIN);
	jsonw_put_u64(w, "length", walk->functions.count);
	jsonw_end_object(w);
}

/* One resource, a library, for each module: the same index in both. */
static void add_resources(struct firefox *f)
{
	const struct sample_walk *walk = f->walk;
	struct jsonw *w = &f->w;

	jsonw_open_object(w, "resourceTable");
	column_of(f, "type", walk->modules.count, RESOURCE_LIBRARY);
	column_begin(f, "lib");
	for (uint32_t i = 0; i < walk->modules.count; i++)
		jsonw_u64(w, i);
	jsonw_end_array(w);
	column_begin(f, "name");
	vec_foreach (const struct walk_module, module, &walk->modules)
		jsonw_u64(w, string_index(f, module->name));
	jsonw_end_array(w);
	column_of(f, "host", walk->modules.count, INT64_MIN);
	jsonw_put_u64(w, "length", walk->modules.count);
	jsonw_end_object(w);
}

static void add_sources(struct firefox *f, const struct source_table *sources)
{
	jsonw_open_object(&f->w, "sources");
	column_of(f, "id", sources->strings.count, INT64_MIN);
	column_begin(f, "filename");
	vec_foreach (const uint32_t, string, &sources->strings)
		jsonw_u64(&f->w, *string);
	jsonw_end_array(&f->w);
	jsonw_put_u64(&f->w, "length", sources->strings.count);
	jsonw_end_object(&f->w);
}

static void add_empty_table(struct jsonw *w, const char *name, const char *const *columns)
{
	jsonw_open_object(w, name);
	for (; *columns; columns++) {
		jsonw_open_array(w, *columns);
		jsonw_end_array(w);
	}
	jsonw_put_u64(w, "length", 0);
	jsonw_end_object(w);
}

static void add_shared(struct firefox *f)
{
	static const char *const symbols[] = {"libIndex", "address", "name", "functionSize", NULL};
	struct source_table sources = {0};

	jsonw_open_object(&f->w, "shared");
	add_stack_table(f);
	add_frame_table(f);
	add_func_table(f, &sources);
	add_resources(f);
	add_empty_table(&f->w, "nativeSymbols", symbols);
	add_sources(f, &sources);
	jsonw_key(&f->w, "stringArray"); /* last: now every text is known */
	jsonw_begin_array(&f->w);
	vec_foreach (const char *const, text, &f->texts) {
		jsonw_text(&f->w, *text);
		stream_pace(f->out);
	}
	jsonw_end_array(&f->w);
	jsonw_end_object(&f->w);
	map_done(&sources.indexes);
	vec_done(&sources.strings);
}

static void add_sample_table(struct firefox *f, uint32_t first, uint32_t past)
{
	const struct walk_sample *samples = f->walk->samples.at;
	struct jsonw *w = &f->w;

	jsonw_open_object(w, "samples");
	column_begin(f, "stack");
	for (uint32_t i = first; i < past; i++, stream_pace(f->out))
		jsonw_u64(w, samples[i].node);
	jsonw_end_array(w);
	column_begin(f, "time"); /* milliseconds since the first sample of all */
	for (uint32_t i = first; i < past; i++, stream_pace(f->out))
		jsonw_double(w, (double)(samples[i].time_ns - f->walk->first_ns) / 1e6);
	jsonw_end_array(w);
	jsonw_key(w, "weight");
	jsonw_null(w); /* one each */
	jsonw_put_text(w, "weightType", "samples");
	jsonw_put_u64(w, "length", past - first);
	jsonw_end_object(w);
}

static void add_thread_names(struct jsonw *w, const struct walk_thread *thread)
{
	str_auto struct str text = {0};

	export_thread_name(&text, thread);
	jsonw_put_text(w, "name", str_text(&text));
	jsonw_put_text(w, "processName", str_text(&text));
	str_clear(&text);
	str_addf(&text, "%u", thread->pid);
	jsonw_put_text(w, "pid", str_text(&text));
	jsonw_put_u64(w, "tid", thread->tid);
	jsonw_put_bool(w, "isMainThread", thread->pid == thread->tid);
}

static uint32_t add_thread(struct firefox *f, uint32_t first)
{
	static const char *const markers[] = {
		"data", "name", "startTime", "endTime", "phase", "category", NULL};
	const struct sample_walk *walk = f->walk;
	struct jsonw *w = &f->w;
	uint32_t thread = walk->samples.at[first].thread, past = first;

	while (past < walk->samples.count && walk->samples.at[past].thread == thread)
		past++;
	jsonw_begin_object(w);
	add_thread_names(w, &walk->threads.at[thread]);
	jsonw_put_text(w, "processType", "default");
	jsonw_put_u64(w, "processStartupTime", 0);
	jsonw_key(w, "processShutdownTime");
	jsonw_null(w);
	jsonw_put_u64(w, "registerTime", 0);
	jsonw_key(w, "unregisterTime");
	jsonw_null(w);
	jsonw_open_array(w, "pausedRanges");
	jsonw_end_array(w);
	add_empty_table(w, "markers", markers);
	add_sample_table(f, first, past);
	jsonw_end_object(w);
	return past;
}

void export_firefox(
	struct stream *out, const struct sample_walk *walk, const struct export_options *options)
{
	struct firefox f = {.out = out, .walk = walk, .w = {.out = &out->text, .compact = true}};

	(void)options;
	number_frames(&f);
	jsonw_begin_object(&f.w);
	add_meta(&f);
	add_libs(&f);
	add_shared(&f);
	jsonw_open_array(&f.w, "threads");
	for (uint32_t i = 0; i < walk->samples.count;)
		i = add_thread(&f, i);
	jsonw_end_array(&f.w);
	jsonw_end_object(&f.w);
	str_add_char(&out->text, '\n');
	map_done(&f.strings);
	vec_done(&f.texts);
	free(f.first_frame);
	free(f.frames);
}
