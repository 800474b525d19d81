/* varints.c - branch mispredicts: numbers of one to five bytes, read byte by byte.
 *
 *     varints [ROUNDS]
 *
 * Planted: the lengths have no order, so that the end of each number is a guess of the CPU, and
 * what is done with a number is one addition.  The bytes (some 3 MB) are read one after the other.
 * Right: decode(), because of bad speculation. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { NUMBERS = 1000000 };

static size_t encode(uint8_t *bytes)
{
	uint64_t x = 88172645463325252u;
	uint8_t *at = bytes;

	for (int i = 0; i < NUMBERS; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		uint32_t value = (uint32_t)x >> (x >> 32) % 32;
		while (value >= 128) {
			*at++ = (uint8_t)(value | 128);
			value >>= 7;
		}
		*at++ = (uint8_t)value;
	}
	return (size_t)(at - bytes);
}

static uint64_t decode(const uint8_t *at, const uint8_t *end)
{
	uint64_t sum = 0;

	while (at < end) {
		uint32_t value = 0;
		unsigned shift = 0;
		while (*at & 128) {
			value |= (uint32_t)(*at++ & 127) << shift;
			shift += 7;
		}
		value |= (uint32_t)*at++ << shift;
		sum += value;
	}
	return sum;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 600;
	uint8_t *bytes = malloc(NUMBERS * 5);
	size_t length = encode(bytes);
	uint64_t sum = 0;

	for (long i = 0; i < rounds; i++)
		sum += decode(bytes, bytes + length) ^ (uint64_t)i;
	printf("%ld rounds, %016llx\n", rounds, (unsigned long long)sum);
	free(bytes);
	return 0;
}
