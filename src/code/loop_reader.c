/* loop_reader.c - see loops.h.  One file is opened once for all functions that are asked for. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "code/image.h"
#include "code/loops.h"
#include "code/names.h"
#include "image_search.h"

enum {
	FUNCTION_LARGEST = 1 << 20, /* bytes; beyond that nobody waits for its loops */
	FRAMES_MOST = 64,
};

struct loop_reader {
	struct arena arena; /* paths of the search */
	struct image *image;
	struct names *names; /* NULL: not asked for yet, or none */
	struct names_options how;
	bool no_names;
};

struct loop_reader *loop_reader_open(const char *path, const char *build_id)
{
	struct loop_reader *reader = mem_new(1, sizeof(*reader));
	struct image_search search = {
		.path = path, .build_id = *build_id ? build_id : NULL, .arena = &reader->arena};
	struct err ignored = {0};

	reader->how = (struct names_options){.path = arena_copy(&reader->arena, path),
		.build_id = *build_id ? arena_copy(&reader->arena, build_id) : NULL};
	if (*path == '/' && image_search_file(&search, &reader->image, &ignored) >= 0)
		return reader;
	reader->image = NULL;
	loop_reader_close(reader);
	return NULL;
}

void loop_reader_close(struct loop_reader *reader)
{
	if (!reader)
		return;
	names_close(reader->names);
	image_close(reader->image);
	arena_done(&reader->arena);
	free(reader);
}

bool loop_reader_look(struct loop_reader *reader, uint64_t addr, uint64_t size_bytes,
	struct arena *arena, struct loops *ret_loops)
{
	struct disassemble_options how = {.machine = image_machine(reader->image)};
	struct disassembly rows = {0};
	struct image_bytes code;
	struct err ignored = {0};

	if (!size_bytes || size_bytes > FUNCTION_LARGEST)
		return false;
	code = image_code(reader->image, addr, (size_t)size_bytes);
	if (!code.at || disassemble(&how, &code, arena, &rows, &ignored) < 0 || !rows.count)
		return false;
	loops_find(rows.at, rows.count, arena, ret_loops);
	return true;
}

/* Names at an address, outermost first. */
static unsigned names_at(struct loop_reader *reader, uint64_t addr, const char **ret_names)
{
	struct names_frame frames[FRAMES_MOST];
	unsigned count = names_find(reader->names, addr, UINT64_MAX, frames, FRAMES_MOST);

	for (unsigned i = 0; i < count; i++) {
		const char *function = frames[count - 1 - i].function;

		ret_names[i] = function ? function : "";
	}
	return count;
}

unsigned loop_reader_owners(
	struct loop_reader *reader, const struct loop *loop, const char **ret_names, unsigned max)
{
	const char *head[FRAMES_MOST], *latch[FRAMES_MOST];
	struct err ignored = {0};
	unsigned heads, latches, count = 0;

	if (!reader->names && !reader->no_names &&
		names_open(&reader->how, &reader->names, &ignored) < 0) {
		reader->names = NULL;
		reader->no_names = true;
	}
	if (!reader->names)
		return 0;
	heads = names_at(reader, loop->head, head);
	latches = names_at(reader, loop->latch, latch);
	while (count < heads && count < latches && count < max &&
		str_equal(head[count], latch[count])) {
		ret_names[count] = head[count];
		count++;
	}
	return count;
}
