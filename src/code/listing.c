/* listing.c - see listing.h.
 *
 * Only the bytes of one function are decoded, never the whole file: on SQLite that is some ms in
 * place of objdump's 290.  A file with another build-id has other code at these addresses; it is
 * refused, because wrong instructions under right numbers are worse than none. */
#include "code/listing.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "binary_parts.h"

enum { FUNCTION_LARGEST = 64 << 20 }; /* bytes: a size from outside is not believed beyond */

static void listing_miss(struct listing *listing, const char *missing, const char *hint)
{
	listing->missing = missing;
	listing->hint = hint;
}

/* The function's bytes, checked to be those that were recorded; false: `listing` says why not. */
static bool code_find(const struct listing_options *options, const struct binary_image *image,
	struct arena *arena, struct listing *listing, struct image_bytes *ret_code)
{
	const char *build_id = binary_image_build_id(image, arena);
	size_t len = 0;

	if (*options->build_id && !str_equal(options->build_id, build_id ? build_id : "")) {
		listing_miss(listing,
			arena_format(arena, "%s was replaced since it was recorded", options->path),
			arena_format(arena,
				"put the file with build-id %s back, or below another folder and "
				"use --symfs",
				options->build_id));
		return false;
	}
	ret_code->addr = options->addr;
	ret_code->at = binary_image_at(image, options->addr, &len);
	ret_code->len = len < options->size_bytes ? len : options->size_bytes;
	if (ret_code->at && ret_code->len <= FUNCTION_LARGEST)
		return true;
	listing_miss(listing,
		arena_format(arena, "%s has no code at 0x%llx", options->path,
			(unsigned long long)options->addr),
		"the file is not the one that ran; use --symfs to name another folder");
	return false;
}

/* Below `symfs` first, then where it was. */
static int file_map(const struct listing_options *options, struct binary_file *ret_file)
{
	str_auto struct str path = {0};

	if (options->symfs) {
		str_addf(&path, "%s/%s", options->symfs, options->path);
		if (binary_file_map(str_text(&path), ret_file) == 0)
			return 0;
	}
	return binary_file_map(options->path, ret_file);
}

static void listing_decode(const struct listing_options *options, const struct image_bytes *code,
	struct arena *arena, struct listing *listing)
{
	struct disassemble_options how = {.machine = IMAGE_X86_64, .intel = options->intel};
	struct disassembly rows = {0};
	struct err err = {0};

#ifdef __aarch64__
	how.machine = IMAGE_AARCH64;
#endif
	if (disassemble(&how, code, arena, &rows, &err) < 0) {
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
	binary_file_auto struct binary_file file = {0};
	binary_image_auto struct binary_image image = {0};
	struct image_bytes code;
	struct err err = {0};
	int r;

	*ret_listing = (struct listing){0};
	if (!options->size_bytes) {
		listing_miss(ret_listing, "where the function begins and ends is not known",
			"record again with assay record, or install the program's symbols");
		return;
	}
	r = file_map(options, &file);
	if (r < 0) {
		listing_miss(ret_listing,
			arena_format(arena, "%s cannot be read: %s", options->path, err_words(-r)),
			"--symfs names a folder with the programs as they were");
		return;
	}
	if (binary_image_init(&image, file.bytes, file.len, options->path, &err) < 0) {
		listing_miss(ret_listing, arena_text(arena, err.text, strlen(err.text)), "");
		return;
	}
	if (code_find(options, &image, arena, ret_listing, &code))
		listing_decode(options, &code, arena, ret_listing);
}
