/* sort.c - clean: numbers sorted by their bytes.
 *
 *     sort [ARRAYS]
 *
 * Nothing is planted: sort_by_byte() is a radix sort of 64 Ki numbers, which compares nothing and so
 * has no branch to mispredict, in memory that the second cache holds.  make_numbers() makes a new
 * array each time.  No explanation of the ledger is true of it. */
#include "../planted/planted.h"

enum { NUMBERS = 1 << 16 };

static uint32_t numbers[NUMBERS], others[NUMBERS];

__attribute__((noinline)) static uint64_t make_numbers(uint64_t x)
{
	for (uint32_t i = 0; i < NUMBERS; i++) {
		x = mix(x);
		numbers[i] = (uint32_t)(x >> 32);
	}
	return x;
}

__attribute__((noinline)) static void sort_by_byte(
	const uint32_t *from, uint32_t *to, unsigned shift)
{
	uint32_t starts[256] = {0}, at = 0;

	for (uint32_t i = 0; i < NUMBERS; i++)
		starts[from[i] >> shift & 255]++;
	for (unsigned i = 0; i < 256; i++) {
		uint32_t count = starts[i];

		starts[i] = at;
		at += count;
	}
	for (uint32_t i = 0; i < NUMBERS; i++)
		to[starts[from[i] >> shift & 255]++] = from[i];
}

int main(int argc, char **argv)
{
	uint64_t arrays = count_of(argc, argv, 2500), x = 1, sum = 0;

	for (uint64_t i = 0; i < arrays; i++) {
		x = make_numbers(x);
		sort_by_byte(numbers, others, 0);
		sort_by_byte(others, numbers, 8);
		sort_by_byte(numbers, others, 16);
		sort_by_byte(others, numbers, 24);
		for (uint32_t k = 1; k < NUMBERS; k++)
			if (numbers[k - 1] > numbers[k])
				return 1;
		sum = mix(sum + numbers[NUMBERS / 2]);
	}
	return tell("sort", arrays, sum);
}
