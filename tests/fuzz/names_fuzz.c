/* names_fuzz.c - any bytes as an ELF file with debug information: names or a refusal. */
#include <stdint.h>

#include "code/names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FIRST = 0x1000, LAST = 0x1200, STATIC = 0x401000 }; /* where the seeds have their code */

static void ask(struct names *names, uint64_t from, uint64_t to)
{
	struct names_frame frames[8];
	struct names_line lines[32];

	for (uint64_t addr = from; addr < to; addr += 4)
		names_find(names, addr, UINT64_MAX, frames, 8);
	names_lines(names, from, to - from, lines, 32);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct names_options options = {.path = "fuzz"};
	struct names *names = NULL;
	struct names_frame frame;
	struct err err = {0};

	if (names_open_bytes(data, size, &options, &names, &err) < 0)
		return 0;
	ask(names, FIRST, LAST);
	ask(names, STATIC, STATIC + LAST - FIRST);
	ask(names, 0, 16);
	names_find_function(names, "outer", &frame);
	names_find_function(names, "ns::box<int>::keep(int)", &frame);
	names_close(names);
	return 0;
}
