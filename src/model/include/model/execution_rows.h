/* execution_rows.h - one execution of the target: as it is handed in and out, and as a run keeps
 * it.
 *
 * Part of rows.h, which is what everybody includes. */
#pragma once

#include "model/rows.h"

enum {
	EXECUTION_NO_USAGE = 1,
	EXECUTION_INTERRUPTED = 2,
	EXECUTION_LEFTOVERS = 4,
	EXECUTION_TIMED_OUT = 8,
	EXECUTION_WARMUP = 16,	 /* not to be measured */
	EXECUTION_STEAL = 32,	 /* steal_ns was measured */
	EXECUTION_PRESSURE = 64, /* pressure_ns was measured */
	/* Of imports, known although EXECUTION_NO_USAGE: */
	EXECUTION_EXIT = 128,	       /* exit_status */
	EXECUTION_FAILED = 256,	       /* that it failed, not how */
	EXECUTION_RSS = 512,	       /* max_rss_bytes */
	EXECUTION_RSS_BOUND = 1024,    /* max_rss_bytes of all runs so far, an upper bound */
	EXECUTION_CPU = 2048,	       /* user_ns, user and system together */
	EXECUTION_WRONG_OUTPUT = 4096, /* of ours again */
	EXECUTION_THROTTLED = 8192,    /* its control group used up its CPU quota */
	EXECUTION_LATE = 16384,	       /* its counts begin after its start */
	EXECUTION_QUEUE = 32768,       /* queue_ns was measured */
	EXECUTION_PARALLEL = 65536,    /* not only its first thread used CPU time */
	EXECUTION_OF_A_PART = EXECUTION_TIMED_OUT | EXECUTION_INTERRUPTED | EXECUTION_LATE,
};

/* One execution of the target, as it is handed in and out (run.h). */
struct execution_row {
	uint64_t start_ns, wall_ns, user_ns, system_ns, max_rss_bytes;
	uint64_t rss_floor_bytes; /* a peak below this cannot be seen */
	uint64_t minor_faults, major_faults, voluntary_switches, involuntary_switches;
	uint64_t steal_ns;    /* of the whole machine meanwhile */
	uint64_t pressure_ns; /* of it some task of the machine waited for a CPU */
	uint64_t queue_ns;    /* its first thread, and the notice of its end, waited for a CPU */
	row_id command;	      /* 0: the run has one target */
	int32_t exit_status, signal;
	uint32_t flags;
};

/* The same as a run keeps it, in the kernel's own units, because there may be 100,000 of them:
 * 72 bytes instead of 120.  What is too large for its member is kept as the largest that fits. */
struct __attribute__((packed, aligned(8))) execution_packed {
	/* 9 years since the machine started, a run of 208 days, 2 years of CPU time: what these
	 * leave of four words is queue_us. */
	uint64_t start_ns : 58, wall_ns : 54, user_ns : 56, system_ns : 56, queue_us : 32;
	uint32_t max_rss_kib, rss_floor_kib;
	uint32_t minor_faults, major_faults, voluntary_switches, involuntary_switches;
	uint32_t steal_us, pressure_us;
	uint16_t command;
	int16_t exit_status;
	uint32_t flags : 24;
	int32_t signal : 8;
};
enum { EXECUTION_COMMANDS_MAX = UINT16_MAX, EXECUTION_FLAGS_MAX = (1 << 24) - 1 };
