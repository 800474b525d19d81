/* names_file.c - the file itself, and the debug files that belong to it.
 *
 * Searched as gdb does: by build-id below /usr/lib/debug, by the name in .gnu_debuglink beside the
 * file, in .debug beside it, and below /usr/lib/debug; then what debuginfod and perf left in their
 * caches.  With symfs, or a path through /proc/PID/root (a container), below that root first.  A
 * debug file counts only when its build-id, or without one the link's CRC, is the right one.
 * A program that was replaced since can still be named when a file with its build-id is found. */
#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "names_parts.h"

static const char debug_folder[] = "/usr/lib/debug";

static struct names_elf *try_open(const char *path, const char *build_id)
{
	struct names_elf *elf = NULL;
	struct err ignored = {0};

	if (access(path, R_OK) != 0 || names_elf_open(path, &elf, &ignored) < 0)
		return NULL;
	if (str_equal(elf->build_id, build_id))
		return elf;
	names_elf_close(elf);
	return NULL;
}

/* A cache below the user's home: `format` has the build-id, or its two parts. */
static struct names_elf *try_caches(struct names_search *search, const char *build_id)
{
	const char *home = getenv("HOME"), *cache = getenv("XDG_CACHE_HOME");
	struct arena *arena = search->arena;
	struct names_elf *elf = NULL;

	if (cache && *cache)
		elf = try_open(
			arena_format(arena, "%s/debuginfod_client/%s/debuginfo", cache, build_id),
			build_id);
	if (!elf && home)
		elf = try_open(arena_format(arena, "%s/.cache/debuginfod_client/%s/debuginfo", home,
				       build_id),
			build_id);
	if (!elf && home)
		elf = try_open(arena_format(arena, "%s/.debug/.build-id/%.2s/%s/elf", home,
				       build_id, build_id + 2),
			build_id);
	return elf;
}

static struct names_elf *try_build_id(struct names_search *search, const char *build_id)
{
	struct names_elf *elf = NULL;

	if (strlen(build_id) < 4)
		return NULL;
	if (*search->root)
		elf = try_open(arena_format(search->arena, "%s%s/.build-id/%.2s/%s.debug",
				       search->root, debug_folder, build_id, build_id + 2),
			build_id);
	if (!elf)
		elf = try_open(arena_format(search->arena, "%s/.build-id/%.2s/%s.debug",
				       debug_folder, build_id, build_id + 2),
			build_id);
	return elf;
}

static bool link_fits(struct names_elf *elf, const struct names_elf *linked, uint32_t crc)
{
	const char *bytes;
	size_t len;

	if (*linked->build_id && *elf->build_id)
		return str_equal(linked->build_id, elf->build_id);
	bytes = elf_rawfile(elf->elf, &len);
	return bytes && names_crc32((const uint8_t *)bytes, len) == crc;
}

static struct names_elf *try_link(struct names_search *search, struct names_elf *elf)
{
	uint32_t crc;
	const char *link = names_elf_link(elf, &crc), *path = elf->path, *slash, *inner;
	int folder;

	if (!link)
		return NULL;
	slash = strrchr(path, '/');
	folder = slash ? (int)(slash - path) + 1 : 0;
	/* The folder as the program's own root sees it. */
	inner = *search->root && str_starts(path, search->root) ? path + strlen(search->root)
								: path;
	const char *const tries[] = {
		arena_format(search->arena, "%.*s%s", folder, path, link),
		arena_format(search->arena, "%.*s.debug/%s", folder, path, link),
		arena_format(search->arena, "%s%s%.*s%s", search->root, debug_folder,
			(int)(folder - (inner - path)), inner, link),
		arena_format(search->arena, "%s%.*s%s", debug_folder,
			(int)(folder - (inner - path)), inner, link),
	};
	for (size_t i = 0; i < sizeof(tries) / sizeof(*tries); i++) {
		struct names_elf *found = NULL;
		struct err ignored = {0};

		if (str_equal(tries[i], path) || access(tries[i], R_OK) != 0 ||
			names_elf_open(tries[i], &found, &ignored) < 0)
			continue;
		if (link_fits(found, elf, crc))
			return found;
		names_elf_close(found);
	}
	return NULL;
}

struct names_elf *names_search_debug(struct names_search *search, struct names_elf *elf)
{
	struct names_elf *found = NULL;
	const char *path;

	if (*elf->build_id)
		found = try_build_id(search, elf->build_id);
	if (!found)
		found = try_link(search, elf);
	if (!found && *elf->build_id)
		found = try_caches(search, elf->build_id);
	if (!found && *elf->build_id && search->options->debuginfod) {
		path = names_ask(elf->build_id, search->arena, &search->failure);
		found = path ? try_open(path, elf->build_id) : NULL;
	}
	return found;
}

