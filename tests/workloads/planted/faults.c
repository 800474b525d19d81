/* faults.c - a storm of page faults.
 *
 *     faults [BUFFERS]
 *
 * Planted: use_buffer() maps 1 MiB, writes one byte into each of its 256 pages and unmaps it again,
 * so each byte written is a page fault: a page is found, cleared, mapped, and given back.  Huge
 * pages are switched off for it, or one fault would bring them all.
 * First answer: use_buffer() [mark: TOUCH], page-fault storm: hundreds of thousands of minor faults a
 * second, most CPU time in the kernel under a fault.  Keeping the buffer would help. */
#include <sys/mman.h>

#include "planted.h"

enum { BUFFER_BYTES = 1 << 20, PAGE_BYTES = 4096 };

__attribute__((noinline)) static uint64_t use_buffer(uint64_t x)
{
	char *buffer = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		-1, 0);

	if (buffer == MAP_FAILED) {
		perror("faults");
		exit(1);
	}
	madvise(buffer, BUFFER_BYTES, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < BUFFER_BYTES; i += PAGE_BYTES)
		buffer[i] = (char)(x + i); /* TOUCH */
	x = mix(x ^ (unsigned char)buffer[BUFFER_BYTES / 2]);
	munmap(buffer, BUFFER_BYTES);
	return x;
}

int main(int argc, char **argv)
{
	uint64_t count = count_of(argc, argv, 12000), x = 1;

	for (uint64_t i = 0; i < count; i++)
		x = use_buffer(x);
	return tell("faults", count, x);
}
