/* arithmetic.c - clean: a tight kernel that keeps the arithmetic units busy.
 *
 *     arithmetic [STEPS]
 *
 * Nothing is planted: eight independent rows of numbers in registers, predictable branches, no memory,
 * no calls, one thread.  advance() has all of the time because it does all of the work; no explanation
 * of the ledger is true of it. */
#include "../planted/planted.h"

__attribute__((noinline)) static uint64_t advance(uint64_t steps)
{
	uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8;

	while (steps--) {
		a = mix(a);
		b = mix(b);
		c = mix(c);
		d = mix(d);
		e += a >> 3;
		f ^= b << 1;
		g += c ^ e;
		h ^= d + f;
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
	}
	return e ^ f ^ g ^ h;
}

int main(int argc, char **argv)
{
	uint64_t steps = count_of(argc, argv, 1000000000);

	return tell("arithmetic", steps, advance(steps));
}
