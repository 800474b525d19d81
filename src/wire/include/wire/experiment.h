/* experiment.h - the records of causal experiments: what was tried, and what progress was made.
 *
 * Part of record.h, which is what everybody includes. */
#pragma once

#include "wire/record.h"

enum wire_target_kind { WIRE_TARGET_CPU, WIRE_TARGET_WAIT, WIRE_TARGET_KINDS };

/* Code that experiments are made on; comes before the first of them. */
struct wire_target {
	struct wire_record head;
	uint32_t target; /* 1, 2, 3... */
	uint32_t kind;	 /* time on a CPU, or time blocked there */
	uint32_t line;	 /* 0: not one line */
	uint32_t reserved;
	struct wire_text name; /* for people: "main.c:12", "parse()" */
	struct wire_text file;
	struct wire_text function;
};

enum wire_progress_kind {
	WIRE_PROGRESS_THROUGHPUT,
	WIRE_PROGRESS_LATENCY,
	WIRE_PROGRESS_END, /* of the program: visited once in an experiment that is a whole run */
	WIRE_PROGRESS_KINDS
};

struct wire_progress {
	struct wire_record head;
	uint32_t point; /* 1, 2, 3... */
	uint32_t kind;
	struct wire_text name;
};

enum {
	WIRE_EXPERIMENT_CUT = 1,     /* the process ended or changed its program: not to be used */
	WIRE_EXPERIMENT_INSIDE = 2,  /* measured from inside the target, without a kernel side */
	WIRE_EXPERIMENT_WHOLE = 4,   /* a whole run; the other of its pair is another one */
	WIRE_EXPERIMENT_PACE = 8,    /* it is known what set the pace: one of these, or neither */
	WIRE_EXPERIMENT_CLOCK = 16,  /* a clock */
	WIRE_EXPERIMENT_PEER = 32,   /* another program */
	WIRE_EXPERIMENT_ROBBED = 64, /* other programs had the CPUs; virtual_ns has that time */
};

/* One experiment; its visits follow it.  All counts are of the measured part. */
struct wire_experiment {
	struct wire_record head;
	uint32_t target, pair, execution;
	uint32_t speedup_permille; /* 0: the baseline of its pair */
	uint32_t threads;	   /* that were seen */
	uint32_t flags;		   /* WIRE_EXPERIMENT_* */
	uint64_t start_ns;	   /* CLOCK_MONOTONIC */
	uint64_t wall_ns;
	uint64_t virtual_ns; /* the same on the program's virtual clock */
	uint64_t owed_ns;    /* delay that the target bought, or other programs made */
	uint64_t unpaid_ns;  /* the largest debt of a thread that ran at the end */
	uint64_t samples, hits, hit_ns, lost;
	uint64_t handed, outside, timer; /* wakes: by the program, by others, by timers */
	uint64_t signals, unheard;	 /* pauses asked for, and not possible */
	uint64_t paused_ns;
	uint64_t queued_ns, ran_ns; /* threads waited for a CPU, were on one */
};

/* Of the last experiment. */
struct wire_visit {
	struct wire_record head;
	uint32_t point, reserved;
	uint64_t arrivals, departures;	  /* the same for throughput */
	uint64_t open_before, open_after; /* latency: begun and not ended */
};
