/* unwind_parts.h - what the files behind unwind.h share: call frame information, bounded.
 *
 *     unwind_read.c        the entries of .eh_frame: a CIE says what is common, an FDE is a
 * function unwind_compile.c     the program of an FDE -> rows: from this address on, this rule
 *     unwind_expression.c  the few DWARF expressions that occur in rules
 *     unwind_table.c       address -> FDE -> row -> rule, compiled on the first hit
 *     unwind_steps.c       all plain rules of a table, for walks that cannot ask
 *     unwind.c             rules + registers + stack bytes -> return addresses
 *
 * Only three registers are followed (program counter, stack pointer, frame pointer, on aarch64 the
 * link register too); everything else in the programs is read over.  That is what makes a rule 16
 * bytes, and 1494 different ones enough for all 75 modules of clang. */
#pragma once

#include "code/unwind.h"
#include "image_parts.h"

/* An address as the encoding byte says (DW_EH_PE_*).  `addr` is where the cursor stands. */
enum {
	ENCODING_PCREL = 0x10,
	ENCODING_DATAREL = 0x30,
	ENCODING_UDATA4 = 0x03,
	ENCODING_SDATA4 = 0x0b,
	ENCODING_OMIT = 0xff,
};
uint64_t cursor_encoded(struct cursor *cursor, uint8_t encoding, uint64_t addr);

/* One function of .eh_frame, with what its CIE says.  The programs lie inside the section. */
struct frame_entry {
	uint64_t pc, pc_bytes;
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding;
	bool signal;  /* a signal trampoline: the address above it is exact */
	bool unusual; /* returns through another register than all others */
	struct cursor first, program;
};

/* The FDE at `offset` of the section.  False when anything about it is not right. */
bool frame_entry_read(const struct image_bytes *frames, enum image_machine machine, uint64_t offset,
	struct frame_entry *ret_entry);

/* Step over one record of the section: false at its end.  `*ret_is_fde` says what it was. */
bool frame_entry_next(
	const struct image_bytes *frames, uint64_t offset, uint64_t *ret_next, bool *ret_is_fde);

/* Where the frame began. */
enum rule_cfa { CFA_UNKNOWN, CFA_SP, CFA_FP, CFA_EXPRESSION };

/* Where the caller's value of a register is. */
enum rule_saved {
	SAVED_SAME, /* still in the register */
	SAVED_UNDEFINED,
	SAVED_AT, /* in memory at CFA + offset */
	SAVED_IS, /* it is CFA + offset */
	SAVED_AT_EXPRESSION,
	SAVED_IS_EXPRESSION,
	SAVED_ELSEWHERE, /* in a register that is not followed */
};

/* With an expression, the offset is where its length stands in the section. */
struct unwind_rule {
	uint8_t cfa, fp, ra; /* enum rule_cfa, enum rule_saved */
	uint8_t signal;
	int32_t cfa_offset, fp_offset, ra_offset;
};

/* Run the program; `take` is called with growing offsets from entry->pc.  False when it cannot be
 * understood: the rows that were taken are then worth nothing. */
typedef void unwind_row_taker(void *context, uint32_t pc_offset, const struct unwind_rule *rule);
bool frame_entry_compile(const struct frame_entry *entry, const struct image_bytes *frames,
	enum image_machine machine, unwind_row_taker *take, void *context);

/* The registers as numbered by DWARF. */
struct unwind_numbers {
	uint8_t fp, sp, ra;
};
struct unwind_numbers unwind_numbers(enum image_machine machine);

/* What an expression may look at. */
struct expression_world {
	enum image_machine machine;
	const struct unwind_registers *registers;
	bool (*read)(void *context, uint64_t addr, uint64_t *ret_value);
	void *context;
};

/* Evaluate the expression whose length stands at `offset`.  `first` lies on its stack when not
 * NULL.  False when it is not understood, or a read failed. */
bool expression_evaluate(const struct image_bytes *frames, int32_t offset, const uint64_t *first,
	const struct expression_world *world, uint64_t *ret_value);

/* The rule at an address of the image, NULL when the address belongs to no function with rules.  A
 * rule that cannot be followed has CFA_UNKNOWN. */
const struct unwind_rule *unwind_table_rule(struct unwind_table *table, uint64_t addr);
const struct image_bytes *unwind_table_frames(const struct unwind_table *table);

/* Every rule of the table and where it begins, function by function (`begins`: the first one);
 * behind each function a rule with CFA_UNKNOWN. */
void unwind_table_each(struct unwind_table *table,
	void (*take)(void *context, uint64_t addr, const struct unwind_rule *rule, bool begins),
	void *context);

/* The instruction that ends at `addr` is a call. */
bool unwind_table_has_call_before(const struct unwind_table *table, uint64_t addr);

/* What stands at an address without a rule. */
enum unwind_gap {
	GAP_UNKNOWN,
	GAP_START,	/* where the program or the loader begins: nobody called it */
	GAP_PLT,	/* a jump to another module: only the return address is on the stack */
	GAP_PLT_PUSHED, /* the same, behind the push of the symbol's number */
	GAP_SIGNAL,	/* the system call that returns from a signal handler */
};
enum unwind_gap unwind_table_gap(const struct unwind_table *table, uint64_t addr);
