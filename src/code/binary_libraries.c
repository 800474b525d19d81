/* binary_libraries.c - the libraries that the loader would bring in, without running it.
 *
 * Order of ld.so(8): RPATH (when there is no RUNPATH), LD_LIBRARY_PATH, RUNPATH, the cache, the
 * default folders.  Left out: hardware-capability folders inside those paths (the cache's entries
 * for them too), because which one is taken depends on the loader's view of the CPU.  The cache is
 * one table in one file: 48 bytes of header, then 24-byte entries whose texts are offsets. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "binary_parts.h"

enum { LIBRARY_LIMIT = 512, CACHE_HEADER = 48, CACHE_ENTRY = 24 };

#if defined(__x86_64__)
enum { CACHE_FLAGS = 0x0303 }; /* libc6, x86-64 */
#else
enum { CACHE_FLAGS = 0x0a03 }; /* libc6, aarch64 */
#endif

struct search {
	struct arena *arena;
	struct binary_file cache;
	struct map known; /* names already listed */
	vec_of(struct binary_library) list;
};

static uint32_t cache_u32(const struct binary_file *cache, size_t at)
{
	uint32_t value;

	memcpy(&value, cache->bytes + at, sizeof(value));
	return value;
}

static const char *find_in_cache(const struct search *search, const char *name)
{
	static const char magic[] = "glibc-ld.so.cache1.1";
	const struct binary_file *cache = &search->cache;
	uint64_t count;

	if (cache->len < CACHE_HEADER || memcmp(cache->bytes, magic, sizeof(magic) - 1) != 0)
		return NULL;
	count = cache_u32(cache, 20);
	if (count > (cache->len - CACHE_HEADER) / CACHE_ENTRY)
		return NULL;
	for (uint64_t i = 0; i < count; i++) {
		size_t at = CACHE_HEADER + i * CACHE_ENTRY;
		const char *key =
			binary_text_at(cache->bytes, cache->len, cache_u32(cache, at + 4));
		uint64_t hardware;

		memcpy(&hardware, cache->bytes + at + 16, sizeof(hardware));
		if (!key || hardware || cache_u32(cache, at) != CACHE_FLAGS ||
			!str_equal(key, name))
			continue;
		return binary_text_at(cache->bytes, cache->len, cache_u32(cache, at + 8));
	}
	return NULL;
}

/* Map the library at `path` when it is one for this machine; the path goes to the arena. */
static const char *try_path(struct search *search, const char *path, struct binary_file *ret_file)
{
	struct binary_image image;
	struct err ignored = {0};
	int r;

	if (binary_file_map(path, ret_file) < 0)
		return NULL;
	r = binary_image_init(&image, ret_file->bytes, ret_file->len, "", &ignored);
	binary_image_done(&image);
	if (r == 0)
		return arena_text(search->arena, path, strlen(path));
	binary_file_done(ret_file);
	return NULL;
}

/* A list of folders with colons, $ORIGIN replaced by `origin`. */
static const char *try_folders(struct search *search, const char *folders, const char *origin,
	const char *name, struct binary_file *ret_file)
{
	str_auto struct str path = {0};

	while (folders && *folders) {
		size_t len = strcspn(folders, ":");
		size_t mark = str_starts(folders, "$ORIGIN")	 ? 7
			      : str_starts(folders, "${ORIGIN}") ? 9
								 : 0;
		const char *found;

		str_clear(&path);
		if (mark && mark <= len)
			str_add_bytes(&path, origin, (size_t)(strrchr(origin, '/') - origin));
		else
			mark = 0;
		str_add_bytes(&path, folders + mark, len - mark);
		str_addf(&path, "/%s", name);
		found = try_path(search, path.at, ret_file);
		if (found)
			return found;
		folders += len + (folders[len] == ':');
	}
	return NULL;
}

static const char *find_library(struct search *search, const struct binary_dynamic *user,
	const char *origin, const char *name, struct binary_file *ret_file)
{
	static const char defaults[] =
#if defined(__x86_64__)
		"/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:"
#else
		"/lib/aarch64-linux-gnu:/usr/lib/aarch64-linux-gnu:"
#endif
		"/lib64:/usr/lib64:/lib:/usr/lib";
	const char *environment = getenv("LD_LIBRARY_PATH"), *cached, *found = NULL;

	if (strchr(name, '/'))
		return try_path(search, name, ret_file);
	if (!user->runpath)
		found = try_folders(search, user->rpath, origin, name, ret_file);
	if (!found)
		found = try_folders(search, environment, origin, name, ret_file);
	if (!found)
		found = try_folders(search, user->runpath, origin, name, ret_file);
	cached = found ? NULL : find_in_cache(search, name);
	if (cached)
		found = try_path(search, cached, ret_file);
	return found ? found : try_folders(search, defaults, origin, name, ret_file);
}

/* List what one file needs; each new library is looked up and its own needs follow later. */
static void add_needs(
	struct search *search, const struct binary_dynamic *user, const char *origin, bool direct)
{
	vec_foreach (const char *, needed, &user->needed) {
		binary_file_auto struct binary_file file = {0};
		binary_image_auto struct binary_image image = {0};
		struct binary_library library = {.direct = direct};
		struct err ignored = {0};
		uint32_t id;

		if (search->list.count >= LIBRARY_LIMIT ||
			map_get(&search->known, *needed, strlen(*needed), &id))
			continue;
		map_put(&search->known, *needed, strlen(*needed), search->list.count);
		library.name = arena_text(search->arena, *needed, strlen(*needed));
		library.path = find_library(search, user, origin, *needed, &file);
		if (library.path &&
			binary_image_init(&image, file.bytes, file.len, "", &ignored) == 0)
			library.build_id = binary_image_build_id(&image, search->arena);
		vec_push(&search->list, library);
	}
}

static void add_needs_of_library(struct search *search, const char *path)
{
	binary_file_auto struct binary_file file = {0};
	binary_image_auto struct binary_image image = {0};
	binary_dynamic_auto struct binary_dynamic dynamic = {0};
	struct err ignored = {0};

	if (binary_file_map(path, &file) < 0 ||
		binary_image_init(&image, file.bytes, file.len, "", &ignored) < 0)
		return;
	binary_dynamic_read(&image, &dynamic);
	add_needs(search, &dynamic, path, false);
}

void binary_find_libraries(struct binary_work *work)
{
	struct search search = {.arena = work->arena};
	struct binary_facts *facts = work->facts;

	if (binary_file_map("/etc/ld.so.cache", &search.cache) < 0)
		search.cache = (struct binary_file){0};
	add_needs(&search, &work->dynamic, facts->path, true);
	for (uint32_t i = 0; i < search.list.count; i++)
		if (search.list.at[i].path)
			add_needs_of_library(&search, search.list.at[i].path);
	facts->library_count = search.list.count;
	facts->libraries = arena_take(work->arena, search.list.count * sizeof(*facts->libraries));
	for (uint32_t i = 0; i < search.list.count; i++) {
		facts->libraries[i] = search.list.at[i];
		facts->libraries_missing += !search.list.at[i].path;
	}
	vec_done(&search.list);
	map_done(&search.known);
	binary_file_done(&search.cache);
}
