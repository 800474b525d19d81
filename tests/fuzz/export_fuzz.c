/* export_fuzz.c - a run file from anywhere, in every format and as a flame graph. */
#include <stddef.h>
#include <stdint.h>

#include "model/store.h"
#include "render/export.h"
#include "render/flame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int throw_away(void *context, const void *bytes, size_t len)
{
	(void)context;
	(void)bytes;
	(void)len;
	return 0;
}

static void write_all(const struct run *run, const struct call_tree *tree)
{
	const struct profile_filter all = {0};
	const struct export_options options = {.kernel_marks = true};
	struct err err = {0};

	for (const struct export_format *format = export_formats; format->name; format++) {
		struct stream out = {.write = throw_away};
		sample_walk_auto struct sample_walk walk = {0};

		if (format->write_tree)
			format->write_tree(&out, tree, &options);
		else if (sample_walk_make(run, &all, format->order, &walk, &err) >= 0)
			format->write(&out, &walk, &options);
		stream_end(&out);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct flame_options look = {.target = "", .name_a = "", .name_b = ""};
	run_auto struct run *run = NULL;
	call_tree_auto struct call_tree tree = {0}, again = {0};
	flame_view_auto struct flame_view view = {0};
	struct stream out = {.write = throw_away};
	struct err err = {0};

	if (store_load_bytes(data, size, "fuzz", &run, &err) < 0 ||
		call_tree_make(run, &(struct call_tree_options){0}, &tree, &err) < 0 ||
		call_tree_make(run, &(struct call_tree_options){0}, &again, &err) < 0)
		return 0;
	write_all(run, &tree);
	flame_view_compare(&tree, &again, &(struct flame_view_options){0}, &view);
	flame_svg(&out, &view, &look);
	stream_end(&out);
	return 0;
}
