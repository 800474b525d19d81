/* image_search.h - a program's file, and the files with its debug information.
 *
 * Searched as gdb does: by build-id below /usr/lib/debug, by the name in .gnu_debuglink beside the
 * file, in .debug beside it, and below /usr/lib/debug; then what debuginfod and perf left in their
 * caches.  With symfs, or a path through /proc/PID/root (a container), below that root first.  A
 * debug file counts only when its build-id, or without one the link's CRC, is the right one.
 * Everything that asks for debug information asks here, so that all of assay finds the same.
 * Owns: its texts are in the arena; images belong to the caller. */
#pragma once

#include "base/arena.h"
#include "image_parts.h"

struct image_search {
	const char *path;
	const char *build_id; /* hex, of the file wanted; NULL: any */
	const char *symfs;    /* the folder that stands for /, or NULL */
	bool debuginfod;      /* ask it for what is missing, at most 10 s for each file */
	struct arena *arena;
	const char *failure; /* what debuginfod did, or NULL */
};

/* The program itself.  One that was replaced since can still be named when a file with its build-id
 * is found. */
int image_search_file(struct image_search *search, struct image **ret_image, struct err *err);

/* NULL when there is none. */
struct image *image_search_debug(struct image_search *search, struct image *image);

/* What dwz shares: `name` and `build_id` as image_alternate() reads them from the file at `path`.
 * NULL when it is not found. */
struct image *image_search_alternate(
	struct image_search *search, const char *path, const char *name, const char *build_id);

/* image_ask.c: the path debuginfod-find gives for this build-id within 10 s, or NULL and why. */
const char *image_ask(const char *build_id, struct arena *arena, const char **ret_failure);
