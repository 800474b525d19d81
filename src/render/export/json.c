/* json.c - "assay.profile/1": the walk as it is, for people's own scripts.
 *
 * Tables that refer to each other by index from 0; null is "none".  docs/commands/export.md
 * describes each member. */
#include "export_parts.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/jsonw.h"

static void put_index(struct jsonw *w, const char *key, uint32_t index)
{
	jsonw_key(w, key);
	if (index == WALK_NONE)
		jsonw_null(w);
	else
		jsonw_u64(w, index);
}

static void put_line(struct jsonw *w, uint32_t line)
{
	jsonw_key(w, "line");
	if (line)
		jsonw_u64(w, line);
	else
		jsonw_null(w);
}

static void add_modules(struct stream *out, struct jsonw *w, const struct sample_walk *walk)
{
	jsonw_open_array(w, "modules");
	vec_foreach (const struct walk_module, module, &walk->modules) {
		jsonw_begin_object(w);
		jsonw_put_text(w, "path", module->path);
		jsonw_put_text(w, "build_id", str_or_null(module->build_id));
		jsonw_put_bool(w, "kernel", module->kernel);
		jsonw_put_bool(w, "jit", module->jit);
		jsonw_end_object(w);
		stream_pace(out);
	}
	jsonw_end_array(w);
}

static void add_functions(struct stream *out, struct jsonw *w, const struct sample_walk *walk)
{
	jsonw_open_array(w, "functions");
	vec_foreach (const struct walk_function, function, &walk->functions) {
		jsonw_begin_object(w);
		jsonw_put_text(w, "name", function->name);
		put_index(w, "module", function->module);
		jsonw_put_text(w, "file", str_or_null(function->file));
		put_line(w, function->line);
		jsonw_end_object(w);
		stream_pace(out);
	}
	jsonw_end_array(w);
}

static void add_frames(struct stream *out, struct jsonw *w, const struct sample_walk *walk)
{
	jsonw_open_array(w, "frames");
	vec_foreach (const struct walk_frame, frame, &walk->frames) {
		jsonw_begin_object(w);
		put_index(w, "function", frame->function);
		jsonw_put_text(w, "file", str_or_null(frame->file));
		put_line(w, frame->line);
		jsonw_end_object(w);
		stream_pace(out);
	}
	jsonw_end_array(w);
}

static void add_stacks(struct stream *out, struct jsonw *w, const struct sample_walk *walk)
{
	jsonw_open_array(w, "stacks");
	vec_foreach (const struct walk_node, node, &walk->nodes) {
		const struct walk_location *location = &walk->locations.at[node->location];
		char addr[24];

		jsonw_begin_object(w);
		put_index(w, "parent", node->parent);
		put_index(w, "frame", node->frame);
		put_index(w, "module", location->module);
		snprintf(addr, sizeof(addr), "0x%" PRIx64, location->addr);
		jsonw_put_text(w, "addr", addr); /* a text: JSON's numbers hold 53 bits */
		jsonw_put_bool(w, "inlined", node->inline_depth > 0);
		jsonw_end_object(w);
		stream_pace(out);
	}
	jsonw_end_array(w);
}

static void add_threads(struct stream *out, struct jsonw *w, const struct sample_walk *walk)
{
	jsonw_open_array(w, "threads");
	vec_foreach (const struct walk_thread, thread, &walk->threads) {
		jsonw_begin_object(w);
		jsonw_put_u64(w, "pid", thread->pid);
		jsonw_put_u64(w, "tid", thread->tid);
		jsonw_put_text(w, "name", str_or_null(thread->name));
		jsonw_put_u64(w, "samples", thread->samples);
		jsonw_end_object(w);
		stream_pace(out);
	}
	jsonw_end_array(w);
}

static void add_samples(
	struct stream *out, struct jsonw *w, const struct sample_walk *walk, bool merged)
{
	jsonw_open_array(w, "samples");
	vec_foreach (const struct walk_sample, sample, &walk->samples) {
		jsonw_begin_object(w);
		if (merged) {
			jsonw_put_u64(w, "samples", sample->samples);
		} else {
			jsonw_put_u64(w, "time_ns", sample->time_ns);
			put_index(w, "cpu", sample->cpu);
			if (sample->truncated)
				jsonw_put_bool(w, "truncated", true);
			if (sample->broken)
				jsonw_put_bool(w, "broken", true);
		}
		jsonw_put_u64(w, "thread", sample->thread);
		jsonw_put_u64(w, "stack", sample->node);
		jsonw_put_u64(w, "period", sample->period);
		jsonw_end_object(w);
		stream_pace(out);
	}
	jsonw_end_array(w);
}

static void add_head(struct jsonw *w, const struct sample_walk *walk, bool merged)
{
	jsonw_put_text(w, "schema", "assay.profile/1");
	jsonw_put_text(w, "assay", ASSAY_VERSION);
	jsonw_put_text(w, "target", walk->target);
	jsonw_put_u64(w, "started_ns", walk->started_ns);
	jsonw_put_text(w, "event", walk->event);
	jsonw_put_text(w, "unit", walk->unit);
	jsonw_put_u64(w, "total_samples", walk->total_samples);
	jsonw_put_u64(w, "total_period", walk->total_period);
	jsonw_put_bool(w, "merged", merged);
}

void export_json(
	struct stream *out, const struct sample_walk *walk, const struct export_options *options)
{
	struct jsonw w = {.out = &out->text, .compact = true};

	jsonw_begin_object(&w);
	add_head(&w, walk, options->merged);
	add_modules(out, &w, walk);
	add_functions(out, &w, walk);
	add_frames(out, &w, walk);
	add_stacks(out, &w, walk);
	add_threads(out, &w, walk);
	add_samples(out, &w, walk, options->merged);
	jsonw_end_object(&w);
	str_add_char(&out->text, '\n');
}
