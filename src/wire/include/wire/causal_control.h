/* causal_control.h - what an experiment is, and what was counted in it: whom to sample, where the
 * target of the experiment lies, how much of it is taken away.
 *
 * Two sides obey it.  The kernel side has it in a map of the tool's own, which the target never
 * sees.  The fallback without a kernel side (wire/causal_inside.h) has it in memory that the target
 * shares: there it decides over nobody but the target itself. */
#pragma once

#include "wire/causal.h"
#include "wire/causal_walk.h"

enum { ASSAY_CAUSAL_CPUS = 1024 };

struct assay_causal_range {
	__u64 low, high; /* low <= address < high */
};

/* Set by the tool while no experiment is active. */
struct assay_causal_settings {
	__u32 active;
	__u32 epoch;
	__u32 pid;    /* of the target, 0: none */
	__u32 signal; /* 0: nobody can be asked to pause */
	__u32 speedup_permille;
	__u32 waits;  /* the target is time blocked at a place, not time on a CPU */
	__u32 ranges; /* how many */
	__u32 callers;
	__u32 foreign; /* mappings with such code */
	__u32 filters; /* of system calls, that the target has from the tool: more are its own */
	__u32 stack_bytes; /* that a signal needs */
	__u32 callees;	 /* what the ranges call is the target's too: the whole stack is searched */
	__u32 stacks;	 /* whole stacks are kept, up to this many (kernel side) */
	__u32 cpu_count; /* that the target may use */
	__u64 handler;	 /* address of the runtime's handler: no signal while another is set */
	__u64 period_ns; /* between two samples of a CPU */
	__u64 start_ns;
	__u64 owed_start_ns;
	__u64 share_start_ns;		    /* of struct assay_causal_queue (kernel side) */
	__u64 cpus[ASSAY_CAUSAL_CPUS / 64]; /* which those are */
	struct assay_causal_range range[WIRE_CAUSAL_RANGES];
	struct assay_causal_range caller[WIRE_CAUSAL_RANGES];
	struct wire_causal_foreign foreign_code[WIRE_CAUSAL_FOREIGN];
};

/* Only added to. */
struct assay_causal_counts {
	__u64 samples;	 /* of the target's threads */
	__u64 hits;	 /* of those, in the target of the experiment */
	__u64 hit_ns;	 /* CPU time, or time blocked, that the hits stand for */
	__u64 lost;	 /* samples that were due while a thread of the program ran */
	__u64 handed;	 /* wakes of one thread of the program by another */
	__u64 outside;	 /* wakes by other processes and the kernel's threads */
	__u64 irq;	 /* wakes from interrupts */
	__u64 timer;	 /* wakes from timers */
	__u64 signals;	 /* pauses asked for */
	__u64 masked;	 /* not asked for: the thread blocks the signal */
	__u64 unheard;	 /* not asked for: the handler is not set */
	__u64 filtered;	 /* not asked for: a filter of system calls could end the program */
	__u64 no_stack;	 /* not asked for: the stack has no room for a signal */
	__u64 in_kernel; /* not asked for yet: the thread was in the kernel */
	__u64 queued_ns; /* threads waited for a CPU */
	__u64 ran_ns;	 /* threads were on a CPU */
	__u64 others_ns; /* so were other programs, on any CPU (without a kernel side) */
	__u64 no_seat;	 /* events of threads that found no seat */
	__u64 no_spot;	 /* samples whose address found no room in the table */
	__u64 inside;	 /* waits of the target that another thread ended: not shortened */
	__u64 stacks;	 /* that were to be kept */
	__u64 marked;	 /* visits of points that the kernel side counts (from here on all are) */
	__u64 by_clock;	 /* of those, set off by a clock */
	__u64 by_peer;	 /* of those, set off by another program */
	__u64 ticks;	 /* wakes by a clock */
	__u64 calls;	 /* wakes by another program that sent something */
};

/* Threads that wait for a CPU, and CPUs that others have (kernel side): causal_queue.bpf.h. */
struct assay_causal_queue {
	__u64 share_ns; /* what a thread that always waits would have lost to others */
	__u64 at_ns;	/* summed up to then */
	__s32 theirs;	/* CPUs that run another program */
	__s32 waiting;	/* threads */
};

struct assay_causal {
	struct assay_causal_settings settings;
	struct assay_causal_counts counts;
	__u64 visits[WIRE_CAUSAL_PROBED]; /* of points that the kernel side counts */
	__u64 last_taken_ns;		  /* the clock of the thread that ended last */
	__u64 last_by;			  /* what set off its end, CAUSAL_MARK_* */
	struct assay_causal_queue queue;
};
