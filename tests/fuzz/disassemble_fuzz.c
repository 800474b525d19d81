/* disassemble_fuzz.c - any bytes as code of both machines: rows cover them without gap or overlap.
 * The first byte chooses machine and syntax. */
#include <stdint.h>
#include <stdlib.h>

#include "code/disassemble.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	arena_auto struct arena arena = {0};
	struct disassemble_options options = {0};
	struct disassembly rows = {0};
	struct err err = {0};
	struct image_bytes code = {.addr = 0xfffffffffffff000};
	uint64_t addr = code.addr;

	if (!size)
		return 0;
	options.machine = data[0] & 1 ? IMAGE_AARCH64 : IMAGE_X86_64;
	options.intel = data[0] & 2;
	code.at = data + 1;
	code.len = size - 1;
	if (disassemble(&options, &code, &arena, &rows, &err) < 0)
		abort();
	for (uint32_t i = 0; i < rows.count; i++) {
		if (rows.at[i].addr != addr || !rows.at[i].size_bytes || !rows.at[i].text[0])
			abort();
		addr += rows.at[i].size_bytes;
	}
	if (addr != code.addr + code.len)
		abort();
	return 0;
}
