/* block.h - how many instructions stand between two addresses of a file.
 *
 * Does: open the file once for many questions, make sure that it is the one that was recorded,
 * decode.  Does not: guess; where the bytes are not those, there is no answer.
 * Owns: one open file at a time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct image;

struct block_reader {
	struct image *image; /* of `path`, NULL: it cannot be used */
	const char *path;    /* borrowed; NULL: none was asked for yet */
};

/* Instructions from `start` up to and with the one at `end`; 0 when the file is gone or replaced,
 * or no instruction starts at `end`. `build_id` hex, "": any file is taken. */
uint32_t block_instructions(struct block_reader *reader, const char *path, const char *build_id,
	uint64_t start, uint64_t end);

void block_reader_done(struct block_reader *reader);
#define block_reader_auto __attribute__((cleanup(block_reader_done)))
