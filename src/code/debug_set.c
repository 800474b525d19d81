/* debug_set.c - see debug_set.h. */
#include "debug_set.h"

#include "code/debug_lines.h"

void debug_set_find(struct debug_set *set, struct image_search *search, struct image *program)
{
	if (!image_has(program, ".debug_info"))
		set->separate = image_search_debug(search, program);
	set->image = set->separate ? set->separate : program;
	if (set->separate)
		image_join(set->separate, program);
}

void debug_set_find_shared(struct debug_set *set, struct image_search *search)
{
	char build_id[IMAGE_BUILD_ID_TEXT] = "";

	set->shared_name = image_alternate(set->image, build_id);
	if (set->shared_name)
		set->shared = image_search_alternate(
			search, image_path(set->image), set->shared_name, build_id);
	if (set->shared)
		image_join(set->shared, set->image);
}

void debug_set_open(struct debug_set *set)
{
	if (set->shared)
		set->alternate = debug_file_open(set->shared, NULL, false);
	set->file = debug_file_open(set->image, set->alternate, false);
}

void debug_set_done(struct debug_set *set)
{
	debug_file_close(set->file);
	debug_file_close(set->alternate);
	image_close(set->shared);
	image_close(set->separate);
}

const char *debug_lines_find(const char *path, struct arena *arena)
{
	struct image_search search = {.path = path, .arena = arena};
	image_auto struct image *image = NULL;
	struct debug_set set = {0};
	struct err ignored = {0};
	const char *found = NULL;

	if (image_search_file(&search, &image, &ignored) < 0)
		return NULL;
	debug_set_find(&set, &search, image);
	if (image_has(set.image, ".debug_info"))
		found = arena_copy(arena, image_path(set.image));
	debug_set_done(&set);
	return found;
}
