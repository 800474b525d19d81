/* binary_debug.c - where the debug information is: the search of image_search.h, as for names. */
#include <string.h>

#include "binary_parts.h"

void binary_find_debug(struct binary_work *work)
{
	struct image_search search = {.path = image_path(work->image), .arena = work->arena};
	struct binary_facts *facts = work->facts;
	struct debug_set *debug = &work->debug;

	debug->image = work->image;
	if (!facts->path) /* bytes only */
		return;
	debug_set_find(debug, &search, work->image);
	debug_set_find_shared(debug, &search);
	if (debug->separate) {
		const char *path = image_path(debug->separate);

		facts->debug_file = arena_copy(work->arena, path);
		facts->has_separate_info = image_has(debug->separate, ".debug_info");
		facts->has_separate_lines = image_has(debug->separate, ".debug_line");
	}
	if (debug->shared_name)
		facts->debug_alternate = arena_copy(work->arena, debug->shared_name);
	facts->debug_alternate_found = debug->shared != NULL;
}
