/* mispredict.c - branches that nobody can foresee.
 *
 *     mispredict [NUMBERS]
 *
 * Planted: classify() takes one of two ways for each number, by a bit without an order, so half of
 * its branches are mispredicted.  The numbers are computed on the way: there is no memory to wait
 * for, and a predictor has nothing to learn.
 * First answer: classify() [mark: COIN], bad speculation.  Arithmetic without a branch would help. */
#include "planted.h"

__attribute__((noinline)) static uint64_t classify(uint64_t count)
{
	uint64_t x = 88172645463325252u, odd = 0, even = 0;

	while (count--) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		if (x & 64) { /* COIN; the asm keeps it a branch */
			odd += x >> 3;
			__asm__ volatile("" : "+r"(odd));
		} else {
			even ^= x;
			__asm__ volatile("" : "+r"(even));
		}
	}
	return odd ^ even;
}

int main(int argc, char **argv)
{
	uint64_t count = count_of(argc, argv, 250000000);

	return tell("mispredict", count, classify(count));
}
