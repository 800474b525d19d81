/* kallsyms_fuzz.c - any bytes as a copy of /proc/kallsyms. */
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "code/names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	io_auto int fd = memfd_create("kallsyms", MFD_CLOEXEC);
	struct names *names = NULL;
	struct names_frame frame;
	struct err err = {0};
	char path[64];

	if (fd < 0 || io_write_all(fd, data, size) < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (names_open_kernel(path, &names, &err) < 0)
		return 0;
	for (uint64_t addr = 0xffffffff81000000; addr < 0xffffffff81000200; addr += 8)
		names_find(names, addr, 0, &frame, 1);
	names_find(names, UINT64_MAX, 0, &frame, 1);
	names_find_function(names, "second", &frame);
	names_close(names);
	return 0;
}
