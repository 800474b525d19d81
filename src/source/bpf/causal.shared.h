/* causal.shared.h - what the causal program and its loader share and the target never sees: whom to
 * sample, where the target of the experiment lies, what was counted. */
#pragma once

#include "wire/causal_control.h"

/* Addresses that samples are counted by; more than a hot program has. */
enum { ASSAY_CAUSAL_SPOTS = 16384 };

/* Whole stacks of the first samples, while they are asked for. */
enum { ASSAY_CAUSAL_STACKS = 1024 };

struct assay_causal_stack {
	__u64 weight_ns; /* 0: not written to its end */
	__u32 tid;
	__u32 own;   /* which frame is the innermost of the user's own */
	__u32 count; /* of frames */
	__u32 reserved;
	__u64 frame[WIRE_CAUSAL_DEPTH]; /* innermost first; from the second on inside the call */
};
