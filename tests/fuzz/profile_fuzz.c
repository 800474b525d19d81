/* profile_fuzz.c - any run that the store would load: rows that add up, whatever its shape.
 *
 * The bytes choose rows with valid ids (older rows where the model says so), as a hostile run file
 * could hold them; the store's own target sees the bytes of files. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/call_tree.h"
#include "analyze/diff_profile.h"
#include "analyze/profile.h"
#include "model/run.h"
#include "render/export.h"
#include "render/flame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
	const uint8_t *at;
	size_t left;
};

static void need(bool holds)
{
	if (!holds)
		abort();
}

static uint32_t take(struct bytes *bytes, uint32_t most)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < 2 && bytes->left; i++, bytes->left--)
		value = value << 8 | *bytes->at++;
	return most ? value % (most + 1) : 0;
}

static text_id take_text(struct bytes *bytes, struct run *run)
{
	static const char *const texts[] = {
		"", "f", "g(int)", "a<b>::c", "/x/y", "[kernel]", "prog"};

	return run_intern(run, texts[take(bytes, 6)]);
}

static void row_add(struct bytes *bytes, struct run *run)
{
	switch (take(bytes, 7)) {
	case 0:
		run_add_module(
			run, &(struct module_row){take_text(bytes, run), 0, take(bytes, 15)});
		break;
	case 1:
		run_add_function(run, &(struct function_row){.name = take_text(bytes, run),
					      .file = take_text(bytes, run),
					      .module = take(bytes, run->modules.count)});
		break;
	case 2:
		run_add_frame(run, &(struct frame_row){take(bytes, run->functions.count),
					   take(bytes, run->frames.count), take_text(bytes, run),
					   take(bytes, 9)});
		break;
	case 3:
		run_add_location(run, &(struct location_row){take(bytes, run->modules.count),
					      take(bytes, 9), take(bytes, run->frames.count), 0});
		break;
	case 4:
		run_add_thread(run, &(struct thread_row){1, take(bytes, 9), take_text(bytes, run)});
		break;
	case 5:
		run_add_event(run, &(struct event_row){.name = take_text(bytes, run),
					   .flags = take(bytes, 1) * EVENT_MERGED,
					   .scale = 1});
		break;
	case 6:
		run_add_stack(run, &(struct stack_row){take(bytes, run->stacks.count),
					   take(bytes, run->locations.count)});
		break;
	default:
		run_add_sample(run,
			&(struct sample_row){take(bytes, 999), take(bytes, 3),
				take(bytes, run->events.count), take(bytes, run->threads.count),
				take(bytes, run->stacks.count), 0, take(bytes, 7)});
		break;
	}
}

static void check_profile(const struct run *run)
{
	for (enum profile_by by = PROFILE_FUNCTION; by <= PROFILE_THREAD; by++) {
		profile_auto struct profile_view view = {0};
		struct err err = {0};
		uint64_t samples = 0, weight = 0;

		if (profile_make(run, &(struct profile_options){.by = by}, &view, &err) < 0) {
			need(err.text[0] && !run->samples.count);
			return;
		}
		vec_foreach (const struct profile_row, row, &view.rows) {
			need(row->total.samples >= row->self.samples);
			need(row->total.samples <= view.all.samples);
			samples += row->self.samples;
			weight += row->self.weight;
		}
		need(samples == view.all.samples && weight == view.all.weight);
	}
}

static void check_tree(const struct run *run, bool inverted, uint32_t nodes)
{
	call_tree_auto struct call_tree tree = {0};
	struct call_tree_options options = {.inverted = inverted, .nodes = nodes};
	struct err err = {0};

	if (call_tree_make(run, &options, &tree, &err) < 0)
		return;
	call_tree_sort(&tree, CALL_TREE_BY_TOTAL);
	need(tree.nodes.at[0].total.samples == tree.samples.total.samples);
	for (uint32_t i = 0; i < tree.nodes.count; i++) {
		const struct call_tree_node *node = &tree.nodes.at[i];
		uint64_t below = node->self.samples;

		need(!i || node->parent < i);
		for (uint32_t child = node->first_child; child;
			child = tree.nodes.at[child].next_sibling)
			below += tree.nodes.at[child].total.samples;
		need(tree.left_out || tree.cut ? below <= node->total.samples
					       : below == node->total.samples);
	}
}

static void check_diff(const struct run *run)
{
	diff_profile_auto struct diff_view view = {0};
	struct err err = {0};

	if (diff_profile_make(run, run, &(struct diff_options){.by_total = true}, &view, &err) == 0)
		need(view.counts[DIFF_CHANGED] == 0);
}

static int throw_away(void *context, const void *bytes, size_t len)
{
	(void)context;
	(void)bytes;
	(void)len;
	return 0;
}

static void check_export(const struct run *run, const struct export_format *format)
{
	struct stream out = {.write = throw_away};
	sample_walk_auto struct sample_walk walk = {0};
	struct err err = {0};
	uint64_t samples = 0;

	if (sample_walk_make(run, &(struct profile_filter){0}, format->order, &walk, &err) < 0)
		return;
	vec_foreach (const struct walk_sample, sample, &walk.samples)
		samples += sample->samples;
	need(samples == walk.total_samples);
	if (format->write)
		format->write(&out, &walk, &(struct export_options){.merged = true});
	stream_end(&out);
}

static void check_flame(const struct run *run)
{
	const struct flame_options look = {.target = "", .name_a = "", .name_b = ""};
	call_tree_auto struct call_tree a = {0}, b = {0};
	flame_view_auto struct flame_view view = {0};
	struct stream out = {.write = throw_away};
	struct err err = {0};

	if (call_tree_make(run, &(struct call_tree_options){.by = LABEL_LINE}, &a, &err) < 0 ||
		call_tree_make(run, &(struct call_tree_options){.by = LABEL_LINE}, &b, &err) < 0)
		return;
	export_formats[0].write_tree(&out, &a, &(struct export_options){0});
	flame_view_compare(&a, &b, &(struct flame_view_options){0}, &view);
	vec_foreach (const struct flame_box, box, &view.boxes)
		need(box->a.total.samples == box->b.total.samples && !box->change);
	flame_svg(&out, &view, &look);
	stream_end(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	run_auto struct run *run = run_open();
	struct bytes bytes = {data, size};
	struct profile_samples samples;
	struct err err = {0};

	while (bytes.left)
		row_add(&bytes, run);
	run_freeze(run);
	check_profile(run);
	check_tree(run, false, 0);
	check_tree(run, true, 0);
	check_tree(run, true, 3);
	check_diff(run);
	check_flame(run);
	for (const struct export_format *format = export_formats; format->name; format++)
		check_export(run, format);
	if (profile_samples_take(run,
		    &(struct profile_filter){.function = "g", .module = "y", .thread = "f"},
		    &samples, &err) == 0)
		profile_samples_done(&samples);
	return 0;
}
