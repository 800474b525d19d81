/* Bytes in, instructions out, for both machines and for what is no code at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/arena.h"
#include "code/disassemble.h"

static struct disassembly decode(struct arena *arena, enum image_machine machine, bool intel,
	const unsigned char *bytes, size_t len)
{
	const struct disassemble_options options = {.machine = machine, .intel = intel};
	const struct image_bytes code = {.at = bytes, .len = len, .addr = 0x1000};
	struct disassembly rows = {0};
	struct err err = {0};

	assert_int_equal(disassemble(&options, &code, arena, &rows, &err), 0);
	return rows;
}

/* Every byte is in exactly one row. */
static void assert_covered(const struct disassembly *rows, size_t len)
{
	uint64_t addr = 0x1000;

	for (uint32_t i = 0; i < rows->count; i++) {
		assert_int_equal(rows->at[i].addr, addr);
		assert_true(rows->at[i].size_bytes > 0);
		addr += rows->at[i].size_bytes;
	}
	assert_int_equal(addr, 0x1000 + len);
}

static const unsigned char x86[] = {
	0x48, 0x83, 0xc0, 0x08,	      /* 1000 add $8, %rax */
	0x75, 0xfa,		      /* 1004 jne 1000 */
	0xe8, 0x05, 0x00, 0x00, 0x00, /* 1006 call 1010 */
	0xff, 0xd0,		      /* 100b call *%rax */
	0x0f, 0x05,		      /* 100d syscall */
	0xc3,			      /* 100f ret */
};

static void x86_is_told_as_objdump_does_or_as_intel_does(void **state)
{
	arena_auto struct arena arena = {0};
	struct disassembly att = decode(&arena, IMAGE_X86_64, false, x86, sizeof(x86));
	struct disassembly intel = decode(&arena, IMAGE_X86_64, true, x86, sizeof(x86));

	(void)state;
	assert_covered(&att, sizeof(x86));
	assert_int_equal(att.count, 6);
	assert_string_equal(att.at[0].text, "addq $8, %rax");
	assert_string_equal(intel.at[0].text, "add rax, 8");
	assert_string_equal(att.at[3].text, "callq *%rax");
}

static void x86_jumps_and_calls_know_where_they_lead(void **state)
{
	static const enum instruction_kind kinds[] = {INSTRUCTION_PLAIN, INSTRUCTION_JUMP,
		INSTRUCTION_CALL, INSTRUCTION_CALL, INSTRUCTION_CALL, INSTRUCTION_RETURN};
	arena_auto struct arena arena = {0};
	struct disassembly rows = decode(&arena, IMAGE_X86_64, false, x86, sizeof(x86));

	(void)state;
	for (uint32_t i = 0; i < rows.count; i++)
		assert_int_equal(rows.at[i].kind, kinds[i]);
	assert_true(rows.at[1].has_target && rows.at[1].target == 0x1000);
	assert_true(rows.at[2].has_target && rows.at[2].target == 0x1010);
	assert_false(rows.at[3].has_target); /* through a register */
	assert_false(rows.at[4].has_target); /* into the kernel */
}

static void bytes_that_are_no_instruction_are_rows_and_decoding_goes_on(void **state)
{
	static const unsigned char bytes[] = {0x06, 0xc3, 0x06, 0x06, 0xc3, 0x48, 0x83};
	static const char *const texts[] = {".byte 0x06", "retq", ".byte 0x06", ".byte 0x06",
		"retq", ".byte 0x48", ".byte 0x83"};
	arena_auto struct arena arena = {0};
	struct disassembly rows = decode(&arena, IMAGE_X86_64, false, bytes, sizeof(bytes));

	(void)state;
	assert_covered(&rows, sizeof(bytes));
	assert_int_equal(rows.count, 7);
	for (uint32_t i = 0; i < rows.count; i++)
		assert_string_equal(rows.at[i].text, texts[i]);
	assert_int_equal(rows.at[0].kind, INSTRUCTION_BYTES);
}

static void aarch64_is_decoded_with_its_calls_jumps_and_returns(void **state)
{
	static const unsigned char bytes[] = {
		0x00, 0x04, 0x00, 0x91, /* 1000 add x0, x0, #1 */
		0x04, 0x00, 0x00, 0x94, /* 1004 bl 1014 */
		0x00, 0x00, 0x3f, 0xd6, /* 1008 blr x0 */
		0xa0, 0xff, 0xff, 0x54, /* 100c b.eq 1000 */
		0x80, 0xff, 0xff, 0xb4, /* 1010 cbz x0, 1000 */
		0x01, 0x00, 0x00, 0xd4, /* 1014 svc #0 */
		0xc0, 0x03, 0x5f, 0xd6, /* 1018 ret */
		0xff, 0xff, 0xff, 0xff, /* 101c nothing */
		0x00, 0x04,		/* 1020 half a word */
	};
	static const enum instruction_kind kinds[] = {INSTRUCTION_PLAIN, INSTRUCTION_CALL,
		INSTRUCTION_CALL, INSTRUCTION_JUMP, INSTRUCTION_JUMP, INSTRUCTION_CALL,
		INSTRUCTION_RETURN, INSTRUCTION_BYTES, INSTRUCTION_BYTES, INSTRUCTION_BYTES};
	arena_auto struct arena arena = {0};
	struct disassembly rows = decode(&arena, IMAGE_AARCH64, false, bytes, sizeof(bytes));

	(void)state;
	assert_covered(&rows, sizeof(bytes));
	assert_int_equal(rows.count, 10);
	for (uint32_t i = 0; i < rows.count; i++)
		assert_int_equal(rows.at[i].kind, kinds[i]);
	assert_true(rows.at[1].has_target && rows.at[1].target == 0x1014);
	assert_false(rows.at[2].has_target);
	assert_true(rows.at[3].has_target && rows.at[3].target == 0x1000);
	assert_true(rows.at[4].has_target && rows.at[4].target == 0x1000);
	assert_false(rows.at[5].has_target);
	assert_string_equal(rows.at[7].text, ".inst 0xffffffff");
}

static void another_machine_is_refused_with_a_way_out(void **state)
{
	const struct disassemble_options options = {.machine = IMAGE_OTHER};
	const struct image_bytes code = {.at = x86, .len = sizeof(x86)};
	arena_auto struct arena arena = {0};
	struct disassembly rows;
	struct err err = {0};

	(void)state;
	assert_true(disassemble(&options, &code, &arena, &rows, &err) < 0);
	assert_int_equal(err.kind, ERR_UNAVAILABLE);
	assert_non_null(strstr(err.hint, "--by line"));
}

static void no_bytes_are_no_instructions(void **state)
{
	arena_auto struct arena arena = {0};

	(void)state;
	assert_int_equal(decode(&arena, IMAGE_X86_64, false, NULL, 0).count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_is_told_as_objdump_does_or_as_intel_does),
		cmocka_unit_test(x86_jumps_and_calls_know_where_they_lead),
		cmocka_unit_test(bytes_that_are_no_instruction_are_rows_and_decoding_goes_on),
		cmocka_unit_test(aarch64_is_decoded_with_its_calls_jumps_and_returns),
		cmocka_unit_test(another_machine_is_refused_with_a_way_out),
		cmocka_unit_test(no_bytes_are_no_instructions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
