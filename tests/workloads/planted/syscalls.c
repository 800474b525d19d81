/* syscalls.c - one system call for each byte.
 *
 *     syscalls [BYTES]
 *
 * Planted: copy_bytes() reads one byte at a time from /dev/zero and writes it to /dev/null.  Neither
 * ever waits, so the time goes into entering and leaving the kernel, millions of times a second.
 * First answer: copy_bytes() [mark: BYTE], syscall overhead: most CPU time in the kernel, calls of a
 * fraction of a microsecond, one byte each.  A buffer would help. */
#include <fcntl.h>
#include <unistd.h>

#include "planted.h"

__attribute__((noinline)) static uint64_t copy_bytes(int from, int to, uint64_t count)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < count; i++) {
		unsigned char byte;

		if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1) { /* BYTE */
			perror("syscalls");
			exit(1);
		}
		sum = mix(sum + byte);
	}
	return sum;
}

int main(int argc, char **argv)
{
	uint64_t count = count_of(argc, argv, 5000000);
	int from = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	int to = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (from < 0 || to < 0) {
		perror("syscalls");
		return 1;
	}
	return tell("syscalls", count, copy_bytes(from, to, count));
}
