/* causal_cheap.c - see causal_cheap.h.
 *
 * A block goes from the address to the first instruction that leads elsewhere, with it, unless
 * another instruction of the function jumps into it: all of it is visited as often. */
#include "causal_cheap.h"

#include "base/arena.h"
#include "code/disassemble.h"

enum { FUNCTION_BYTES_MOST = 256 << 10 };

/* arch/x86/kernel/uprobes.c: branch_setup_insn(), push_setup_insn(). */
static bool is_emulated_x86(const unsigned char *at, uint32_t size)
{
	if (size == 2 && at[0] == 0x41) /* push %r8 to %r15 */
		return at[1] >= 0x50 && at[1] <= 0x57;
	if (at[0] == 0x0f && size == 6)
		return at[1] >= 0x80 && at[1] <= 0x8f;
	return (at[0] >= 0x70 && at[0] <= 0x7f) || at[0] == 0xeb || at[0] == 0xe9 ||
	       at[0] == 0xe8 || (size == 1 && ((at[0] >= 0x50 && at[0] <= 0x57) || at[0] == 0x90));
}

static bool is_emulated(
	const struct instruction *row, const unsigned char *at, enum image_machine machine)
{
	if (machine == IMAGE_X86_64)
		return is_emulated_x86(at, row->size_bytes);
	return row->has_target && (row->kind == INSTRUCTION_JUMP || row->kind == INSTRUCTION_CALL);
}

/* Whether a jump of the function leads behind `from`, up to `upto`. */
static bool is_entered(const struct disassembly *function, uint64_t from, uint64_t upto)
{
	for (uint32_t i = 0; i < function->count; i++) {
		const struct instruction *row = &function->at[i];

		if (row->kind == INSTRUCTION_JUMP && row->has_target && row->target > from &&
			row->target <= upto)
			return true;
	}
	return false;
}

static uint64_t cheap_find(const struct disassembly *function, const struct image_bytes *code,
	enum image_machine machine, uint64_t addr, bool *ret_cheap)
{
	uint64_t start = function->count ? function->at[0].addr : 0;

	*ret_cheap = false;
	for (uint32_t i = 0; i < function->count; i++) {
		const struct instruction *row = &function->at[i];

		if (row->addr < addr)
			continue;
		if (row->kind == INSTRUCTION_BYTES ||
			row->addr - start + row->size_bytes > code->len)
			break;
		if (is_emulated(row, code->at + (row->addr - start), machine)) {
			*ret_cheap = !is_entered(function, addr, row->addr);
			return *ret_cheap ? row->addr : addr;
		}
		if (row->kind != INSTRUCTION_PLAIN)
			break;
	}
	return addr;
}

bool causal_cheap_point(const struct image *image, const struct names_frame *function,
	uint64_t addr, struct causal_point *point)
{
	uint64_t start = function->function_addr, bytes = function->function_bytes;
	arena_auto struct arena arena = {0};
	struct disassembly rows = {0};
	struct err ignored = {0};
	struct image_bytes code;

	point->is_cheap = false;
	if (!start || bytes > FUNCTION_BYTES_MOST || addr < start || addr - start >= bytes)
		return image_offset_of_addr(image, addr, &point->offset);
	code = image_code(image, start, (size_t)bytes);
	if (code.at && disassemble(&(struct disassemble_options){.machine = image_machine(image)},
			       &code, &arena, &rows, &ignored) >= 0)
		addr = cheap_find(&rows, &code, image_machine(image), addr, &point->is_cheap);
	return image_offset_of_addr(image, addr, &point->offset);
}
