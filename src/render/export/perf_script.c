/* perf_script.c - the text that `perf script --ns -F +pid` prints, for the many tools that
 * read it.
 *
 *     comm  PID/TID [CPU] SECONDS.NANOSECONDS:  PERIOD EVENT:        no [CPU] where not known
 *     <tab>ADDRESS FUNCTION+0xOFFSET (MODULE)       innermost first; "(inlined)" in place of
 *     <empty line>                                  the module where perf writes it too
 *
 * Addresses are those of the file, not of the process: the run keeps no others. */
#include "export_parts.h"

#include <inttypes.h>

static void add_header(
	struct str *out, const struct sample_walk *walk, const struct walk_sample *sample)
{
	const struct walk_thread *thread = &walk->threads.at[sample->thread];
	str_auto struct str name = {0};

	export_thread_name(&name, thread);
	export_plain(out, str_text(&name), 0);
	str_addf(out, " %u/%u ", thread->pid, thread->tid);
	if (sample->cpu != WALK_NONE)
		str_addf(out, "[%03u] ", sample->cpu);
	str_addf(out, "%" PRIu64 ".%09" PRIu64 ": %10" PRIu64 " ", sample->time_ns / 1000000000,
		sample->time_ns % 1000000000, sample->period);
	export_plain(out, walk->event, ' ');
	str_add(out, ": \n");
}

static void add_frame(struct str *out, const struct sample_walk *walk, uint32_t node)
{
	const struct walk_location *location = &walk->locations.at[walk->nodes.at[node].location];
	const struct walk_function *function = export_function(walk, node);
	const struct walk_module *module = sample_walk_module(walk, node);

	str_add_char(out, '\t');
	str_add_number(out, location->addr, 16, 16);
	str_add_char(out, ' ');
	export_plain(out, function->name, 0);
	if (walk->nodes.at[node].inline_depth) {
		str_add(out, " (inlined)\n");
		return;
	}
	if (function->addr && location->addr >= function->addr) {
		str_add(out, "+0x");
		str_add_number(out, location->addr - function->addr, 16, 0);
	}
	str_add(out, " (");
	export_plain(out, module ? module->path : "[unknown]", 0);
	str_add(out, ")\n");
}

void export_perf_script(
	struct stream *out, const struct sample_walk *walk, const struct export_options *options)
{
	(void)options;
	vec_foreach (const struct walk_sample, sample, &walk->samples) {
		if (out->error)
			return;
		add_header(&out->text, walk, sample);
		for (uint32_t node = sample->node; node != WALK_NONE;
			node = walk->nodes.at[node].parent)
			add_frame(&out->text, walk, node);
		str_add_char(&out->text, '\n');
		stream_pace(out);
	}
}
