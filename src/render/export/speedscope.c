/* speedscope.c - speedscope's own format: frames once, then one "sampled" profile per
 * thread.
 *
 * A frame is a function, not a line: speedscope takes frames that differ in any member for
 * different functions.  Each sample carries its whole chain, the outermost first; 1e6 samples are
 * some hundred megabytes, which is what --merged is for (equal chains of a thread once, without
 * their order in time). */
#include "export_parts.h"

#include "base/jsonw.h"

static void add_frames(struct stream *out, struct jsonw *w, const struct sample_walk *walk)
{
	jsonw_open_object(w, "shared");
	jsonw_open_array(w, "frames");
	vec_foreach (const struct walk_function, function, &walk->functions) {
		jsonw_begin_object(w);
		jsonw_put_text(w, "name", function->name);
		if (*function->file)
			jsonw_put_text(w, "file", function->file);
		else if (function->module != WALK_NONE)
			jsonw_put_text(w, "file", walk->modules.at[function->module].path);
		if (function->line)
			jsonw_put_u64(w, "line", function->line);
		jsonw_end_object(w);
		stream_pace(out);
	}
	jsonw_end_array(w);
	jsonw_end_object(w);
}

static void add_chains(struct stream *out, struct jsonw *w, const struct sample_walk *walk,
	uint32_t first, uint32_t past)
{
	walk_chain_auto struct walk_chain chain = {0};

	jsonw_open_array(w, "samples");
	for (uint32_t i = first; i < past && !out->error; i++) {
		sample_walk_chain(walk, walk->samples.at[i].node, &chain);
		jsonw_begin_array(w);
		vec_foreach (const uint32_t, node, &chain.nodes)
			jsonw_u64(w, walk->frames.at[walk->nodes.at[*node].frame].function);
		jsonw_end_array(w);
		stream_pace(out);
	}
	jsonw_end_array(w);
}

static void add_weights(struct stream *out, struct jsonw *w, const struct walk_sample *samples,
	uint32_t count, bool by_period)
{
	jsonw_open_array(w, "weights");
	for (uint32_t i = 0; i < count; i++) {
		jsonw_u64(w, by_period ? samples[i].period : samples[i].samples);
		stream_pace(out);
	}
	jsonw_end_array(w);
}

static void add_thread(struct stream *out, struct jsonw *w, const struct sample_walk *walk,
	const struct export_options *options, uint32_t first)
{
	const struct walk_thread *thread = &walk->threads.at[walk->samples.at[first].thread];
	str_auto struct str name = {0};
	uint64_t sum = 0;
	uint32_t past = first;

	for (; past < walk->samples.count &&
		walk->samples.at[past].thread == walk->samples.at[first].thread;
		past++)
		sum += options->by_period ? walk->samples.at[past].period
					  : walk->samples.at[past].samples;
	export_thread_name(&name, thread);
	str_addf(&name, " (tid %u)", thread->tid);
	jsonw_begin_object(w);
	jsonw_put_text(w, "type", "sampled");
	jsonw_put_text(w, "name", str_text(&name));
	jsonw_put_text(
		w, "unit", options->by_period && walk->period_is_ns ? "nanoseconds" : "none");
	jsonw_put_u64(w, "startValue", 0);
	jsonw_put_u64(w, "endValue", sum);
	add_chains(out, w, walk, first, past);
	add_weights(out, w, walk->samples.at + first, past - first, options->by_period);
	jsonw_end_object(w);
}

/* The thread with the most samples is shown first. */
static uint32_t busiest_profile(const struct sample_walk *walk)
{
	uint32_t profile = 0, best = 0, count = 0;

	for (uint32_t i = 0; i < walk->samples.count; i++) {
		uint32_t thread = walk->samples.at[i].thread;

		if (i && thread == walk->samples.at[i - 1].thread)
			continue;
		if (!count || walk->threads.at[thread].samples > walk->threads.at[best].samples) {
			best = thread;
			profile = count;
		}
		count++;
	}
	return profile;
}

void export_speedscope(
	struct stream *out, const struct sample_walk *walk, const struct export_options *options)
{
	struct jsonw w = {.out = &out->text, .compact = true};

	jsonw_begin_object(&w);
	jsonw_put_text(&w, "$schema", "https://www.speedscope.app/file-format-schema.json");
	jsonw_put_text(&w, "exporter", "assay " ASSAY_VERSION);
	jsonw_put_text(&w, "name", walk->target);
	jsonw_put_u64(&w, "activeProfileIndex", busiest_profile(walk));
	add_frames(out, &w, walk);
	jsonw_open_array(&w, "profiles");
	for (uint32_t i = 0; i < walk->samples.count; i++)
		if (!i || walk->samples.at[i].thread != walk->samples.at[i - 1].thread)
			add_thread(out, &w, walk, options, i);
	jsonw_end_array(&w);
	jsonw_end_object(&w);
	str_add_char(&out->text, '\n');
}
