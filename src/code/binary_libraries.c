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

enum { LIBRARY_LIMIT = 512, NEEDED_LIMIT = 1024, CACHE_HEADER = 48, CACHE_ENTRY = 24 };

#if defined(__x86_64__)
enum { CACHE_FLAGS = 0x0303 }; /* libc6, x86-64 */
#else
enum { CACHE_FLAGS = 0x0a03 }; /* libc6, aarch64 */
#endif

struct search {
	struct arena *arena;
	uint16_t machine; /* of the program */
	struct image_file cache;
	struct map known; /* names already listed */
	vec_of(struct binary_library) list;
};

static void dynamic_take(
	struct binary_dynamic *dynamic, const Elf64_Dyn *entry, struct image_bytes names)
{
	const char *text = image_text_at(names, entry->d_un.d_val);

	switch (entry->d_tag) {
	case DT_NEEDED:
		if (text && *text && dynamic->needed.count < NEEDED_LIMIT)
			vec_push(&dynamic->needed, text);
		break;
	case DT_RPATH:
		dynamic->rpath = text;
		break;
	case DT_RUNPATH:
		dynamic->runpath = text;
		break;
	case DT_SONAME:
		dynamic->has_soname = true;
		break;
	case DT_BIND_NOW:
		dynamic->bind_now = true;
		break;
	case DT_FLAGS:
		dynamic->bind_now |= (entry->d_un.d_val & DF_BIND_NOW) != 0;
		break;
	case DT_FLAGS_1:
		dynamic->bind_now |= (entry->d_un.d_val & DF_1_NOW) != 0;
		dynamic->pie = (entry->d_un.d_val & DF_1_PIE) != 0;
		break;
	default:
		break;
	}
}

void binary_dynamic_read(const struct image *image, struct binary_dynamic *ret_dynamic)
{
	struct image_bytes table = image_segment_bytes(image, image_segment(image, PT_DYNAMIC));
	struct image_bytes names = {0};
	Elf64_Dyn entry;

	*ret_dynamic = (struct binary_dynamic){0};
	for (int pass = 0; pass < 2; pass++) {
		for (uint64_t at = 0; at + sizeof(entry) <= table.len; at += sizeof(entry)) {
			memcpy(&entry, table.at + at, sizeof(entry));
			if (entry.d_tag == DT_NULL)
				break;
			if (pass == 0 && entry.d_tag == DT_STRTAB)
				names = image_code(image, entry.d_un.d_ptr, SIZE_MAX);
			else if (pass == 1)
				dynamic_take(ret_dynamic, &entry, names);
		}
	}
}

void binary_dynamic_done(struct binary_dynamic *dynamic)
{
	vec_done(&dynamic->needed);
}

static uint32_t cache_u32(const struct image_file *cache, size_t at)
{
	uint32_t value;

	memcpy(&value, cache->bytes + at, sizeof(value));
	return value;
}

static const char *find_in_cache(const struct search *search, const char *name)
{
	static const char magic[] = "glibc-ld.so.cache1.1";
	const struct image_file *cache = &search->cache;
	const struct image_bytes texts = {cache->bytes, cache->len, 0};
	uint64_t count;

	if (cache->len < CACHE_HEADER || memcmp(cache->bytes, magic, sizeof(magic) - 1) != 0)
		return NULL;
	count = cache_u32(cache, 20);
	if (count > (cache->len - CACHE_HEADER) / CACHE_ENTRY)
		return NULL;
	for (uint64_t i = 0; i < count; i++) {
		size_t at = CACHE_HEADER + i * CACHE_ENTRY;
		const char *key = image_text_at(texts, cache_u32(cache, at + 4));
		uint64_t hardware;

		memcpy(&hardware, cache->bytes + at + 16, sizeof(hardware));
		if (!key || hardware || cache_u32(cache, at) != CACHE_FLAGS ||
			!str_equal(key, name))
			continue;
		return image_text_at(texts, cache_u32(cache, at + 8));
	}
	return NULL;
}

/* Open the library at `path` when it is one for this machine. */
static struct image *try_path(const struct search *search, const char *path)
{
	struct image *image = NULL;
	struct err ignored = {0};

	if (image_open(path, &image, &ignored) < 0)
		return NULL;
	if (image->head.e_machine == search->machine)
		return image;
	image_close(image);
	return NULL;
}

/* A list of folders with colons, $ORIGIN replaced by `origin`. */
static struct image *try_folders(
	const struct search *search, const char *folders, const char *origin, const char *name)
{
	str_auto struct str path = {0};

	while (folders && *folders) {
		size_t len = strcspn(folders, ":");
		size_t mark = str_starts(folders, "$ORIGIN")	 ? 7
			      : str_starts(folders, "${ORIGIN}") ? 9
								 : 0;
		struct image *found;

		str_clear(&path);
		if (mark && mark <= len)
			str_add_bytes(&path, origin, (size_t)(strrchr(origin, '/') - origin));
		else
			mark = 0;
		str_add_bytes(&path, folders + mark, len - mark);
		str_addf(&path, "/%s", name);
		found = try_path(search, path.at);
		if (found)
			return found;
		folders += len + (folders[len] == ':');
	}
	return NULL;
}

static struct image *find_library(const struct search *search, const struct binary_dynamic *user,
	const char *origin, const char *name)
{
	static const char defaults[] =
#if defined(__x86_64__)
		"/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:"
#else
		"/lib/aarch64-linux-gnu:/usr/lib/aarch64-linux-gnu:"
#endif
		"/lib64:/usr/lib64:/lib:/usr/lib";
	const char *environment = getenv("LD_LIBRARY_PATH"), *cached;
	struct image *found = NULL;

	if (strchr(name, '/'))
		return try_path(search, name);
	if (!user->runpath)
		found = try_folders(search, user->rpath, origin, name);
	if (!found)
		found = try_folders(search, environment, origin, name);
	if (!found)
		found = try_folders(search, user->runpath, origin, name);
	cached = found ? NULL : find_in_cache(search, name);
	if (cached)
		found = try_path(search, cached);
	return found ? found : try_folders(search, defaults, origin, name);
}

/* List what one file needs; each new library is looked up and its own needs follow later. */
static void add_needs(
	struct search *search, const struct binary_dynamic *user, const char *origin, bool direct)
{
	vec_foreach (const char *, needed, &user->needed) {
		struct binary_library library = {.direct = direct};
		image_auto struct image *image = NULL;
		uint32_t id;

		if (search->list.count >= LIBRARY_LIMIT ||
			!map_add(&search->known, *needed, strlen(*needed), search->list.count, &id))
			continue;
		library.name = arena_copy(search->arena, *needed);
		image = find_library(search, user, origin, *needed);
		if (image)
			library.path = arena_copy(search->arena, image->path);
		if (image && *image->build_id)
			library.build_id = arena_copy(search->arena, image->build_id);
		vec_push(&search->list, library);
	}
}

static void add_needs_of_library(struct search *search, const char *path)
{
	image_auto struct image *image = try_path(search, path);
	binary_dynamic_auto struct binary_dynamic dynamic = {0};

	if (!image)
		return;
	binary_dynamic_read(image, &dynamic);
	add_needs(search, &dynamic, path, false);
}

void binary_find_libraries(struct binary_work *work)
{
	struct search search = {.arena = work->arena, .machine = work->image->head.e_machine};
	struct binary_facts *facts = work->facts;

	if (image_file_map("/etc/ld.so.cache", &search.cache) < 0)
		search.cache = (struct image_file){0};
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
	image_file_done(&search.cache);
}
