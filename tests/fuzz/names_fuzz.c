/* names_fuzz.c - any bytes as an ELF file with debug information: names or a refusal. */
#include <stdint.h>

#include "code/names.h"
#include "code/places.h"

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

static void ask_places(struct names *names)
{
	static const char *const mine[] = {"%.c", "%.cc", NULL};
	const struct scope scope = {mine};
	struct place place;

	for (int kind = 0; kind < 3; kind++) {
		if (kind == 0)
			place_of_scope(names, &scope, &place);
		else if (kind == 1)
			place_of_line(names, &scope, "inlined.c", 7, &place);
		else
			place_of_function(names, "outer", &place);
		for (uint32_t i = 1; i < place.ranges.count; i++)
			if (place.ranges.at[i].low <= place.ranges.at[i - 1].high)
				__builtin_trap();
		place_done(&place);
	}
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
	ask_places(names);
	names_find_function(names, "outer", &frame);
	names_find_function(names, "ns::box<int>::keep(int)", &frame);
	names_close(names);
	return 0;
}
