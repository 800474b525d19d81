/* stream.c - clean: large blocks of memory, copied one after the other.
 *
 *     stream [BLOCKS]
 *
 * Nothing is planted: copy_block() moves 4 MiB from one place to another in order, with the memcpy of
 * the C library; its memory is there before it begins.  It is bound by memory bandwidth, as every copy
 * is, and that may be said of it; no explanation of the ledger is true. */
#include <string.h>

#include "../planted/planted.h"

enum { BLOCK_BYTES = 4 << 20 };

__attribute__((noinline)) static void copy_block(char *to, const char *from)
{
	memcpy(to, from, BLOCK_BYTES);
	__asm__ volatile("" : : "r"(to) : "memory");
}

int main(int argc, char **argv)
{
	uint64_t blocks = count_of(argc, argv, 4500), sum = 0;
	char *from = malloc(BLOCK_BYTES), *to = malloc(BLOCK_BYTES);

	if (!from || !to) {
		perror("stream");
		return 1;
	}
	for (size_t i = 0; i < BLOCK_BYTES; i++)
		from[i] = (char)(i * 31);
	memset(to, 1, BLOCK_BYTES);
	for (uint64_t i = 0; i < blocks; i++) {
		from[i % BLOCK_BYTES] = (char)i;
		copy_block(to, from);
		sum = mix(sum + (unsigned char)to[i % BLOCK_BYTES]);
	}
	tell("stream", blocks, sum);
	free(from);
	free(to);
	return 0;
}
