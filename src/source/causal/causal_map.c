/* causal_map.c - where bytes of a file stand in the memory of a process: /proc/PID/maps.
 *
 * Read anew for each experiment: libraries come and go, and a restarted program lies elsewhere.  A
 * file is known by its path or, when it goes by two names, by its inode. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/str.h"
#include "causal_parts.h"

enum { MAPS_MAX_BYTES = 64 << 20 };

struct mapping {
	uint64_t start, end, offset, inode;
	const char *path;
};

/* One line; false when it maps no code of a file. */
static bool mapping_read(char *line, struct mapping *ret)
{
	char rights[5];
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64 " %n", &ret->start,
		    &ret->end, rights, &ret->offset, &ret->inode, &at) < 5 ||
		!at || rights[2] != 'x' || line[at] != '/' || ret->end <= ret->start)
		return false;
	ret->path = line + at;
	return true;
}

struct file {
	char *path; /* the real one */
	uint64_t inode;
};

static struct file file_find(const char *path)
{
	struct stat there;
	struct file file = {.path = realpath(path, NULL)};

	if (stat(path, &there) == 0)
		file.inode = there.st_ino;
	return file;
}

static bool file_is(const struct file *file, const struct mapping *mapping)
{
	return (file->path && str_equal(file->path, mapping->path)) ||
	       (file->inode && file->inode == mapping->inode);
}

/* The part of `place` that lies in `mapping`. */
static bool place_in(const struct causal_place *place, const struct mapping *mapping,
	struct assay_causal_range *ret)
{
	uint64_t size = mapping->end - mapping->start;
	uint64_t first = place->offset > mapping->offset ? place->offset - mapping->offset : 0;
	uint64_t last;

	if (place->offset + place->len <= mapping->offset || first >= size)
		return false;
	last = place->offset + place->len - mapping->offset;
	*ret = (struct assay_causal_range){
		mapping->start + first, mapping->start + (last < size ? last : size)};
	return true;
}

static uint32_t place_add(const struct causal_place *place, const char *maps,
	struct assay_causal_range *ret_ranges, uint32_t capacity)
{
	mem_auto char *text = mem_copy_text(maps, strlen(maps));
	struct file file = file_find(place->path);
	uint32_t found = 0;
	char *next = text;
	struct mapping mapping;

	for (char *line; found < capacity && (line = strsep(&next, "\n"));)
		if (mapping_read(line, &mapping) && file_is(&file, &mapping))
			found += place_in(place, &mapping, &ret_ranges[found]);
	free(file.path);
	return found;
}

static int maps_read(pid_t pid, struct str *ret_maps, struct err *err)
{
	char path[32];
	int r;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	r = io_read_at(AT_FDCWD, path, MAPS_MAX_BYTES, ret_maps);
	return r < 0 ? err_set(err, ERR_TARGET, -r, "cannot read the mappings of process %d: %s",
			       (int)pid, err_words(-r))
		     : 0;
}

int causal_map_places(pid_t pid, const struct causal_place *places, uint32_t count,
	struct assay_causal_range *ret_ranges, uint32_t capacity, struct err *err)
{
	str_auto struct str maps = {0};
	uint32_t found = 0;
	int r = maps_read(pid, &maps, err);

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < count && found < capacity; i++) {
		if (places[i].path)
			found += place_add(
				&places[i], str_text(&maps), ret_ranges + found, capacity - found);
		else
			ret_ranges[found++] = (struct assay_causal_range){
				places[i].offset, places[i].offset + places[i].len};
	}
	if (found || !count)
		return (int)found;
	err_set(err, ERR_TARGET, ENOENT, "%s is not loaded in process %d", places[0].path,
		(int)pid);
	err_hint(err, "a library that is loaded later can be chosen after that");
	return -ENOENT;
}

int causal_map_code(pid_t pid, struct arena *arena, causal_code_vec *ret_code, struct err *err)
{
	str_auto struct str maps = {0};
	struct mapping mapping;
	int r = maps_read(pid, &maps, err);
	char *next = maps.at;

	for (char *line; r >= 0 && (line = strsep(&next, "\n"));)
		if (mapping_read(line, &mapping))
			vec_push(
				ret_code, (struct causal_code){mapping.start, mapping.end,
						  mapping.offset, arena_copy(arena, mapping.path)});
	return r;
}
