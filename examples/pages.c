/* pages.c - touch memory page by page: a program whose page faults are known beforehand.
 *
 * `pages N` writes one byte into each of N fresh pages, so the kernel has to hand out N pages: N
 * faults, and N pages of resident memory, on top of the few hundred that starting any program
 * takes. Huge pages are switched off for it, or one fault would bring 512 pages.
 *
 *     pages [N]        (10000)
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000;
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	char *memory;

	if (count == 0 || count > 1u << 20) {
		fprintf(stderr, "pages: N is a number from 1 to %u\n", 1u << 20);
		return 2;
	}
	memory = mmap(NULL, count * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		-1, 0);
	if (memory == MAP_FAILED) {
		perror("pages");
		return 1;
	}
	madvise(memory, count * page_bytes, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < count; i++)
		memory[i * page_bytes] = 1;
	printf("touched %zu pages of %zu bytes\n", count, page_bytes);
	return 0;
}
