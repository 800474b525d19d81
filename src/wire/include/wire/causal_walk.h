/* causal_walk.h - out of code that others wrote, to the line that called it.
 *
 * Time in a library belongs, for whoever could change something, to the place of his own code that
 * made the call.  Libraries keep no frame pointers, so the tool compiles the rules of their
 * .eh_frame into steps: from this byte of the file on, a frame is left like this.  The kernel side
 * and the runtime in the target search the same steps. */
#pragma once

#ifndef __bpf__ /* there kernel_types.h has them */
#include <linux/types.h>
#endif
#include <stdbool.h>

enum {
	WIRE_CAUSAL_FOREIGN = 256,	/* mappings with such code */
	WIRE_CAUSAL_FOREIGN_BITS = 9,	/* halvings that find one */
	WIRE_CAUSAL_STEPS = 512 * 1024, /* of all of them; the C library has 20,000 */
	WIRE_CAUSAL_STEP_BITS = 20,	/* halvings that find one among so many */
	WIRE_CAUSAL_FRAMES = 16,	/* of others, one above the other */
	WIRE_CAUSAL_DEPTH = 64,		/* frames of a whole stack */
};

enum wire_causal_frame {
	WIRE_FRAME_UNKNOWN,
	WIRE_FRAME_SP,
	WIRE_FRAME_FP,
};

struct wire_causal_step {
	__u32 offset;	  /* in the file, from here on */
	__s32 cfa_offset; /* the frame begins so far above the register */
	__s16 ra_offset;  /* the return address stands so far above that; 0: link register */
	__s16 fp_offset;  /* likewise the caller's frame pointer; 0: still in its register */
	__u8 frame;	  /* enum wire_causal_frame: which register */
	__u8 is_own;	  /* the user's code: left only where the whole stack is asked for */
	__u8 reserved[2];
};

_Static_assert(sizeof(struct wire_causal_step) == 16, "a table of them has no holes");

/* A mapping with such code, and its steps; a table of them is in order. */
struct wire_causal_foreign {
	__u64 start, end, offset; /* `offset` of the file is mapped at `start` */
	__u32 first, count;	  /* of its steps */
};

struct wire_causal_walk {
	__u64 ip, sp, fp, lr; /* lr: aarch64 */
};

/* The call before a return address, above whose 48 bits aarch64 may have a signature. */
static inline __u64 wire_causal_call(__u64 ra)
{
	return (ra & ((1ULL << 48) - 1)) - 1;
}

/* Where the frame begins; 0: not known.  Stacks grow downwards. */
static inline __u64 wire_causal_cfa(
	const struct wire_causal_step *step, const struct wire_causal_walk *walk)
{
	__u64 from = step->frame == WIRE_FRAME_FP ? walk->fp : walk->sp;
	__u64 cfa = from + (__u64)(__s64)step->cfa_offset;

	bool is_known = step->frame == WIRE_FRAME_SP || step->frame == WIRE_FRAME_FP;

	return is_known && from && cfa >= walk->sp ? cfa : 0;
}
