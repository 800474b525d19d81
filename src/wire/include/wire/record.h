/* record.h - what passes between the kernel side, the in-target runtime and the tool.
 *
 * A record is one header and a fixed part, then the bytes of its texts.  All numbers are native
 * endian: records never leave the machine.  `size` counts the whole record and is a multiple of 8.
 * A text is an offset from the start of the record and a length; a NUL stands behind its bytes.
 * A reader calls wire_check() before it trusts anything inside.  No malloc, no stdio. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wire_type {
	WIRE_NOTE = 1,	 /* struct wire_note: a warning that belongs to the run */
	WIRE_FIELD,	 /* struct wire_field: one fact of the fingerprint */
	WIRE_CAPABILITY, /* struct wire_capability: what this machine can measure */
	WIRE_EVENT,	 /* struct wire_event: an event that was asked for */
	WIRE_EXECUTION,	 /* struct wire_execution: one execution of the target, ended */
	WIRE_COUNT,	 /* struct wire_count: an event counted over an execution or interval */
	WIRE_MAP,	 /* struct wire_map: code was mapped into a process */
	WIRE_TASK,	 /* struct wire_task: a task was born, renamed, or ended */
	WIRE_LOST,	 /* struct wire_lost: what the kernel or a file could not give */
	WIRE_ROUND,	 /* struct wire_round: all samples up to a time have been handed over */
	WIRE_QUALITY,	 /* struct wire_quality: a counted property of the measurement */
	WIRE_TARGET,	 /* struct wire_target: code that experiments are made on */
	WIRE_PROGRESS,	 /* struct wire_progress: where the program makes progress */
	WIRE_EXPERIMENT, /* struct wire_experiment: one experiment, ended */
	WIRE_VISIT,	 /* struct wire_visit: progress made in the last experiment */
	WIRE_COMMAND,	 /* struct wire_command: one of several commands, before its executions */
	WIRE_PLACE,	 /* struct wire_place: an event counted at one line of the source */
	WIRE_FACT,	 /* struct wire_fact: one number about the whole target */
	WIRE_SPAN,	 /* struct wire_span: work that the program timed itself */
	WIRE_CLAIM,	 /* struct wire_claim: what the program says about an explanation */
	WIRE_TYPES,
};

enum { WIRE_LARGEST = 1 << 16 }; /* a larger record is refused */

struct wire_record {
	uint32_t type;
	uint32_t size;
};

struct wire_text {
	uint32_t offset; /* 0: no text */
	uint32_t len;
};

struct wire_note {
	struct wire_record head;
	struct wire_text code; /* machine-readable: "events-multiplexed" */
	struct wire_text text;
	struct wire_text hint;
};

enum wire_field_state { WIRE_FIELD_VALUE, WIRE_FIELD_ABSENT, WIRE_FIELD_DENIED, WIRE_FIELD_STATES };

struct wire_field {
	struct wire_record head;
	struct wire_text group;
	struct wire_text name;
	struct wire_text value; /* only with WIRE_FIELD_VALUE */
	uint32_t state;
	uint32_t reserved;
};

enum wire_status { WIRE_OK, WIRE_LIMITED, WIRE_NO, WIRE_STATUSES };

struct wire_capability {
	struct wire_record head;
	struct wire_text name;
	struct wire_text reason; /* what was found, also when it is ok */
	struct wire_text fix;	 /* the way to get it, or no text */
	uint32_t status;
	uint32_t reserved;
};

/* Why an event has no value.  WIRE_COUNTED_* order is part of the run file (docs/format.md). */
enum wire_event_status {
	WIRE_EVENT_COUNTED,
	WIRE_EVENT_NOT_COUNTED,	  /* opened, never ran */
	WIRE_EVENT_NOT_SUPPORTED, /* this machine has no such event */
	WIRE_EVENT_NOT_PERMITTED,
	WIRE_EVENT_NOT_TRUSTED, /* counted, but the self-test says the counter lies */
	WIRE_EVENT_STATUSES,
};

struct wire_event {
	struct wire_record head;
	uint32_t event; /* 1, 2, 3...: the id that counts refer to */
	uint32_t group; /* 0: alone; events of one group share it and were on the PMU together */
	uint32_t status;
	uint32_t flags; /* WIRE_EVENT_* flags */
	double scale;	/* value * scale is in `unit` */
	struct wire_text name;
	struct wire_text unit;
	struct wire_text core;	 /* core type on a hybrid CPU ("cpu_core"), else no text */
	struct wire_text reason; /* with every status but COUNTED */
};

