/* disassemble.c - see disassemble.h.
 *
 * capstone decodes one instruction at a time; the text is copied once.  Its skip mode is not used:
 * it hides how many bytes it skipped, and x86 code that lost its step must be shown byte by byte
 * until it finds it again.  Its `detail` is not used either: what a jump is follows from the
 * instruction's id and its target stands in the text, at 270 ns per instruction in place of 380.
 * The library is opened when it is first needed: its 80,000 relocations would cost every assay
 * command 1 ms of the 2.3 that it takes to start. */
#include "code/disassemble.h"

#include <capstone/capstone.h>
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

#define TEXT_OF_(x) #x
#define TEXT_OF(x) TEXT_OF_(x)
/* Numbers of instructions change with the major version, so it must be the one of the header. */
#define LIBRARY "libcapstone.so." TEXT_OF(CS_API_MAJOR)

typedef vec_of(struct instruction) instruction_vec;

/* One decoding under way. */
struct decoder {
	enum image_machine machine;
	struct arena *arena;
	instruction_vec rows;
	csh handle;
	cs_insn *insn;
	__typeof__(&cs_open) open;
	__typeof__(&cs_close) close;
	__typeof__(&cs_option) option;
	__typeof__(&cs_malloc) malloc;
	__typeof__(&cs_free) free;
	__typeof__(&cs_disasm_iter) next;
};

static int library_missing(struct err *err)
{
	err_set(err, ERR_UNAVAILABLE, ENOENT,
		"instructions are decoded by " LIBRARY ", which is not installed");
	err_hint(err, "apt-get install libcapstone" TEXT_OF(CS_API_MAJOR) ", or use --by line");
	return -ENOENT;
}

/* Never closed: the next decoding finds it loaded, and unmapping it at the end takes 0.2 ms. */
static int library_open(struct decoder *decoder, struct err *err)
{
	void *library = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);

	if (!library)
		return library_missing(err);
	*(void **)&decoder->open = dlsym(library, "cs_open");
	*(void **)&decoder->close = dlsym(library, "cs_close");
	*(void **)&decoder->option = dlsym(library, "cs_option");
	*(void **)&decoder->malloc = dlsym(library, "cs_malloc");
	*(void **)&decoder->free = dlsym(library, "cs_free");
	*(void **)&decoder->next = dlsym(library, "cs_disasm_iter");
	if (decoder->open && decoder->close && decoder->option && decoder->malloc &&
		decoder->free && decoder->next)
		return 0;
	return library_missing(err);
}

bool disassemble_version(int *ret_major, int *ret_minor)
{
	void *library = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
	__typeof__(&cs_version) version = NULL;

	if (library)
		*(void **)&version = dlsym(library, "cs_version");
	if (version)
		version(ret_major, ret_minor);
	return version;
}

static int decoder_open(
	struct decoder *decoder, const struct disassemble_options *options, struct err *err)
{
	bool x86 = options->machine == IMAGE_X86_64;
	int r;