struct names_elf *names_search_alternate(struct names_search *search, struct names_elf *elf)
{
	char build_id[BUILD_ID_TEXT] = "";
	const char *name = names_elf_alternate(elf, build_id), *slash = strrchr(elf->path, '/');
	int folder = slash ? (int)(slash - elf->path) + 1 : 0;
	struct names_elf *found = NULL;

	if (!name)
		return NULL;
	if (*name == '/' && *search->root)
		found = try_open(arena_format(search->arena, "%s%s", search->root, name), build_id);
	if (!found && *name == '/')
		found = try_open(name, build_id);
	if (!found && *name != '/')
		found = try_open(
			arena_format(search->arena, "%.*s%s", folder, elf->path, name), build_id);
	if (!found)
		found = try_build_id(search, build_id);
	if (!found && search->options->debuginfod) {
		name = names_ask(build_id, search->arena, &search->failure);
		found = name ? try_open(name, build_id) : NULL;
	}
	return found;
}

/* "/proc/123/root" of a path that goes through it, else "". */
static const char *root_of(struct arena *arena, const char *path)
{
	size_t len = strlen("/proc/");

	if (!str_starts(path, "/proc/"))
		return "";
	len += strspn(path + len, "0123456789");
	if (!str_starts(path + len, "/root/"))
		return "";
	return arena_text(arena, path, len + strlen("/root"));
}

static int say_replaced(struct names_search *search, const struct names_elf *elf, struct err *err)
{
	err_set(err, ERR_UNAVAILABLE, ESTALE,
		"%s was replaced since it was recorded (build-id %.12s, now %.12s)", elf->path,
		search->options->build_id, *elf->build_id ? elf->build_id : "none");
	err_hint(err, "record again, or put the old file back and use --symfs");
	return -ESTALE;
}

static int open_plain(struct names_search *search, struct names_elf **ret_elf, struct err *err)
{
	static const char deleted[] = " (deleted)";
	const char *path = search->options->path;
	bool is_gone = str_ends(path, deleted);

	if (is_gone)
		path = arena_text(search->arena, path, strlen(path) - strlen(deleted));
	if (search->options->symfs) {
		const char *below = arena_format(
			search->arena, "%s%s%s", search->root, *path == '/' ? "" : "/", path);

		if (access(below, R_OK) == 0)
			return names_elf_open(below, ret_elf, err);
	}
	if (is_gone && !search->options->build_id) { /* what stands there now is another file */
		err_set(err, ERR_UNAVAILABLE, ENOENT,
			"%s was deleted or replaced while it ran, and has no build-id", path);
		err_hint(err, "link it with -Wl,--build-id, or record again");
		return -ENOENT;
	}
	return names_elf_open(path, ret_elf, err);
}

int names_search_file(struct names_search *search, struct names_elf **ret_elf, struct err *err)
{
	const char *build_id = search->options->build_id;
	struct names_elf *elf = NULL;
	int result;

	search->root = search->options->symfs ? search->options->symfs
					      : root_of(search->arena, search->options->path);
	result = open_plain(search, &elf, err);
	if (result == 0 && build_id && *build_id && !str_equal(elf->build_id, build_id)) {
		result = say_replaced(search, elf, err);
		names_elf_close(elf);
		elf = NULL;
	}
	if (result < 0 && build_id && *build_id) {
		elf = try_caches(search, build_id);
		if (!elf)
			elf = try_build_id(search, build_id);
	}
	if (!elf)
		return result;
	*ret_elf = elf;
	return 0;
}

struct names_elf *names_open_mini(struct names_elf *elf)
{
	enum { MINI_LIMIT = 64 << 20 };
	struct image_bytes packed = names_elf_section(elf, ".gnu_debugdata");
	uint64_t memory = UINT64_C(256) << 20;
	size_t in = 0, out = 0, room = packed.len * 20 + 65536;
	struct names_elf *mini = NULL;
	struct err ignored = {0};
	uint8_t *bytes;

	if (!packed.at)
		return NULL;
	if (room > MINI_LIMIT)
		room = MINI_LIMIT;
	bytes = mem_new(room, 1);
	if (lzma_stream_buffer_decode(
		    &memory, 0, NULL, packed.at, &in, packed.len, bytes, &out, room) == LZMA_OK)
		names_elf_open_bytes(bytes, out, elf->path, &mini, &ignored);
	free(bytes);
	return mini;
}
