/* prologue.c - see prologue.h.
 *
 * A byte search can take a constant for an instruction.  It is kept honest by asking for more than
 * one sign: a call must lead into the image, and `mov %rsp,%rbp` must follow a `push %rbp`. */
#include "code/prologue.h"

#include <string.h>

enum {
	LEAF_WINDOW = 64,    /* where to look for a frame in a function without calls */
	SEARCH_LIMIT = 4096, /* bytes of one function that are looked at */
};

static int32_t read_s32(const uint8_t *at)
{
	int32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static uint32_t read_u32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static bool leads_inside(const struct prologue_code *f, size_t next, int32_t distance)
{
	uint64_t target = f->addr + next + (uint64_t)(int64_t)distance;

	return target >= f->low && target < f->high;
}

/* Offset of the first direct call (e8) or call through the GOT (ff 15); `len` when there is none.
 */
static size_t x86_first_call(const struct prologue_code *f, size_t len)
{
	for (size_t i = 0; i + 5 <= len; i++) {
		if (f->code[i] == 0xe8 && leads_inside(f, i + 5, read_s32(f->code + i + 1)))
			return i;
		if (f->code[i] == 0xff && f->code[i + 1] == 0x15 && i + 6 <= len &&
			leads_inside(f, i + 6, read_s32(f->code + i + 2)))
			return i;
	}
	return len;
}

/* Room on the stack is made: %rsp no longer points at the saved %rbp. */
static bool x86_moves_stack(const uint8_t *code)
{
	if (code[0] == 0x41)
		return code[1] >= 0x54 && code[1] <= 0x57; /* push %r12..%r15 */
	return code[0] == 0x48 && (code[1] == 0x83 || code[1] == 0x81) && code[2] == 0xec;
}

/* push %rbp ... mov %rsp,%rbp with %rsp untouched in between (else %rbp points to some buffer on
 * the stack).  Returns the offset behind it, 0 when it is not there. */
static size_t x86_frame_end(const uint8_t *code, size_t len)
{
	bool pushed = false;

	for (size_t i = 0; i + 3 <= len; i++) {
		if (code[i] == 0x55 && (i == 0 || code[i - 1] != 0x41))
			pushed = code[i + 1] != 0x53; /* push %rbx */
		else if (x86_moves_stack(code + i))
			pushed = false;
		else if (pushed && code[i] == 0x48 &&
			 ((code[i + 1] == 0x89 && code[i + 2] == 0xe5) ||
				 (code[i + 1] == 0x8b && code[i + 2] == 0xec)))
			return i + 3;
	}
	return 0;
}

/* Go before 1.21: mov %rbp,N(%rsp) then lea N(%rsp),%rbp. */
static bool x86_frame_of_go(const uint8_t *code, size_t len)
{
	bool saved = false;

	for (size_t i = 0; i + 4 <= len; i++) {
		if (code[i] != 0x48 || code[i + 3] != 0x24)
			continue;
		if (code[i + 1] == 0x89 && (code[i + 2] == 0x6c || code[i + 2] == 0xac))
			saved = true;
		if (saved && code[i + 1] == 0x8d && (code[i + 2] == 0x6c || code[i + 2] == 0xac))
			return true;
	}
	return false;
}

/* Skip what stands between the frame and the first real instruction: callee-saved pushes and the
 * room for locals. */
static size_t x86_skip_room(const uint8_t *code, size_t at, size_t len)
{
	while (at + 8 <= len) {
		if (code[at] == 0x53)
			at += 1;
		else if (code[at] == 0x41 && code[at + 1] >= 0x54 && code[at + 1] <= 0x57)
			at += 2;
		else if (code[at] == 0x48 && code[at + 1] == 0x83 && code[at + 2] == 0xec)
			at += 4;
		else if (code[at] == 0x48 && code[at + 1] == 0x81 && code[at + 2] == 0xec)
			at += 7;
		else
			break;
	}
	return at;
}

/* mov %rdi, -8(%rbp) and its like: an argument register, or xmm0..7, stored relative to %rbp or
 * %rsp. */
static bool x86_stores_argument(const uint8_t *code, size_t len)
{
	static const uint8_t arguments = 1 << 7 | 1 << 6 | 1 << 2 | 1 << 1; /* rdi rsi rdx rcx */
	size_t i = 0;
	uint8_t modrm;
	bool vector = false, extended = false;

	if (len < 6)
		return false;
	if (code[i] == 0xf3 || code[i] == 0xf2 || code[i] == 0x66)
		i++;
	if ((code[i] & 0xf0) == 0x40)
		extended = code[i++] & 4;
	if (code[i] == 0x0f && (code[i + 1] == 0x11 || code[i + 1] == 0x29)) {
		vector = true;
		i++;
	} else if (code[i] != 0x89 && code[i] != 0x88) {
		return false;
	}
	modrm = code[i + 1];
	if (modrm >> 6 != 1 && modrm >> 6 != 2)
		return false;
	if ((modrm & 7) != 5 && !((modrm & 7) == 4 && code[i + 2] == 0x24))
		return false;
	if (extended)
		return (modrm >> 3 & 7) <= 1; /* r8, r9 */
	return vector || arguments >> (modrm >> 3 & 7) & 1;
}

static struct prologue x86_look(const struct prologue_code *f)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	size_t len = f->len < SEARCH_LIMIT ? f->len : SEARCH_LIMIT;
	size_t call = x86_first_call(f, len), window = call, start = 0, frame;
	struct prologue seen = {.calls = call < len};

	if (!seen.calls)
		window = len < LEAF_WINDOW ? len : LEAF_WINDOW;
	frame = x86_frame_end(f->code, window);
	seen.frames = frame || x86_frame_of_go(f->code, window);
	if (len >= sizeof(endbr64) && memcmp(f->code, endbr64, sizeof(endbr64)) == 0)
		start = sizeof(endbr64);
	if (frame && frame <= start + 8)
		start = frame;
	start = x86_skip_room(f->code, start, len);
	seen.spills = x86_stores_argument(f->code + start, len - start);
	return seen;
}

static bool arm_is_call(uint32_t insn)
{
	return (insn & 0xfc000000) == 0x94000000 || (insn & 0xfffffc1f) == 0xd63f0000;
}

/* stp x29,x30,[sp...] in its two forms, then mov x29,sp or add x29,sp,#n. */
static struct prologue arm_look(const struct prologue_code *f)
{
	size_t len = f->len < SEARCH_LIMIT ? f->len : SEARCH_LIMIT;
	struct prologue seen = {0};
	bool saved = false, started = true;

	for (size_t i = 0; i + 4 <= len && !seen.calls; i += 4) {
		uint32_t insn = read_u32(f->code + i);
		bool reserves = (insn & 0xff8003ff) == 0xd10003ff || /* sub sp,sp,#n */
				(insn & 0xfffff01f) == 0xd503201f;   /* nop, bti, paciasp */

		seen.calls = arm_is_call(insn);
		if ((insn & 0xff407fff) == 0xa9007bfd) {
			saved = true;
		} else if (saved && (insn & 0xffc003ff) == 0x910003fd) {
			seen.frames = true;
		} else if (started && !reserves) {
			/* str w0..w7 or x0..x7,[sp,#n] */
			seen.spills = (insn & 0xbfc003f8) == 0xb90003e0;
			started = false;
		}
	}
	return seen;
}

struct prologue prologue_look(const struct prologue_code *function)
{
	if (function->machine == PROLOGUE_AARCH64)
		return arm_look(function);
	return x86_look(function);
}