	if (options->machine == IMAGE_OTHER) {
		err_set(err, ERR_UNAVAILABLE, ENOTSUP, "unknown instruction set");
		err_hint(err, "supported: x86-64 and aarch64; lines work for all: --by line");
		return -ENOTSUP;
	}
	r = library_open(decoder, err);
	if (r < 0)
		return r;
	if (decoder->open(x86 ? CS_ARCH_X86 : CS_ARCH_ARM64,
		    x86 ? CS_MODE_64 : CS_MODE_LITTLE_ENDIAN, &decoder->handle) != CS_ERR_OK) {
		err_set(err, ERR_UNAVAILABLE, ENOTSUP,
			LIBRARY " was built without support for this machine");
		err_hint(err, "install a complete one, or use --by line");
		return -ENOTSUP;
	}
	if (x86 && !options->intel)
		decoder->option(decoder->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	decoder->insn = decoder->malloc(decoder->handle);
	return decoder->insn ? 0
			     : err_set(err, ERR_UNAVAILABLE, ENOMEM, "capstone is out of memory");
}

static void decoder_done(struct decoder *decoder)
{
	if (decoder->insn)
		decoder->free(decoder->insn, 1);
	if (decoder->handle)
		decoder->close(&decoder->handle);
	vec_done(&decoder->rows);
}

static enum instruction_kind kind_x86(unsigned id)
{
	switch (id) {
	case X86_INS_CALL:
	case X86_INS_LCALL:
	case X86_INS_INT:
	case X86_INS_SYSCALL:
	case X86_INS_SYSENTER:
		return INSTRUCTION_CALL;
	case X86_INS_RET:
	case X86_INS_RETF:
	case X86_INS_RETFQ:
	case X86_INS_IRET:
	case X86_INS_IRETD:
	case X86_INS_IRETQ:
	case X86_INS_SYSEXIT:
	case X86_INS_SYSRET:
		return INSTRUCTION_RETURN;
	case X86_INS_LJMP:
	case X86_INS_LOOP:
	case X86_INS_LOOPE:
	case X86_INS_LOOPNE:
	case X86_INS_XBEGIN:
		return INSTRUCTION_JUMP;
	default:
		return id >= X86_INS_JAE && id <= X86_INS_JS ? INSTRUCTION_JUMP : INSTRUCTION_PLAIN;
	}
}

static enum instruction_kind kind_aarch64(unsigned id)
{
	switch (id) {
	case ARM64_INS_BL:
	case ARM64_INS_BLR:
	case ARM64_INS_SVC:
	case ARM64_INS_HVC:
	case ARM64_INS_SMC:
		return INSTRUCTION_CALL;
	case ARM64_INS_RET:
	case ARM64_INS_ERET:
		return INSTRUCTION_RETURN;
	case ARM64_INS_B:
	case ARM64_INS_BR:
	case ARM64_INS_CBZ:
	case ARM64_INS_CBNZ:
	case ARM64_INS_TBZ:
	case ARM64_INS_TBNZ:
		return INSTRUCTION_JUMP;
	default:
		return INSTRUCTION_PLAIN;
	}
}

/* A direct target is the only operand that begins with a digit (x86), or the last one behind '#'
 * (aarch64: "tbz w0, #3, #0x1180"). */
static bool target_of(enum image_machine machine, const cs_insn *insn, uint64_t *ret_target)
{
	const char *at = machine == IMAGE_X86_64 ? insn->op_str : strrchr(insn->op_str, '#');

	if (insn->id == X86_INS_INT && machine == IMAGE_X86_64)
		return false; /* a number, not a place */
	if (machine == IMAGE_AARCH64 && (insn->id == ARM64_INS_SVC || insn->id == ARM64_INS_HVC ||
						insn->id == ARM64_INS_SMC))
		return false;
	if (machine == IMAGE_AARCH64 && at)
		at++;
	if (!at || !isdigit((unsigned char)*at))
		return false;
	*ret_target = strtoull(at, NULL, 0);
	return true;
}

static void add_decoded(struct decoder *decoder)
{
	const cs_insn *insn = decoder->insn; /* its texts are arrays in it */
	/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): capstone made it */
	size_t name = strnlen(insn->mnemonic, sizeof(insn->mnemonic));
	size_t operands = strnlen(insn->op_str, sizeof(insn->op_str));
	char *text = arena_take(decoder->arena, name + operands + 2);
	struct instruction row = {
		.addr = insn->address,
		.size_bytes = insn->size,
		.kind = decoder->machine == IMAGE_X86_64 ? kind_x86(insn->id)
							 : kind_aarch64(insn->id),
		.text = text,
	};

	memcpy(text, insn->mnemonic, name);
	if (operands) {
		text[name] = ' ';
		memcpy(text + name + 1, insn->op_str, operands);
	}
	if (row.kind == INSTRUCTION_CALL || row.kind == INSTRUCTION_JUMP)
		row.has_target = target_of(decoder->machine, insn, &row.target);
	vec_push(&decoder->rows, row);
}

/* What cannot be decoded: one byte on x86; on aarch64 a word, or a byte of what is left of one. */
static uint32_t add_bytes(
	struct decoder *decoder, uint64_t addr, const unsigned char *at, size_t left)
{
	bool word = decoder->machine == IMAGE_AARCH64 && left >= 4;
	struct instruction row = {
		.addr = addr,
		.size_bytes = word ? 4 : 1,
		.kind = INSTRUCTION_BYTES,
		.text = word ? arena_format(decoder->arena, ".inst 0x%02x%02x%02x%02x", at[3],
				       at[2], at[1], at[0])
			     : arena_format(decoder->arena, ".byte 0x%02x", at[0]),
	};

	vec_push(&decoder->rows, row);
	return row.size_bytes;
}

static void decoder_run(struct decoder *decoder, const struct image_bytes *code)
{
	const uint8_t *at = code->at;
	uint64_t addr = code->addr;
	size_t left = code->at ? code->len : 0;

	while (left) {
		uint32_t size;

		if (decoder->next(decoder->handle, &at, &left, &addr, decoder->insn)) {
			add_decoded(decoder);
			continue;
		}
		size = add_bytes(decoder, addr, at, left);
		at += size;
		addr += size;
		left -= size;
	}
}

int disassemble(const struct disassemble_options *options, const struct image_bytes *code,
	struct arena *arena, struct disassembly *ret_rows, struct err *err)
{
	struct decoder decoder = {.machine = options->machine, .arena = arena};
	int r = decoder_open(&decoder, options, err);

	if (r >= 0) {
		decoder_run(&decoder, code);
		ret_rows->count = decoder.rows.count;
		ret_rows->at = arena_take(arena, (decoder.rows.count + 1) * sizeof(*ret_rows->at));
		if (decoder.rows.count)
			memcpy(ret_rows->at, decoder.rows.at,
				decoder.rows.count * sizeof(*ret_rows->at));
	}
	decoder_done(&decoder);
	return r;
}
