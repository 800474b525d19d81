/* loops.h - which instructions of a function are in a loop, and whose loop it is.
 *
 * Does: find the loops in decoded instructions, nested ones too; read the code of many functions of
 * one file for that, and say which function of the source each loop stands in, when some were
 * inlined.  Does not: count rounds, know samples.
 * A jump through a table leads to every block that nothing else leads to.
 * Owns: the reader its file; loops are in the caller's arena. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "code/disassemble.h"

struct loop {
	uint64_t head, latch; /* where it is entered, where it jumps back from */
	uint32_t outer;	      /* 1 + index of the loop around it, 0: none */
};

struct loops {
	const struct instruction *instructions;
	uint32_t instruction_count;
	uint32_t *innermost; /* by instruction: 1 + index of its loop, 0: in none */
	struct loop *at;
	uint32_t count;
};

void loops_find(const struct instruction *instructions, uint32_t count, struct arena *arena,
	struct loops *ret_loops);

/* The instruction that holds this address, NULL: none does. */
const struct instruction *loops_instruction(const struct loops *loops, uint64_t addr);

struct loop_reader;

/* `build_id` hex, as recorded; "": any file is taken.  NULL when the file is gone, replaced or not
 * understood. */
struct loop_reader *loop_reader_open(const char *path, const char *build_id);
void loop_reader_close(struct loop_reader *reader);

/* False: the code cannot be read or decoded. */
bool loop_reader_look(struct loop_reader *reader, uint64_t addr, uint64_t size_bytes,
	struct arena *arena, struct loops *ret_loops);

/* The functions that a loop stands in, outermost first: the one at its addresses, then what was
 * inlined into it and holds all of the loop.  Names live as long as the reader.  Returns how many,
 * 0: not known. */
unsigned loop_reader_owners(
	struct loop_reader *reader, const struct loop *loop, const char **ret_names, unsigned max);
