/* chrome.c - a Chrome trace: every sample with its stack, and the same as a flame chart.
 *
 * "samples" and "stackFrames" are exact: chrome://tracing and speedscope read them.  Perfetto does
 * not (google/perfetto#387), so "traceEvents" draws the samples as nested slices as well: a sample
 * of a clock stands for its period, which ended when it was taken; where the next sample of the
 * thread follows without a gap, what both have in common is one slice.  Other events have no time
 * of their own: there a sample reaches back to the one before it, at most twice their mean
 * distance. */
#include "export_parts.h"

#include <stdio.h>

#include "base/jsonw.h"

struct slice {
	uint32_t function;
	uint64_t begin_ns;
};

struct chrome {
	struct stream *out;
	struct jsonw w;
	const struct sample_walk *walk;
	const struct walk_thread *thread;
	vec_of(struct slice) open; /* outermost first */
	struct walk_chain chain;
};

static uint64_t since_start_ns(const struct chrome *c, uint64_t time_ns)
{
	return time_ns - c->walk->first_ns;
}

static double to_us(uint64_t ns)
{
	return (double)ns / 1e3;
}

static void begin_event(struct chrome *c, const char *phase, const char *name)
{
	jsonw_begin_object(&c->w);
	jsonw_put_text(&c->w, "ph", phase);
	jsonw_put_u64(&c->w, "pid", c->thread->pid);
	jsonw_put_u64(&c->w, "tid", c->thread->tid);
	jsonw_put_text(&c->w, "name", name);
}

static void end_event(struct chrome *c)
{
	jsonw_end_object(&c->w);
	stream_pace(c->out);
}

static void add_thread_name(struct chrome *c)
{
	str_auto struct str name = {0};

	export_thread_name(&name, c->thread);
	begin_event(c, "M", "thread_name");
	jsonw_open_object(&c->w, "args");
	jsonw_put_text(&c->w, "name", str_text(&name));
	jsonw_end_object(&c->w);
	end_event(c);
}

/* Close all but the `kept` outermost slices; they ended at `end_ns`. */
static void close_slices(struct chrome *c, uint32_t kept, uint64_t end_ns)
{
	while (c->open.count > kept) {
		const struct slice *slice = &c->open.at[--c->open.count];
		const struct walk_function *function = &c->walk->functions.at[slice->function];

		begin_event(c, "X", function->name);
		if (function->module != WALK_NONE)
			jsonw_put_text(&c->w, "cat", c->walk->modules.at[function->module].name);
		jsonw_put_double(&c->w, "ts", to_us(slice->begin_ns));
		jsonw_put_double(&c->w, "dur", to_us(end_ns - slice->begin_ns));
		end_event(c);
	}
}

/* How many slices from the outermost on go on in the new chain. */
static uint32_t slices_in_common(const struct chrome *c)
{
	uint32_t same = 0;

	while (same < c->open.count && same < c->chain.nodes.count &&
		c->open.at[same].function ==
			c->walk->frames.at[c->walk->nodes.at[c->chain.nodes.at[same]].frame]
				.function)
		same++;
	return same;
}

static void add_thread_slices(struct chrome *c, uint32_t first, uint32_t past)
{
	const struct walk_sample *samples = c->walk->samples.at;
	uint64_t whole_ns = samples[past - 1].time_ns - samples[first].time_ns, last_ns = 0;
	uint64_t reach_ns = past - first > 1 ? whole_ns / (past - first - 1) * 2 : 1000;

	for (uint32_t i = first; i < past && !c->out->error; i++) {
		uint64_t now_ns = since_start_ns(c, samples[i].time_ns), begin_ns;
		uint64_t span_ns = c->walk->period_is_ns ? samples[i].period : reach_ns;

		begin_ns = now_ns > span_ns ? now_ns - span_ns : 0;
		sample_walk_chain(c->walk, samples[i].node, &c->chain);
		if (begin_ns <= last_ns + span_ns / 2) { /* a late timer is no gap */
			begin_ns = last_ns;
			close_slices(c, slices_in_common(c), last_ns);
		} else {
			close_slices(c, 0, last_ns);
		}
		for (uint32_t k = c->open.count; k < c->chain.nodes.count; k++) {
			uint32_t frame = c->walk->nodes.at[c->chain.nodes.at[k]].frame;

			vec_push(&c->open,
				(struct slice){c->walk->frames.at[frame].function, begin_ns});
		}
		last_ns = now_ns;
	}
	close_slices(c, 0, last_ns);
}

