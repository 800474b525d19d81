/* causal_blob.h - the head of the code that is put into a running process (runtime/causal_blob.c):
 * what the tool fills in before it writes the bytes, and where the two entries are. */
#pragma once

#include <linux/types.h>

struct wire_causal_blob {
	__u64 board, seats; /* addresses in the target, filled in by the tool */
	__u64 handler;	    /* offset of the handler */
	__u64 leave;	    /* offset of what it returns to; 0: the kernel has that */
};
