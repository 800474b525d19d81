/* hashchain.c - clean: a chain of hashes, each of the one before, as for proofs of time.
 *
 * Nothing is planted: compress_block() is SHA-256 as its standard writes it, in registers, with
 * branches that are always foreseen, and the next link needs the one before.  It does all of the
 * work: the only honest place is its own. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LINKS = 11000000 };

static uint32_t constants[64];

static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
	0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

/* The first 32 bits of the fractions of the cube roots of the first 64 primes: the root of
 * prime * 2^96, bit by bit. */
static void make_constants(void)
{
	int known = 0;

	for (uint32_t prime = 2; known < 64; prime++) {
		unsigned __int128 root = 0;
		int is_prime = 1;

		for (uint32_t d = 2; d * d <= prime; d++)
			is_prime &= prime % d != 0;
		if (!is_prime)
			continue;
		for (int bit = 34; bit >= 0; bit--) {
			unsigned __int128 next = root | (unsigned __int128)1 << bit;

			if (next * next * next <= (unsigned __int128)prime << 96)
				root = next;
		}
		constants[known++] = (uint32_t)root;
	}
}

#define ROTATED(x, by) ((x) >> (by) | (x) << (32 - (by)))

__attribute__((noinline)) static void compress_block(uint32_t state[8], const uint32_t block[16])
{
	uint32_t w[64], s[8];

	memcpy(w, block, 16 * sizeof(*w));
	for (int i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + w[i - 7] + (ROTATED(a, 7) ^ ROTATED(a, 18) ^ a >> 3) +
		       (ROTATED(b, 17) ^ ROTATED(b, 19) ^ b >> 10);
	}
	memcpy(s, state, sizeof(s));
	for (int i = 0; i < 64; i++) {
		uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
		uint32_t most = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
		uint32_t one = s[7] + (ROTATED(s[4], 6) ^ ROTATED(s[4], 11) ^ ROTATED(s[4], 25)) +
			       choice + constants[i] + w[i];
		uint32_t two = (ROTATED(s[0], 2) ^ ROTATED(s[0], 13) ^ ROTATED(s[0], 22)) + most;

		s[7] = s[6];
		s[6] = s[5];
		s[5] = s[4];
		s[4] = s[3] + one;
		s[3] = s[2];
		s[2] = s[1];
		s[1] = s[0];
		s[0] = one + two;
	}
	for (int i = 0; i < 8; i++)
		state[i] += s[i];
}

/* The next link: the hash of a link's 32 bytes. */
static void hash_link(uint32_t link[8])
{
	uint32_t block[16] = {0}, state[8];

	memcpy(block, link, 8 * sizeof(*link));
	block[8] = 0x80000000;
	block[15] = 256;
	memcpy(state, start, sizeof(state));
	compress_block(state, block);
	memcpy(link, state, sizeof(state));
}

int main(void)
{
	uint32_t link[8] = {0};

	make_constants();
	for (int i = 0; i < LINKS; i++)
		hash_link(link);
	printf("%d links, ", LINKS);
	for (int i = 0; i < 8; i++)
		printf("%08x", link[i]);
	printf("\n");
	return 0;
}
