/* unwind.h - registers and stack bytes in, return addresses out.
 *
 * Does: .eh_frame rules, PLT stubs, signal frames, frame pointers where there are no rules.
 * Does not: open files, name addresses, invent callers.  A stack that ends early says so.
 * Owns: an unwind_table owns its compiled rules and borrows its image.
 * Threads: a table may be used by one at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "code/image.h"

struct unwind_table;

/* The rules of one image, compiled lazily, function by function, as they are asked for.  Never
 * fails: an image without usable .eh_frame gives a table without rules. */
struct unwind_table *unwind_table_open(struct image *image);
void unwind_table_close(struct unwind_table *table);
size_t unwind_table_bytes(const struct unwind_table *table); /* memory it holds */

/* How a frame is left from `addr` on, for walks that cannot ask a table (in the kernel, in a signal
 * handler): where that takes no more than this.  Offsets of 0: still in the register. */
enum unwind_frame { UNWIND_FRAME_UNKNOWN, UNWIND_FRAME_SP, UNWIND_FRAME_FP };

struct unwind_step {
	uint64_t addr;
	enum unwind_frame frame; /* the register that the frame is found by... */
	int32_t cfa_offset;	 /* ...which begins so far above it */
	int32_t ra_offset;	 /* where the return address stands, from there */
	int32_t fp_offset;	 /* and the caller's frame pointer */
	bool begins;		 /* a function does, here */
};
typedef vec_of(struct unwind_step) unwind_step_vec;

/* All of them, in order of address; UNWIND_FRAME_UNKNOWN where there is none.  Compiles the whole
 * table: 20 ms for the C library. */
void unwind_table_steps(struct unwind_table *table, unwind_step_vec *ret_steps);

struct unwind_registers {
	uint64_t ip, sp, fp, lr; /* lr: aarch64 */
};

/* The bytes of the stack from `base` (normally the stack pointer) up. */
struct unwind_stack {
	const unsigned char *bytes;
	size_t len;
	uint64_t base;
	bool cut; /* the stack goes on above: more was there than was copied */
};

/* Whose code stands at an address. */
struct unwind_place {
	struct unwind_table *table; /* NULL: mapped, without rules (JIT code): frame pointers */
	uint64_t bias;		    /* memory address - bias = address in the image */
};

/* Where the unwinder asks.  find() returns false when nothing executable is mapped there. */
struct unwind_world {
	enum image_machine machine;
	bool (*find)(void *context, uint64_t addr, struct unwind_place *ret_place);
	void *context;
};

enum unwind_end {
	UNWIND_ROOT,	  /* the outermost frame was reached */
	UNWIND_TRUNCATED, /* the copied bytes ended before the stack did */
	UNWIND_BROKEN,	  /* no rule, or an impossible one: what follows is not known */
	UNWIND_TOO_DEEP,  /* `max` frames and not at the end */
};

/* Unwind one sample, innermost first: addrs[0] is the instruction itself, the others are return
 * addresses.  Returns the number of frames (>= 1) and how it ended. */
size_t unwind_sample(const struct unwind_world *world, const struct unwind_registers *registers,
	const struct unwind_stack *stack, uint64_t *ret_addrs, size_t max,
	enum unwind_end *ret_end);