/* The counts come scaled for multiplexing already (perf stat's output has no raw ones): enabled_ns
 * and running_ns say how much was extrapolated, and nobody scales again. */
enum {
	WIRE_EVENT_PRESCALED = 1,
	WIRE_EVENT_SIMULATED = 2, /* counted by a simulator, not by a machine */
	WIRE_EVENT_MERGED = 4,	  /* a sample stands for as many as its period says */
	WIRE_EVENT_EACH = 8,	  /* each one was to be a sample */
};

/* Commands count 1, 2, 3... in the order in which they come. */
struct wire_command {
	struct wire_record head;
	struct wire_text argv; /* its words, quoted for a shell */
};

struct wire_execution {
	struct wire_record head;
	uint32_t execution; /* 1, 2, 3... */
	int32_t exit_status;
	int32_t signal;	   /* 0: exited by itself */
	uint32_t flags;	   /* WIRE_EXECUTION_* */
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t wall_ns;
	uint64_t user_ns;
	uint64_t system_ns;
	uint64_t max_rss_bytes;
	uint64_t rss_floor_bytes; /* what the starter had: a smaller peak cannot be seen */
	uint64_t minor_faults;
	uint64_t major_faults;
	uint64_t voluntary_switches;
	uint64_t involuntary_switches;
	uint64_t steal_ns;    /* taken from the machine's CPUs by its host meanwhile */
	uint64_t pressure_ns; /* of it some task of the machine waited for a CPU */
	uint64_t queue_ns;    /* its first thread, and the notice of its end, waited for a CPU */
	uint32_t command;     /* 1, 2, 3...: of several commands, 0: there is one */
	uint32_t reserved;
};

enum {
	WIRE_EXECUTION_NO_USAGE = 1,	/* not our child (-p, -a): only wall_ns is known */
	WIRE_EXECUTION_INTERRUPTED = 2, /* the user stopped it */
	WIRE_EXECUTION_LEFTOVERS = 4,	/* it left children running */
	WIRE_EXECUTION_TIMED_OUT = 8,	/* stopped at its time limit */
	WIRE_EXECUTION_WARMUP = 16,	/* not to be measured */
	WIRE_EXECUTION_STEAL = 32,	/* steal_ns was measured */
	WIRE_EXECUTION_PRESSURE = 64,	/* pressure_ns was measured */
	/* What another tool's file knows although WIRE_EXECUTION_NO_USAGE is set: */
	WIRE_EXECUTION_EXIT = 128,	    /* exit_status */
	WIRE_EXECUTION_FAILED = 256,	    /* it failed; the file does not tell how */
	WIRE_EXECUTION_RSS = 512,	    /* max_rss_bytes */
	WIRE_EXECUTION_RSS_BOUND = 1024,    /* max_rss_bytes, as the largest of all runs so far */
	WIRE_EXECUTION_CPU = 2048,	    /* user_ns, which then is user and system together */
	WIRE_EXECUTION_WRONG_OUTPUT = 4096, /* its stdout is not what was expected */
	WIRE_EXECUTION_THROTTLED = 8192,    /* its control group used up its CPU quota */
	WIRE_EXECUTION_LATE = 16384,	    /* counting began after its start */
	WIRE_EXECUTION_QUEUE = 32768,	    /* queue_ns was measured */
	WIRE_EXECUTION_PARALLEL = 65536,    /* not only its first thread used CPU time */
};

struct wire_count {
	struct wire_record head;
	uint32_t event;
	uint32_t execution;
	uint64_t at_ns; /* end of the interval since the start; 0: the whole execution */
	uint64_t value;
	uint64_t enabled_ns;
	uint64_t running_ns;
};

struct wire_sample; /* sample.h */

/* Where records go.  Returns 0, or a negative errno that stops the source. */
struct wire_sink {
	int (*take)(void *context, const struct wire_record *record);
	int (*take_sample)(void *context, const struct wire_sample *sample); /* NULL: none */
	void *context;
};

/* True when the `available` bytes at `record` hold one whole well-formed record of a known type:
 * its size fits, every text lies inside it and is terminated, every enumeration is in range. */
bool wire_check(const struct wire_record *record, size_t available);

/* The text, or "" when there is none.  Only after wire_check(). */
const char *wire_text(const struct wire_record *record, struct wire_text text);

#include "wire/evidence.h"
#include "wire/experiment.h"
#include "wire/sampling.h"
