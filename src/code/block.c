/* block.c - see block.h. */
#include "code/block.h"

#include "base/str.h"
#include "code/disassemble.h"

enum { INSTRUCTION_LARGEST = 16, BLOCK_LARGEST = 1 << 16 };

static void reader_open(struct block_reader *reader, const char *path, const char *build_id)
{
	struct err ignored;

	image_close(reader->image);
	reader->image = NULL;
	reader->path = path;
	if (*path != '/' || image_open(path, &reader->image, &ignored) < 0) {
		reader->image = NULL;
		return;
	}
	if (*build_id && !str_equal(build_id, image_build_id(reader->image))) {
		image_close(reader->image);
		reader->image = NULL;
	}
}

uint32_t block_instructions(struct block_reader *reader, const char *path, const char *build_id,
	uint64_t start, uint64_t end)
{
	arena_auto struct arena arena = {0};
	struct disassemble_options options = {0};
	struct disassembly rows;
	struct image_bytes bytes;
	struct err ignored;

	if (!reader->path || !str_equal(reader->path, path))
		reader_open(reader, path, build_id);
	if (!reader->image || end < start || end - start > BLOCK_LARGEST)
		return 0;
	bytes = image_code(reader->image, start, (size_t)(end - start) + INSTRUCTION_LARGEST);
	options.machine = image_machine(reader->image);
	if (!bytes.at || disassemble(&options, &bytes, &arena, &rows, &ignored) < 0)
		return 0;
	for (uint32_t i = 0; i < rows.count && rows.at[i].addr <= end; i++)
		if (rows.at[i].addr == end && rows.at[i].kind != INSTRUCTION_BYTES)
			return i + 1;
	return 0;
}

void block_reader_done(struct block_reader *reader)
{
	image_close(reader->image);
	reader->image = NULL;
}
