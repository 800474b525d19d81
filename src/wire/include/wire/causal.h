/* causal.h - the memory that the kernel side, the runtime in the target and the tool share while
 * experiments run.
 *
 * Two BPF array maps, mapped by the tool and by the target: the board (one element) and the seats
 * (one element per thread).  The tool hands both descriptors to the runtime over a socket, to the
 * one process that it measures and to nobody else.  What decides over other processes (whom to
 * sample, which signal, which addresses) is NOT here but in a map of the tool's own: the target can
 * write to all of this, and may harm no one but its own figures.  Whoever reads it believes
 * nothing.
 *
 * Rules: a seat belongs to the thread whose id stands in it.  It is taken by a compare-and-swap at
 * one of WIRE_CAUSAL_PROBES places that follow from the id, and found again by looking at all of
 * them, so a seat that was given back needs no mark.  A seat whose `epoch` is not the board's is
 * out of date: whoever touches it first begins its account anew. */
#pragma once

#include <linux/types.h>

#include "wire/causal_mark.h"
#include "wire/causal_rule.h"

/* "PID NAME": the process that starts the target, and the abstract socket that has the maps. */
#define WIRE_CAUSAL_ENVIRONMENT "ASSAY_RT_CAUSAL"
#define WIRE_CAUSAL_MAGIC 0x6c61737561633173ULL

enum {
	WIRE_CAUSAL_VERSION = 6,
	WIRE_CAUSAL_SEATS = 32768, /* a power of two */
	WIRE_CAUSAL_PROBES = 16,
	WIRE_CAUSAL_STRIDE = 2053, /* odd: the places of one id are all different */
	WIRE_CAUSAL_POINTS = 256,  /* counters that the program can ask for */
	WIRE_CAUSAL_NAME = 112,
	WIRE_CAUSAL_RANGES = 64, /* of a target, and of its callers */
	WIRE_CAUSAL_PROBED = 64, /* points that the kernel side counts */
};

/* One signal holds a thread no longer than this, whatever the board says. */
#define WIRE_CAUSAL_PAUSE_MAX_NS 50000000ULL

/* The types of coz's counters. */
enum wire_causal_point_type {
	WIRE_POINT_THROUGHPUT = 1,
	WIRE_POINT_BEGIN = 2,
	WIRE_POINT_END = 3,
	WIRE_POINT_TYPES,
};

enum { WIRE_POINT_FREE, WIRE_POINT_CLAIMED, WIRE_POINT_READY };

/* Why the program is left alone from now on: no handler of ours may make a system call. */
enum wire_causal_seal {
	WIRE_SEAL_NONE,
	WIRE_SEAL_SANDBOX, /* it installs a seccomp filter */
	WIRE_SEAL_SIGNAL,  /* it handles our signal itself */
};

/* The first two members are what coz.h knows of a counter: two words of the program's size. */
struct wire_causal_point {
	__u64 count, backoff;
	__u32 state; /* WIRE_POINT_FREE, CLAIMED, READY */
	__u32 type;
	char name[WIRE_CAUSAL_NAME - 8];
};

struct wire_causal_board {
	__u64 magic;		 /* set by the tool */
	__u32 version;		 /* a runtime of another version does nothing */
	__u32 epoch;		 /* of the experiment */
	__u32 active;		 /* 0: nobody pauses */
	__u32 signal;		 /* chosen by the runtime: one that nobody had a handler for */
	__u64 handler;		 /* its address in the target; 0: there is no runtime */
	__u64 owed_ns;		 /* the delay of all so far: bought by the line, or stolen */
	__u64 pauses, paused_ns; /* by the runtime */
	__u32 sealed;		 /* enum wire_causal_seal */
	__u32 inside;		 /* threads in the handler now */
	__u64 heard;		 /* signals that the handler was called for */
	__u64 stolen_ns;	 /* of owed_ns, what other programs took from a thread */
	__u64 reserved[5];
	struct wire_causal_point points[WIRE_CAUSAL_POINTS];
};

struct wire_causal_seat {
	__u32 tid;   /* 0: free */
	__u32 epoch; /* of its account */
	struct causal_account account;
	__u64 asked_ns;	  /* the sample that asked for a pause; 0: none did */
	__u64 running_ns; /* on a CPU since; 0: it is not */
	__u64 cpu_ns;	  /* CPU time before that, in this experiment */
	__u64 blocked_ns; /* blocked since; 0: it is not */
	__u64 share_ns;	  /* what queue time was the others' when it began to wait for a CPU */
	__u8 chosen;	  /* blocked at a place whose waits are the target */
	__u8 halted;	  /* preempted in a pause, which goes on when it runs again */
	__u8 hands_off;	  /* how sure it is that it waits for those it wakes, up to 8 */
	__u8 unused;
	__u32 slack_ns;		 /* its timer slack: sleeps end so much later */
	__u32 woke;		 /* the thread that it woke, and went on since; 0: none */
	__u32 woke_us;		 /* when, cut off */
	__u32 queued;		 /* it waits for a CPU */
	struct causal_mark mark; /* what set off what it does */
};

_Static_assert(sizeof(struct wire_causal_point) == 128, "a table of them has no holes");
_Static_assert(sizeof(struct wire_causal_seat) == 128, "two cache lines");

/* The `probe`-th place of a thread. */
static inline __u32 wire_causal_place(__u32 tid, __u32 probe)
{
	return (tid + probe * WIRE_CAUSAL_STRIDE) & (WIRE_CAUSAL_SEATS - 1);
}
