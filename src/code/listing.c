/* listing.c - see listing.h.
 *
 * Only the bytes of one function are decoded, never the whole file: on SQLite that is some ms in
 * place of objdump's 290.  A file with another build-id has other code at these addresses; it is
 * refused, because wrong instructions under right numbers are worse than none. */
#include "code/listing.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "code/image.h"

enum { FUNCTION_LARGEST = 64 << 20 }; /* bytes: a size from outside is not believed beyond */

static void listing_miss(struct listing *listing, const char *missing, const char *hint)
{
	listing->missing = missing;
	listing->hint = hint;
}

/* Below `symfs` first, then where it was. */
static int file_open(
	const struct listing_options *options, struct image **ret_image, struct err *err)
{
	str_auto struct str path = {0};
	int r = -ENOENT;

	if (options->symfs) {
		str_addf(&path, "%s/%s", options->symfs, options->path);
		r = image_open(str_text(&path), ret_image, err);
	}
	return r < 0 ? image_open(options->path, ret_image, err) : r;
}

/* The function's bytes, checked to be those that were recorded; false: `listing` says why not. */
static bool code_find(const struct listing_options *options, const struct image *image,
	struct arena *arena, struct listing *listing, struct image_bytes *ret_code)
{
	if (*options->build_id && !str_equal(options->build_id, image_build_id(image))) {
		listing_miss(listing,
			arena_format(arena, "%s was replaced since it was recorded", options->path),
			arena_format(arena,
				"put the file with build-id %s back, or below a folder that --symfs "
				"names",
				options->build_id));
		return false;
	}
	*ret_code = image_code(image, options->addr,
		options->size_bytes < FUNCTION_LARGEST ? options->size_bytes : FUNCTION_LARGEST);
	if (ret_code->at)
		return true;
	listing_miss(listing,
		arena_format(arena, "%s has no code at 0x%llx", options->path,
			(unsigned long long)options->addr),
		"the file is not the one that ran; --symfs names a folder with the right one");
	return false;
}

static void listing_decode(const struct listing_options *options, struct image *image,
	struct arena *arena, struct listing *listing)
{
	struct disassemble_options how = {.machine = image_machine(image), .intel = options->intel};
	struct disassembly rows = {0};
	struct image_bytes code;
	struct err err = {0};

	if (!code_find(options, image, arena, listing, &code))
		return;
	if (disassemble(&how, &code, arena, &rows, &err) < 0) {
		listing_miss(listing, arena_text(arena, err.text, strlen(err.text)),
			arena_text(arena, err.hint, strlen(err.hint)));
		return;
	}
	listing->instructions = rows.at;
	listing->instruction_count = rows.count;
}

void listing_make(
	const struct listing_options *options, struct arena *arena, struct listing *ret_listing)
{
	struct image *image = NULL;
	struct err err = {0};

	*ret_listing = (struct listing){0};
	if (!options->size_bytes) {
		listing_miss(ret_listing, "where the function begins and ends is not known",
			"it takes the program's symbols: install them and record again");
		return;
	}
	if (file_open(options, &image, &err) < 0) {
		listing_miss(ret_listing, arena_text(arena, err.text, strlen(err.text)),
			"--symfs names a folder with the programs as they were");
		return;
	}
	listing_decode(options, image, arena, ret_listing);
	image_close(image);
}
