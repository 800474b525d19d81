/* digests.c - clean: six checksums of the same blocks, as a tool for downloads prints them.
 *
 * Nothing is planted: each of the six functions has one multiplication and one other operation for
 * a byte, each waiting for the one before, so that all take the same time.  No place is first; one
 * of the six is worth a sixth.  Right: nothing stands out. */
#include <stdint.h>
#include <stdio.h>

enum { BLOCK = 65536, BLOCKS = 6000 };

struct digests {
	uint64_t fnv1, fnv1a, polynomial, difference, knuth, folded;
};

static void fill(uint8_t *block, uint32_t number)
{
	for (uint32_t i = number % 64; i < BLOCK; i += 64)
		block[i] = (uint8_t)(block[i] * 5 + number);
}

__attribute__((noinline)) static uint64_t add_fnv1(uint64_t hash, const uint8_t *block)
{
	for (int i = 0; i < BLOCK; i++)
		hash = hash * 1099511628211u ^ block[i];
	return hash;
}

__attribute__((noinline)) static uint64_t add_fnv1a(uint64_t hash, const uint8_t *block)
{
	for (int i = 0; i < BLOCK; i++)
		hash = (hash ^ block[i]) * 1099511628211u;
	return hash;
}

__attribute__((noinline)) static uint64_t add_polynomial(uint64_t hash, const uint8_t *block)
{
	for (int i = 0; i < BLOCK; i++)
		hash = hash * 6364136223846793005u + block[i];
	return hash;
}

__attribute__((noinline)) static uint64_t add_difference(uint64_t hash, const uint8_t *block)
{
	for (int i = 0; i < BLOCK; i++)
		hash = (hash - block[i]) * 3935559000370003845u;
	return hash;
}

__attribute__((noinline)) static uint64_t add_knuth(uint64_t hash, const uint8_t *block)
{
	for (int i = BLOCK; i-- > 0;)
		hash = (hash + block[i]) * 2862933555777941757u;
	return hash;
}

__attribute__((noinline)) static uint64_t add_folded(uint64_t hash, const uint8_t *block)
{
	for (int i = BLOCK; i-- > 0;)
		hash = hash * 11400714819323198485u ^ block[i];
	return hash;
}

static void add_block(struct digests *digests, const uint8_t *block)
{
	digests->fnv1 = add_fnv1(digests->fnv1, block);
	digests->fnv1a = add_fnv1a(digests->fnv1a, block);
	digests->polynomial = add_polynomial(digests->polynomial, block);
	digests->difference = add_difference(digests->difference, block);
	digests->knuth = add_knuth(digests->knuth, block);
	digests->folded = add_folded(digests->folded, block);
}

static void print_digest(const char *name, uint64_t digest)
{
	printf("%-10s %016llx\n", name, (unsigned long long)digest);
}

int main(void)
{
	static uint8_t block[BLOCK];
	struct digests digests = {1, 2, 3, 4, 5, 6};

	for (uint32_t i = 0; i < BLOCKS; i++) {
		fill(block, i);
		add_block(&digests, block);
	}
	print_digest("fnv1", digests.fnv1);
	print_digest("fnv1a", digests.fnv1a);
	print_digest("polynomial", digests.polynomial);
	print_digest("difference", digests.difference);
	print_digest("knuth", digests.knuth);
	print_digest("folded", digests.folded);
	return 0;
}
