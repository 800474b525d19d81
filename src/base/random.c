/* random.c - see random.h.
 *
 * libc's generators differ between systems and share one state; a resampling whose seed is stored
 * in a run has to give the same interval wherever the run is opened. */
#include "base/random.h"

static uint64_t rotate_left(uint64_t x, int bits)
{
	return (x << bits) | (x >> (64 - bits));
}

void random_seed(struct random *random, uint64_t seed)
{
	for (int i = 0; i < 4; i++) { /* splitmix64 */
		uint64_t z = seed += 0x9e3779b97f4a7c15U;

		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
		z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
		random->state[i] = z ^ (z >> 31);
	}
}

uint64_t random_next(struct random *random)
{
	uint64_t *s = random->state, result = rotate_left(s[1] * 5, 7) * 9, kept = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= kept;
	s[3] = rotate_left(s[3], 45);
	return result;
}

double random_share(struct random *random)
{
	return (double)(random_next(random) >> 11) * 0x1p-53;
}

uint64_t random_below(struct random *random, uint64_t limit)
{
	unsigned __int128 product;

	if (!limit)
		return 0;
	/* The high half of a product is the answer; a low half below 2^64 % limit is one of the few
	 * that would come once too often, and is drawn again (Lemire 2019). */
	do
		product = (unsigned __int128)random_next(random) * limit;
	while ((uint64_t)product < -limit % limit);
	return (uint64_t)(product >> 64);
}
