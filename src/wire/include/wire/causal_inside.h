/* causal_inside.h - the memory of the causal engine that works from inside the target.
 *
 * Used where there are no rights for a kernel side: the runtime takes the samples itself and sees
 * the waits that go through the functions it interposes.  The same board and seats as always, and
 * this as a third part; all three are memfds that the tool makes, seals against a change of size
 * and hands over.  The target can write to all of it and so lie about itself, no more. */
#pragma once

#include "wire/causal_control.h"

enum { WIRE_CAUSAL_SPOTS = 16384, WIRE_CAUSAL_SPOT_PROBES = 32 }; /* a power of two */

/* How the threads of the target are sampled; the worst of them. */
enum wire_causal_sampler {
	WIRE_SAMPLER_NONE,
	WIRE_SAMPLER_EVENT, /* perf event task-clock: as often as asked for */
	WIRE_SAMPLER_TIMER, /* POSIX timer: at ticks of the kernel only, 1 to 10 ms */
};

struct wire_causal_spot {
	__u64 addr, ns; /* addr 0: free */
};

struct wire_causal_inside {
	__u64 expires_ns; /* CLOCK_MONOTONIC: an experiment is over then if the tool says no more */
	__u32 tool;	  /* its process id; when it is gone nobody samples any longer */
	__u32 sampler;	  /* enum wire_causal_sampler, set by the runtime */
	struct assay_causal control;
	struct wire_causal_spot spots[WIRE_CAUSAL_SPOTS];
	struct wire_causal_step steps[WIRE_CAUSAL_STEPS]; /* out of the code of others */
};
