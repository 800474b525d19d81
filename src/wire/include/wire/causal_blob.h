/* causal_blob.h - the head of the code that is put into a running process (runtime/causal_blob.c):
 * what the tool fills in before it writes the bytes, and where the two entries are.  A later tool
 * knows by it what an earlier one left behind that was killed, and takes it out. */
#pragma once

#include <linux/types.h>

#define WIRE_CAUSAL_BLOB_MAGIC 0x31626f6c42797361ULL /* of this version of the head */

struct wire_causal_blob {
	__u64 board, seats; /* addresses in the target, filled in by the tool */
	__u64 handler;	    /* offset of the handler */
	__u64 leave;	    /* offset of what it returns to; 0: the kernel has that */
	/* Filled in, for whoever comes later. */
	__u64 magic;
	__u64 code_bytes, board_bytes, seats_bytes;
	__u64 old[4];	   /* what was set for the signal, as rt_sigaction(2) takes it */
	__u64 owner_start; /* when the tool was started, in the kernel's clock ticks since boot */
	__u32 owner;	   /* the tool */
	__u32 target;	   /* the process it was put into; a forked child has a copy of it */
	__u32 signal, reserved;
};
