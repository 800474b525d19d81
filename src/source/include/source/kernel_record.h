/* kernel_record.h - one record of the kernel's ring as a wire record or a wire sample.
 *
 * Does: the records that our own events ask for (struct kernel_layout says what a sample holds).
 * Does not: other machines' byte order or other tools' layouts; that is an importer's work.
 * Nothing is copied but what LBR has to be turned into; every count and length is checked against
 * the record's size, although the kernel wrote it.  Owns nothing. */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "wire/record.h"
#include "wire/sample.h"

/* Registers that unwinding needs, as bits of the kernel's numbering, and their order. */
#if defined(__aarch64__)
enum { KERNEL_REGISTERS = 4 }; /* x29, lr, sp, pc */
#define KERNEL_REGISTER_MASK (UINT64_C(0xf) << 29)
#else
enum { KERNEL_REGISTERS = 3 }; /* bp, sp, ip */
#define KERNEL_REGISTER_MASK (UINT64_C(7) << 6)
#endif

/* What a sample may hold; the trailers of other records follow from the same word. */
#define KERNEL_SAMPLE_TYPES                                                                        \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
		PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN |                     \
		PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |        \
		PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC)

/* How far before a record's end its time stands: behind it come the CPU (always asked for) and,
 * in sample rings, the identifier. */
enum { KERNEL_TIME_BEFORE_END = 16, KERNEL_SAMPLE_RING_TIME_BEFORE_END = 24 };

enum { KERNEL_CHAIN_MAX = 1024, KERNEL_BRANCHES_MAX = 1024 };

/* Where a chain or branches are put together that do not lie in the record as such. */
struct kernel_scratch {
	/* A branch stack is what it says; false: it is the call stack that LBR recorded. */
	bool as_branches;
	uint64_t chain[KERNEL_CHAIN_MAX];
	struct wire_branch branches[KERNEL_BRANCHES_MAX];
};

/* One entry of a branch stack; `bits` as the kernel writes them behind the two addresses. */
struct wire_branch kernel_branch_of(uint64_t from, uint64_t to, uint64_t bits);

/* WIRE_SAMPLE_* of a record's `misc`. */
uint32_t kernel_flags_of(uint16_t misc);

/* Read a PERF_RECORD_SAMPLE of `sample_type` (within KERNEL_SAMPLE_TYPES; only PERIOD and what
 * follows it may be absent, and ADDR) into `ret_sample`, all but its event; `ret_identifier` says
 * which open event it is from.  A branch stack becomes the sample's branches, or with
 * !scratch->as_branches the user part of the chain.  False: not well formed. */
bool kernel_sample_read(const struct perf_event_header *record, uint64_t sample_type,
	struct kernel_scratch *scratch, struct wire_sample *ret_sample, uint64_t *ret_identifier);

/* Emit what a record about tasks or mappings says; the record carries a TID|TIME|CPU trailer.
 * 1 when it is another kind of record, 0, or the sink's negative errno. */
int kernel_record_emit(const struct perf_event_header *record, const struct wire_sink *sink);
