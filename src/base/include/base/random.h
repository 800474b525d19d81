/* random.h - xoshiro256**: the same numbers from the same seed, on every machine.
 *
 * For resampling and simulation, not for secrets.  The generator is Blackman and Vigna's (public
 * domain), seeded by splitmix64 as its authors advise.  Threads: one generator each. */
#pragma once

#include <stdint.h>

struct random {
	uint64_t state[4];
};

/* Any seed will do, 0 too. */
void random_seed(struct random *random, uint64_t seed);

uint64_t random_next(struct random *random);

/* 0 <= x < 1, all 53 bits. */
double random_share(struct random *random);

/* 0 .. limit - 1, each equally likely; 0 when `limit` is 0. */
uint64_t random_below(struct random *random, uint64_t limit);
