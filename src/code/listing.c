/* listing.c - see listing.h.
 *
 * Only the bytes of one function are decoded, never the whole file: on SQLite that is some ms in
 * place of objdump's 290.  A file with another build-id has other code at these addresses; it is
 * refused, because wrong instructions under right numbers are worse than none. */
#include "code/listing.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "code/names.h"
#include "image_search.h"

enum {
	FUNCTION_LARGEST = 64 << 20, /* bytes: a size from outside is not believed beyond */
	ROWS_PER_INSTRUCTION = 4,    /* of the line table: gcc -O2 writes 1.4 */
};

static void listing_miss(struct listing *listing, const char *missing, const char *hint)
{
	listing->missing = missing;
	listing->hint = hint;
}

/* The function's bytes; false: `listing` says why there are none. */
static bool code_find(const struct listing_options *options, const struct image *image,
	struct arena *arena, struct listing *listing, struct image_bytes *ret_code)
{
	*ret_code = image_code(image, options->addr,
		options->size_bytes < FUNCTION_LARGEST ? options->size_bytes : FUNCTION_LARGEST);
	if (ret_code->at)
		return true;
	listing_miss(listing,
		arena_format(arena, "%s has no code at 0x%llx", options->path,
			(unsigned long long)options->addr),
		"it is not the file that ran; use --symfs DIR with a directory that has the right "
		"one");
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
		listing_miss(listing, arena_copy(arena, err.text), arena_copy(arena, err.hint));
		return;
	}
	listing->instructions = rows.at;
	listing->instruction_count = rows.count;
}

/* The line table of the function's own compile unit; a file without one gives no lines. */
static void listing_lines(
	const struct listing_options *options, struct arena *arena, struct listing *listing)
{
	const struct names_options how = {.path = options->path,
		.build_id = *options->build_id ? options->build_id : NULL,
		.symfs = options->symfs,
		.without_inlines = true};
	unsigned max = listing->instruction_count * ROWS_PER_INSTRUCTION;
	mem_auto struct names_line *rows = NULL;
	struct names *names = NULL;
	struct err err = {0};

	if (names_open(&how, &names, &err) < 0)
		return;
	rows = mem_new(max, sizeof(*rows));
	listing->line_count = names_lines(names, options->addr, options->size_bytes, rows, max);
	listing->lines = arena_take(arena, (listing->line_count + 1) * sizeof(*listing->lines));
	for (unsigned i = 0; i < listing->line_count; i++) {
		bool same = i && rows[i].file == rows[i - 1].file;
		const char *file = rows[i].file ? rows[i].file : "";

		listing->lines[i] = (struct listing_line){rows[i].addr,
			same ? listing->lines[i - 1].file : arena_copy(arena, file),
			rows[i].file ? rows[i].line : 0};
	}
	names_close(names);
}

static const char *target_name(struct names *names, struct arena *arena, uint64_t target)
{
	struct names_frame frame;

	if (!names_find(names, target, UINT64_MAX, &frame, 1) || !frame.function)
		return NULL;
	if (!frame.function_addr || frame.function_addr == target)
		return arena_copy(arena, frame.function);
	return arena_format(arena, "%s+0x%llx", frame.function,
		(unsigned long long)(target - frame.function_addr));
}

/* Who is called: from the symbols alone, so that no other compile unit is read for it. */
static void listing_targets(
	const struct listing_options *options, struct arena *arena, struct listing *listing)
{
	const struct names_options how = {.path = options->path,
		.build_id = *options->build_id ? options->build_id : NULL,
		.symfs = options->symfs,
		.without_lines = true};
	struct names *names = NULL;
	struct err err = {0};

	for (uint32_t i = 0; i < listing->instruction_count; i++) {
		struct instruction *row = &listing->instructions[i];
		bool leaves = row->has_target && row->target - options->addr >= options->size_bytes;

		if (!leaves && !(row->has_target && row->kind == INSTRUCTION_CALL))
			continue;
		if (!names && names_open(&how, &names, &err) < 0)
			return;
		row->target_name = target_name(names, arena, row->target);
	}
	names_close(names);
}

void listing_make(
	const struct listing_options *options, struct arena *arena, struct listing *ret_listing)
{
	struct image_search search = {.path = options->path,
		.build_id = *options->build_id ? options->build_id : NULL,
		.symfs = options->symfs,
		.arena = arena};
	struct image *image = NULL;
	struct err err = {0};

	*ret_listing = (struct listing){0};
	if (!options->size_bytes) {
		listing_miss(ret_listing, "the start and end of the function are unknown",
			"it needs the program's symbols: install them and record again");
		return;
	}
	if (image_search_file(&search, &image, &err) < 0) {
		listing_miss(ret_listing, arena_copy(arena, err.text),
			*err.hint ? arena_copy(arena, err.hint)
				  : "use --symfs DIR with a directory that has the original "
				    "programs");
		return;
	}
	listing_decode(options, image, arena, ret_listing);
	image_close(image);
	if (ret_listing->missing)
		return;
	listing_lines(options, arena, ret_listing);
	listing_targets(options, arena, ret_listing);
}
