/* hot.c - a hot loop with code inlined into it and a call out of it.  `hot ROUNDS`.
 *
 * tests/e2e/annotate.py knows these lines by their marks. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static inline __attribute__((always_inline)) uint32_t mix(uint32_t value)
{
	value ^= value << 13; /* mark: inlined */
	value ^= value >> 17;
	return value ^ value << 5;
}

__attribute__((noinline)) static uint32_t callee(uint32_t value, uint32_t rounds)
{
	for (uint32_t i = 0; i < rounds; i++)
		value = value * 2654435761U + i; /* mark: callee */
	return value;
}

__attribute__((noinline)) uint32_t hot(uint32_t rounds)
{
	uint32_t sum = 1;

	for (uint32_t i = 0; i < rounds; i++) {
		sum = mix(sum + i);
		if (i % 1024 == 0)
			sum += callee(sum, rounds % 97); /* mark: call */
	}
	return sum;
}

int main(int argc, char **argv)
{
	uint32_t rounds = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000;

	printf("%u\n", hot(rounds));
	return 0;
}
