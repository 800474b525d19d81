/* disassemble.c - see disassemble.h.
 *
 * capstone decodes one instruction at a time into memory of its own; the text is copied once.  Its
 * skip mode is not used: it hides how many bytes it skipped, and x86 code that lost its step must
 * be shown byte by byte until it finds it again.  `detail` is needed to tell calls from jumps and
 * costs about half as much again (10,000 instructions: 9 ms). */
#include "code/disassemble.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"

typedef vec_of(struct instruction) instruction_vec;

static int decoder_open(const struct disassemble_options *options, csh *ret_handle, struct err *err)
{
	bool x86 = options->machine == IMAGE_X86_64;
	cs_err failed;

	if (options->machine == IMAGE_OTHER) {
		err_set(err, ERR_UNAVAILABLE, ENOTSUP,
			"instructions of this kind of machine are not known");
		err_hint(err, "x86-64 and aarch64 are; lines work for all: --by line");
		return -ENOTSUP;
	}
	failed = cs_open(x86 ? CS_ARCH_X86 : CS_ARCH_ARM64,
		x86 ? CS_MODE_64 : CS_MODE_LITTLE_ENDIAN, ret_handle);
	if (failed != CS_ERR_OK) {
		err_set(err, ERR_UNAVAILABLE, ENOTSUP, "capstone cannot decode: %s",
			cs_strerror(failed));
		err_hint(err, "install libcapstone 4 with x86 and aarch64, or use --by line");
		return -ENOTSUP;
	}
	cs_option(*ret_handle, CS_OPT_DETAIL, CS_OPT_ON);
	if (x86 && !options->intel)
		cs_option(*ret_handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	return 0;
}

/* capstone 4 puts a far or indirect jump into the same groups; only an immediate is a target. */
static bool target_of(enum image_machine machine, const cs_insn *insn, uint64_t *ret_target)
{
	if (machine == IMAGE_X86_64) {
		const cs_x86 *x86 = &insn->detail->x86;

		if (x86->op_count != 1 || x86->operands[0].type != X86_OP_IMM)
			return false;
		*ret_target = (uint64_t)x86->operands[0].imm;
		return true;
	}
	for (unsigned i = insn->detail->arm64.op_count; i-- > 0;) { /* the last: tbz x0, #3, to */
		const cs_arm64_op *op = &insn->detail->arm64.operands[i];

		if (op->type == ARM64_OP_IMM) {
			*ret_target = (uint64_t)op->imm;
			return true;
		}
	}
	return false;
}

/* aarch64: capstone 4 calls `bl` a jump and no call; `svc` and `syscall` are interrupts. */
static enum instruction_kind kind_of(csh handle, enum image_machine machine, const cs_insn *insn)
{
	bool link =
		machine == IMAGE_AARCH64 && (insn->id == ARM64_INS_BL || insn->id == ARM64_INS_BLR);

	if (link || cs_insn_group(handle, insn, CS_GRP_CALL) ||
		cs_insn_group(handle, insn, CS_GRP_INT) || strcmp(insn->mnemonic, "syscall") == 0)
		return INSTRUCTION_CALL;
	if (cs_insn_group(handle, insn, CS_GRP_RET) ||
		(machine == IMAGE_AARCH64 && insn->id == ARM64_INS_RET))
		return INSTRUCTION_RETURN;
	return cs_insn_group(handle, insn, CS_GRP_JUMP) ? INSTRUCTION_JUMP : INSTRUCTION_PLAIN;
}

static void add_decoded(instruction_vec *rows, csh handle, enum image_machine machine,
	const cs_insn *insn, struct arena *arena)
{
	enum instruction_kind kind = kind_of(handle, machine, insn);
	char text[sizeof(insn->mnemonic) + sizeof(insn->op_str) + 2];
	int len = snprintf(text, sizeof(text), "%s%s%s", insn->mnemonic, *insn->op_str ? " " : "",
		insn->op_str);
	struct instruction row = {
		.addr = insn->address,
		.size_bytes = insn->size,
		.kind = kind,
		.text = arena_text(arena, text, (size_t)len),
	};

	if (kind == INSTRUCTION_CALL || kind == INSTRUCTION_JUMP)
		row.has_target = !cs_insn_group(handle, insn, CS_GRP_INT) &&
				 target_of(machine, insn, &row.target);
	vec_push(rows, row);
}

/* What cannot be decoded: one byte on x86; on aarch64 a word, or a byte of what is left of one. */
static uint32_t add_bytes(instruction_vec *rows, enum image_machine machine, uint64_t addr,
	const unsigned char *at, size_t left, struct arena *arena)
{
	bool word = machine == IMAGE_AARCH64 && left >= 4;
	struct instruction row = {
		.addr = addr,
		.size_bytes = word ? 4 : 1,
		.kind = INSTRUCTION_BYTES,
		.text = word ? arena_format(arena, ".inst 0x%02x%02x%02x%02x", at[3], at[2], at[1],
				       at[0])
			     : arena_format(arena, ".byte 0x%02x", at[0]),
	};

	vec_push(rows, row);
	return row.size_bytes;
}

int disassemble(const struct disassemble_options *options, const struct image_bytes *code,
	struct arena *arena, struct disassembly *ret_rows, struct err *err)
{
	const uint8_t *at = code->at;
	uint64_t addr = code->addr;
	size_t left = code->at ? code->len : 0;
	instruction_vec rows = {0};
	cs_insn *insn;
	csh handle;
	int r = decoder_open(options, &handle, err);

	if (r < 0)
		return r;
	insn = cs_malloc(handle);
	if (!insn) {
		cs_close(&handle);
		return err_set(err, ERR_UNAVAILABLE, ENOMEM, "capstone cannot get memory");
	}
	while (left) {
		if (cs_disasm_iter(handle, &at, &left, &addr, insn)) {
			add_decoded(&rows, handle, options->machine, insn, arena);
			continue;
		}
		uint32_t size = add_bytes(&rows, options->machine, addr, at, left, arena);

		at += size;
		addr += size;
		left -= size;
	}
	cs_free(insn, 1);
	cs_close(&handle);
	ret_rows->count = rows.count;
	ret_rows->at = arena_take(arena, (rows.count + 1) * sizeof(*rows.at));
	if (rows.count)
		memcpy(ret_rows->at, rows.at, rows.count * sizeof(*rows.at));
	vec_done(&rows);
	return 0;
}
