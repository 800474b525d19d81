/* sample.h - one sample on its way from a source to ingest.
 *
 * Not a record: it borrows (the stack bytes stay in the kernel's ring, the names in the importer's
 * file) and is valid only during the call that hands it over.  It never crosses a process border,
 * so nothing in it is an offset.  Whoever reads it still trusts no number in it: addresses and
 * counts come from the target or from a file. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum wire_machine { WIRE_X86_64, WIRE_AARCH64, WIRE_MACHINE_OTHER };

/* User registers when the sample was taken; only what unwinding needs. */
struct wire_registers {
	bool valid;
	uint64_t ip, sp, fp, lr; /* lr: aarch64 only */
};

/* A frame that somebody else has named already (perf script text, pprof, folded...). */
struct wire_named {
	const char *function; /* NULL: unknown */
	const char *module, *file;
	uint64_t addr;
	uint32_t line;
	uint32_t known; /* the same number of one source: the same frame, from 1 on; 0: not told */
	bool inlined;	/* into the next one */
};

/* The first four are the kernel's bits of struct perf_branch_entry. */
enum {
	WIRE_BRANCH_MISPREDICTED = 1,
	WIRE_BRANCH_PREDICTED = 2,
	WIRE_BRANCH_IN_TRANSACTION = 4,
	WIRE_BRANCH_ABORT = 8,
	WIRE_BRANCH_NOT_TAKEN = 16,
	WIRE_BRANCH_TYPE_SHIFT = 8,  /* 4 bits: PERF_BR_* */
	WIRE_BRANCH_SPEC_SHIFT = 12, /* 2 bits: PERF_BR_SPEC_* */
};

struct wire_branch {
	uint64_t from, to;
	uint32_t cycles, flags; /* WIRE_BRANCH_* */
};

enum {
	WIRE_SAMPLE_KERNEL = 1, /* taken in the kernel */
	WIRE_SAMPLE_GUEST = 2,
};

struct wire_sample {
	uint32_t event;		/* the id of a WIRE_EVENT */
	uint32_t pid, tid, cpu; /* cpu UINT32_MAX: not known */
	uint32_t flags;		/* WIRE_SAMPLE_* */
	enum wire_machine machine;
	uint64_t time_ns, period, ip;

	/* The kernel's chain, innermost first, with PERF_CONTEXT_* markers among the addresses. */
	const uint64_t *chain;
	uint32_t chain_count;

	/* User registers and the bytes from the stack pointer up; `stack_asked` is how many were
	 * asked for: as many got means that the stack goes on. */
	struct wire_registers user;
	const void *stack;
	uint32_t stack_bytes, stack_asked;

	/* In place of all that: frames that have names, innermost first. */
	const struct wire_named *named;
	uint32_t named_count;
	bool named_truncated;

	const struct wire_branch *branches; /* newest first */
	uint32_t branch_count;

	bool has_access; /* addr, weight and data_source were sampled */
	uint64_t addr, weight, data_source;
};
