/* jit_fuzz.c - any bytes as a perf-PID.map or a jitdump; and any text as a mangled name. */
#include <stdint.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/io.h"
#include "code/names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demangle(const uint8_t *data, size_t size)
{
	arena_auto struct arena arena = {0};
	str_auto struct str name = {0};

	names_demangle(arena_text(&arena, (const char *)data, size), &name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	arena_auto struct arena arena = {0};
	const char *path = arena_format(&arena, "/dev/shm/assay-jit-fuzz-%d", (int)getpid());
	struct names *names = NULL;
	struct names_frame frame;
	struct names_line lines[8];
	struct err err = {0};

	demangle(data, size);
	/* It follows no links, so a memfd will not do. */
	if (io_replace(path, IO_SHARED, data, size, &err) < 0)
		return 0;
	if (names_open_jit(&(struct names_options){.path = path}, getuid(), &names, &err) == 0) {
		for (uint64_t addr = 0x1000; addr < 0x1100; addr += 8)
			names_find(names, addr, addr, &frame, 1);
		names_find(names, UINT64_MAX, UINT64_MAX, &frame, 1);
		names_lines(names, 0x1000, 64, lines, 8);
		names_find_function(names, "old", &frame);
		names_close(names);
	}
	unlink(path);
	return 0;
}
