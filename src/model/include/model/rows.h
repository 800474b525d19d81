/* rows.h - the rows of a run's tables.
 *
 * Plain data: an id is 1-based and 0 means "none"; a text_id stands for an interned text.  The same
 * columns are in the run file (docs/format.md). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t row_id;  /* 1-based, 0: none */
typedef uint32_t text_id; /* an interned text, 0: "" */

struct note_row {
	text_id code, text, hint;
};

enum field_state { FIELD_VALUE, FIELD_ABSENT, FIELD_DENIED, FIELD_STATES };

/* One fact of the fingerprint. */
struct field_row {
	text_id group, name, value;
	enum field_state state;
};

enum capability_status { CAPABILITY_OK, CAPABILITY_LIMITED, CAPABILITY_NO, CAPABILITY_STATUSES };

struct capability_row {
	text_id name, reason, fix;
	enum capability_status status;
};

enum event_status {
	EVENT_COUNTED,
	EVENT_NOT_COUNTED,
	EVENT_NOT_SUPPORTED,
	EVENT_NOT_PERMITTED,
	EVENT_NOT_TRUSTED,
	EVENT_STATUSES,
};

enum {
	EVENT_PRESCALED = 1, /* its counts are scaled already; never scale them again */
	EVENT_SIMULATED = 2, /* counted by a simulator, not by a machine */
	EVENT_MERGED = 4,    /* a sample stands for as many as its period says */
	EVENT_EACH = 8,	     /* each one was to be a sample */
};

struct event_row {
	text_id name, unit, core, reason;
	uint32_t group; /* 0: alone */
	uint32_t flags; /* EVENT_PRESCALED, EVENT_SIMULATED, EVENT_MERGED, EVENT_EACH */
	enum event_status status;
	double scale; /* value * scale is in `unit` */
};

/* One of several commands that were run in turns. */
struct command_row {
	text_id argv; /* its words, quoted for a shell */
};

struct count_row {
	row_id event, execution;
	uint64_t at_ns; /* 0: whole execution, else end of an interval */
	uint64_t value, enabled_ns, running_ns;
};

/* A counted property of the measurement itself: "lost_samples", "truncated_stacks",
 * "recorder_cpu_ns"...  docs/format.md lists the names. */
struct quality_row {
	text_id name;
	uint64_t value;
};

/* A thread under one name; when it takes another name (exec), that is another row. */
struct thread_row {
	uint32_t pid, tid;
	text_id name;
};

enum { MODULE_KERNEL = 1, MODULE_JIT = 2, MODULE_VDSO = 4, MODULE_REPLACED = 8 };

/* A file that code was mapped from, or one of "[kernel]", "[vdso]", "[jit PID]", "[unknown]". */
struct module_row {
	text_id path, build_id;
	uint32_t flags; /* MODULE_* */
};

struct function_row {
	text_id name; /* demangled */
	text_id file; /* of its definition */
	row_id module;
	uint32_t line;		   /* of its definition, 0: unknown */
	uint64_t addr, size_bytes; /* in the module, 0: unknown (an inlined function has no own) */
};

/* A place in the source: a line of a function.  `outer` is the frame that this one was inlined
 * into, an earlier row; 0: this is the function that really stands at the address. */
struct frame_row {
	row_id function, outer;
	text_id file;
	uint32_t line;
};

enum {
	LOCATION_CALLER = 1, /* a return address less one: the instruction that called */
	LOCATION_KERNEL = 2,
};

/* An address in a module.  `frame` is its innermost frame, 0: not named (yet). */
struct location_row {
	row_id module; /* 0: in no mapping */
	uint64_t addr; /* as in the module's ELF file; of the kernel and of JIT code as in memory */
	row_id frame;
	uint32_t flags; /* LOCATION_* */
};

/* A call chain: the innermost location here, its callers in `parent`, an earlier row. */
struct stack_row {
	row_id parent, location;
};

enum {
	SAMPLE_TRUNCATED = 1, /* the stack is longer than what was seen of it */
	SAMPLE_KERNEL = 2,    /* taken in the kernel */
	SAMPLE_BROKEN = 4,    /* the unwinder found no way on, and not the end either */
};

struct sample_row {
	uint64_t time_ns, period;
	row_id event, thread, stack;
	uint32_t cpu, flags;
};

enum {
	BRANCH_MISPREDICTED = 1,
	BRANCH_PREDICTED = 2,
	BRANCH_IN_TRANSACTION = 4,
	BRANCH_ABORT = 8,
	BRANCH_NOT_TAKEN = 16,	/* it fell through; most PMUs do not record those */
	BRANCH_TYPE_SHIFT = 8,	/* 4 bits: PERF_BR_* of the kernel */
	BRANCH_SPEC_SHIFT = 12, /* 2 bits: PERF_BR_SPEC_* */
};

/* One entry of a sample's branch stack, the newest first. */
struct branch_row {
	row_id sample, from, to; /* from, to: locations */
	uint32_t cycles, flags;
};

/* What a memory sample says beyond its place. */
struct access_row {
	row_id sample;
	uint64_t addr, weight, data_source; /* data_source: union perf_mem_data_src */
};

#include "model/evidence_rows.h"
#include "model/execution_rows.h"
#include "model/experiment_rows.h"