static void add_events(struct chrome *c)
{
	const struct walk_sample *samples = c->walk->samples.at;
	uint32_t past;

	jsonw_open_array(&c->w, "traceEvents");
	for (uint32_t first = 0; first < c->walk->samples.count; first = past) {
		for (past = first; past < c->walk->samples.count &&
				   samples[past].thread == samples[first].thread;
			past++)
			;
		c->thread = &c->walk->threads.at[samples[first].thread];
		add_thread_name(c);
		add_thread_slices(c, first, past);
	}
	jsonw_end_array(&c->w);
}

static void add_stack_frames(struct chrome *c)
{
	const struct sample_walk *walk = c->walk;
	char id[16];

	jsonw_open_object(&c->w, "stackFrames");
	for (uint32_t i = 0; i < walk->nodes.count; i++) {
		const struct walk_module *module = sample_walk_module(walk, i);

		snprintf(id, sizeof(id), "%u", i);
		jsonw_open_object(&c->w, id);
		jsonw_put_text(&c->w, "name", export_function(walk, i)->name);
		jsonw_put_text(&c->w, "category", module ? module->name : "");
		if (walk->nodes.at[i].parent != WALK_NONE) {
			snprintf(id, sizeof(id), "%u", walk->nodes.at[i].parent);
			jsonw_put_text(&c->w, "parent", id);
		}
		end_event(c);
	}
	jsonw_end_object(&c->w);
}

static void add_samples(struct chrome *c)
{
	const struct sample_walk *walk = c->walk;
	char id[16];

	jsonw_open_array(&c->w, "samples");
	vec_foreach (const struct walk_sample, sample, &walk->samples) {
		const struct walk_thread *thread = &walk->threads.at[sample->thread];

		snprintf(id, sizeof(id), "%u", sample->node);
		jsonw_begin_object(&c->w);
		if (sample->cpu != WALK_NONE)
			jsonw_put_u64(&c->w, "cpu", sample->cpu);
		jsonw_put_u64(&c->w, "pid", thread->pid);
		jsonw_put_u64(&c->w, "tid", thread->tid);
		jsonw_put_double(&c->w, "ts", to_us(since_start_ns(c, sample->time_ns)));
		jsonw_put_text(&c->w, "name", walk->event);
		jsonw_put_text(&c->w, "sf", id);
		jsonw_put_u64(&c->w, "weight", 1);
		end_event(c);
	}
	jsonw_end_array(&c->w);
}

void export_chrome(
	struct stream *out, const struct sample_walk *walk, const struct export_options *options)
{
	struct chrome c = {.out = out, .walk = walk, .w = {.out = &out->text, .compact = true}};

	(void)options;
	jsonw_begin_object(&c.w);
	jsonw_put_text(&c.w, "displayTimeUnit", "ns");
	jsonw_open_object(&c.w, "otherData");
	jsonw_put_text(&c.w, "exporter", "assay " ASSAY_VERSION);
	jsonw_put_text(&c.w, "target", walk->target);
	jsonw_put_u64(&c.w, "samples", walk->total_samples);
	jsonw_end_object(&c.w);
	add_events(&c);
	add_stack_frames(&c);
	add_samples(&c);
	jsonw_end_object(&c.w);
	str_add_char(&out->text, '\n');
	vec_done(&c.open);
	walk_chain_done(&c.chain);
}
