/* faults.c - touches N fresh pages of 4 KiB, once each: N page faults.  `faults N`. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	size_t pages = argc > 1 ? (size_t)atol(argv[1]) : 1000;
	char *memory = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED || madvise(memory, pages * 4096, MADV_NOHUGEPAGE) < 0)
		return 2;
	for (size_t i = 0; i < pages; i++)
		memory[i * 4096] = 1;
	printf("%zu pages\n", pages);
	return 0;
}
