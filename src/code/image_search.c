/* image_search.c - see image_search.h. */
#include "image_search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/str.h"

static const char debug_folder[] = "/usr/lib/debug";

/* Without a `crc` the build-id must be the same, with one it must where both have one. */
static bool image_fits(const struct image *image, const char *build_id, const uint32_t *crc)
{
	if (!crc || (*build_id && *image->build_id))
		return str_equal(image->build_id, build_id);
	return crc32_z(0, image->bytes, image->len) == *crc;
}

static struct image *try_open(const char *path, const char *build_id, const uint32_t *crc)
{
	struct image *image = NULL;
	struct err ignored = {0};

	if (access(path, R_OK) != 0 || image_open(path, &image, &ignored) < 0)
		return NULL;
	if (image_fits(image, build_id, crc))
		return image;
	image_close(image);
	return NULL;
}

/* "/proc/123/root" of a path that goes through it, else "". */
static const char *search_root(const struct image_search *search)
{
	const char *path = search->path;
	size_t len = strlen("/proc/");

	if (search->symfs)
		return search->symfs;
	if (!str_starts(path, "/proc/"))
		return "";
	len += strspn(path + len, "0123456789");
	if (!str_starts(path + len, "/root/"))
		return "";
	return arena_text(search->arena, path, len + strlen("/root"));
}

/* Below the program's own root, then below ours. */
static struct image *try_roots(
	struct image_search *search, const char *path, const char *build_id, const uint32_t *crc)
{
	const char *root = search_root(search);
	struct image *found = NULL;

	if (*root)
		found = try_open(arena_format(search->arena, "%s%s", root, path), build_id, crc);
	return found ? found : try_open(path, build_id, crc);
}

/* What debuginfod and perf left below the user's home. */
static struct image *try_caches(struct image_search *search, const char *build_id)
{
	const char *home = getenv("HOME"), *cache = getenv("XDG_CACHE_HOME");
	static const char client[] = "debuginfod_client";
	struct arena *arena = search->arena;
	struct image *found = NULL;

	if (strlen(build_id) < 4)
		return NULL;
	if (cache && *cache)
		found = try_open(arena_format(arena, "%s/%s/%s/debuginfo", cache, client, build_id),
			build_id, NULL);
	if (!found && home)
		found = try_open(
			arena_format(arena, "%s/.cache/%s/%s/debuginfo", home, client, build_id),
			build_id, NULL);
	if (!found && home)
		found = try_open(arena_format(arena, "%s/.debug/.build-id/%.2s/%s/elf", home,
					 build_id, build_id + 2),
			build_id, NULL);
	return found;
}

static struct image *try_build_id(struct image_search *search, const char *build_id)
{
	if (strlen(build_id) < 4)
		return NULL;
	return try_roots(search,
		arena_format(search->arena, "%s/.build-id/%.2s/%s.debug", debug_folder, build_id,
			build_id + 2),
		build_id, NULL);
}

static struct image *try_debuginfod(struct image_search *search, const char *build_id)
{
	const char *path = NULL;

	if (search->debuginfod && *build_id)
		path = image_ask(build_id, search->arena, &search->failure);
	return path ? try_open(path, build_id, NULL) : NULL;
}

/* The folder of a path, with its slash. */
static const char *folder_of(struct arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');

	return arena_text(arena, path, slash ? (size_t)(slash - path) + 1 : 0);
}

/* The file that the link of `image` names, when `image` stands at `path`. */
static struct image *try_link(struct image_search *search, struct image *image, const char *path)
{
	const char *root = search_root(search), *folder = folder_of(search->arena, path), *link;
	size_t inside = *root && str_starts(folder, root) ? strlen(root) : 0;
	struct image *found = NULL;
	uint32_t crc;

	link = image_link(image, &crc);
	if (!link)
		return NULL;
	if (!str_equal(path + strlen(folder), link))
		found = try_open(
			arena_format(search->arena, "%s%s", folder, link), image->build_id, &crc);
	if (!found)
		found = try_open(arena_format(search->arena, "%s.debug/%s", folder, link),
			image->build_id, &crc);
	if (!found)
		found = try_roots(search,
			arena_format(search->arena, "%s%s%s", debug_folder, folder + inside, link),
			image->build_id, &crc);
	return found;
}

static struct image *try_links(struct image_search *search, struct image *image)
{
	mem_auto char *real = *search_root(search) ? NULL : realpath(image->path, NULL);
	struct image *found = try_link(search, image, image->path);

	if (!found && real && !str_equal(real, image->path))
		found = try_link(search, image, real);
	return found;
}

/* perf keeps the program itself, which may tell nothing new. */
static struct image *try_cached_debug(struct image_search *search, const struct image *image)
{
	struct image *found = try_caches(search, image->build_id);

	if (!found || image_has(found, ".debug_info") ||
		(image_has(found, ".symtab") && !image_has(image, ".symtab")))
		return found;
	image_close(found);
	return NULL;
}

struct image *image_search_debug(struct image_search *search, struct image *image)
{
	struct image *found = try_build_id(search, image->build_id);

	if (!found)
		found = try_links(search, image);
	if (!found)
		found = try_cached_debug(search, image);
	return found ? found : try_debuginfod(search, image->build_id);
}

struct image *image_search_alternate(
	struct image_search *search, const char *path, const char *name, const char *build_id)
{
	struct image *found;

	if (*name == '/')
		found = try_roots(search, name, build_id, NULL);
	else
		found = try_open(
			arena_format(search->arena, "%s%s", folder_of(search->arena, path), name),
			build_id, NULL);
	if (!found)
		found = try_build_id(search, build_id);
	if (!found)
		found = try_caches(search, build_id);
	return found ? found : try_debuginfod(search, build_id);
}

static int say_replaced(
	const struct image_search *search, const struct image *image, struct err *err)
{
	err_set(err, ERR_UNAVAILABLE, ESTALE,
		"%s was replaced after the recording (build id %.12s, now %.12s)", image->path,
		search->build_id, *image->build_id ? image->build_id : "none");
	return err_hint(err, "record again, or restore the old file and use --symfs");
}

static int open_plain(struct image_search *search, struct image **ret_image, struct err *err)
{
	static const char deleted[] = " (deleted)";
	const char *path = search->path;
	bool is_gone = str_ends(path, deleted);

	if (is_gone)
		path = arena_text(search->arena, path, strlen(path) - strlen(deleted));
	if (search->symfs) {
		const char *below = arena_format(
			search->arena, "%s%s%s", search->symfs, *path == '/' ? "" : "/", path);

		if (access(below, R_OK) == 0)
			return image_open(below, ret_image, err);
	}
	if (is_gone && !search->build_id) { /* what stands there now is another file */
		err_set(err, ERR_UNAVAILABLE, ENOENT,
			"%s was deleted or replaced while it ran, and has no build id", path);
		return err_hint(err, "link it with -Wl,--build-id, or record again");
	}
	return image_open(path, ret_image, err);
}

int image_search_file(struct image_search *search, struct image **ret_image, struct err *err)
{
	const char *build_id = search->build_id ? search->build_id : "";
	struct image *image = NULL;
	int r = open_plain(search, &image, err);

	if (r == 0 && *build_id && !str_equal(image->build_id, build_id)) {
		r = say_replaced(search, image, err);
		image_close(image);
		image = NULL;
	}
	if (r < 0)
		image = try_caches(search, build_id);
	if (!image)
		image = try_build_id(search, build_id);
	if (!image)
		return r;
	*ret_image = image;
	return 0;
}
