/* binary_debug.c - the separate debug file, where distributions put it.
 *
 * Searched as gdb does: by build-id, then by the name in .gnu_debuglink beside the program, in
 * .debug beside it, and below /usr/lib/debug.  A file whose build-id is another one is a stale
 * copy and not used.  The network (debuginfod) is never asked. */
#include <string.h>
#include <unistd.h>

#include "binary_parts.h"

static const char debug_root[] = "/usr/lib/debug";

static bool has_bytes(const struct binary_image *image, const char *name)
{
	const struct binary_section *section = binary_image_section(image, name);

	return section && section->data && section->head.sh_size;
}

static bool take_debug_file(struct binary_work *work, const char *path)
{
	binary_image_auto struct binary_image image = {0};
	binary_file_auto struct binary_file file = {0};
	struct binary_facts *facts = work->facts;
	struct err ignored = {0};
	const char *build_id;

	if (binary_file_map(path, &file) < 0 ||
		binary_image_init(&image, file.bytes, file.len, "", &ignored) < 0)
		return false;
	build_id = binary_image_build_id(&image, work->arena);
	if (facts->build_id && build_id && !str_equal(facts->build_id, build_id))
		return false;
	facts->debug_file = path;
	facts->has_separate_info = has_bytes(&image, ".debug_info");
	facts->has_separate_lines = has_bytes(&image, ".debug_line");
	return true;
}

static void find_by_link(struct binary_work *work)
{
	const char *link = work->facts->debug_link, *path = work->facts->path;
	size_t folder = strlen(path) - strlen(work->facts->name);
	const char *const tries[] = {
		arena_format(work->arena, "%.*s%s", (int)folder, path, link),
		arena_format(work->arena, "%.*s.debug/%s", (int)folder, path, link),
		arena_format(work->arena, "%s%.*s%s", debug_root, (int)folder, path, link),
	};

	if (strchr(link, '/'))
		return;
	for (size_t i = 0; i < sizeof(tries) / sizeof(*tries); i++)
		if (!str_equal(tries[i], path) && take_debug_file(work, tries[i]))
			return;
}

static void find_alternate(struct binary_work *work)
{
	const char *name = work->facts->debug_alternate, *path = work->facts->path;
	size_t folder = strlen(path) - strlen(work->facts->name);

	if (*name != '/')
		name = arena_format(work->arena, "%.*s%s", (int)folder, path, name);
	work->facts->debug_alternate_found = access(name, R_OK) == 0;
}

void binary_find_debug(struct binary_work *work)
{
	const char *id = work->facts->build_id;

	if (work->facts->debug_alternate)
		find_alternate(work);
	if (work->facts->has_debug_info)
		return;
	if (id && strlen(id) > 2 &&
		take_debug_file(work, arena_format(work->arena, "%s/.build-id/%.2s/%s.debug",
					      debug_root, id, id + 2)))
		return;
	if (work->facts->debug_link)
		find_by_link(work);
}
