/* disassemble.h - bytes and an address in, instructions out.
 *
 * Does: x86-64 and aarch64, through capstone, in process.  Does not: read files, name addresses.
 * Owns: everything is in the caller's arena.  Bytes that are no instruction become rows of their
 * own and decoding goes on behind them, so the rows always cover the bytes without gap or overlap:
 * a sample in [addr, addr + len) is in exactly one row. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "code/image.h"

enum instruction_kind {
	INSTRUCTION_PLAIN,
	INSTRUCTION_CALL, /* also into the kernel */
	INSTRUCTION_JUMP,
	INSTRUCTION_RETURN,
	INSTRUCTION_BYTES, /* not decodable: ".byte 0x06" */
};

struct instruction {
	uint64_t addr;
	uint32_t size_bytes;
	enum instruction_kind kind;
	bool has_target; /* a direct jump or call */
	uint64_t target;
	const char *text;	 /* "addq $0x8, %rax" */
	const char *target_name; /* who stands at `target`; NULL here, see listing.h */
};

struct disassemble_options {
	enum image_machine machine;
	bool intel; /* x86: Intel's order of operands in place of AT&T's */
};

struct disassembly {
	struct instruction *at;
	uint32_t count;
};

/* Decode all of the bytes.  ERR_UNAVAILABLE for a machine that is none of the two. */
int disassemble(const struct disassemble_options *options, const struct image_bytes *code,
	struct arena *arena, struct disassembly *ret_rows, struct err *err);

/* The version of the library that decodes; false when it is not installed. */
bool disassemble_version(int *ret_major, int *ret_minor);
