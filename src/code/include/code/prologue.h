/* prologue.h - how a function begins: does it set up a frame pointer, does it look unoptimised?
 *
 * Pure: bytes in, three answers out.  Patterns, not a disassembler: on x86-64 a frame pointer must
 * be set before the first call in the body, so everything up to there is searched; that also finds
 * prologues that the compiler moved behind an early exit. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum prologue_machine { PROLOGUE_X86_64, PROLOGUE_AARCH64 };

struct prologue_code {
	enum prologue_machine machine;
	const uint8_t *code;
	size_t len;
	uint64_t addr;	    /* of code[0] */
	uint64_t low, high; /* addresses of the image: a call leads there */
};

struct prologue {
	bool calls;  /* there is a direct call, or one through the GOT */
	bool frames; /* the frame pointer is set up before the first call */
	bool spills; /* it starts by storing an argument to the stack, as -O0 does */
};

struct prologue prologue_look(const struct prologue_code *function);
