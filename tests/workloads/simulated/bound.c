/* bound.c - programs whose bottleneck is known, for the simulator's verdicts.
 *
 *     bound chase|stream|sum|copy|triad|gather|branches|targets|chain|multiply|divide|code|mixed
 *           [MIB|KIBK]
 *
 * Work is counted in iterations.  chase: dependent loads in random order over MIB of memory (64),
 * each of which misses every cache that is smaller (16K: none).  stream: the same memory one line
 * after the other, which a prefetcher follows.  sum, copy, triad: every word of one, two and three
 * such arrays, in the plainest loop.  branches: a branch on a random bit.  targets: the same, to
 * one of two functions. gather: loads in random order that do not wait for each other.  chain:
 * multiplications and additions that each wait for the one before; multiply, divide: integers.
 * code: 1 MiB of blocks that jump to each other in an order that no prefetcher follows.  mixed:
 * chase and branches, about half of the time each. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LINE = 64, WORDS = LINE / sizeof(uint64_t) };

struct memory {
	uint64_t *words;
	size_t lines; /* a power of two */
};

/* Word 0 of each line holds the next line of one ring through all of them: the multiplier is 1
 * modulo 4 and the addend odd.  Writing it in order costs little. */
__attribute__((noinline)) static void build_ring(struct memory m)
{
	for (size_t i = 0; i < m.lines; i++)
		m.words[i * WORDS] = (i * 1103515245 + 12345) & (m.lines - 1);
}

__attribute__((noinline)) static uint64_t run_chase(struct memory m, uint64_t steps)
{
	uint64_t at = 0;

	for (uint64_t i = 0; i < steps; i++)
		at = m.words[at * WORDS];
	return at;
}

__attribute__((noinline)) static uint64_t run_stream(struct memory m, uint64_t rounds)
{
	uint64_t sum = 0;

	for (uint64_t round = 0; round < rounds; round++)
		for (size_t i = 0; i < m.lines; i++)
			sum += m.words[i * WORDS];
	return sum;
}

__attribute__((noinline)) static uint64_t run_sum(struct memory m)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < m.lines * WORDS; i++)
		sum += m.words[i];
	return sum;
}

/* A call of memcpy() once it is compiled. */
__attribute__((noinline)) static void run_copy(
	uint64_t *restrict to, const uint64_t *restrict from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] = from[i];
}

__attribute__((noinline)) static void run_triad(
	uint64_t *to, const uint64_t *a, const uint64_t *b, size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] = a[i] + 3 * b[i];
}

__attribute__((noinline)) static uint64_t run_branches(uint64_t steps)
{
	uint64_t state = 88172645463325252u, taken = 0;

	for (uint64_t i = 0; i < steps; i += 32) {
		uint64_t bits;

		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		bits = state;
		for (unsigned k = 0; k < 32; k++, bits >>= 1)
			if (bits & 1) /* the empty assembly keeps this a branch */
				__asm__ volatile("" : "+r"(taken));
			else
				__asm__ volatile("" : "+r"(bits));
	}
	return taken;
}

static uint64_t target_sum;

__attribute__((noinline)) static void hit(uint64_t value)
{
	target_sum += 3 * value;
}

__attribute__((noinline)) static void miss(uint64_t value)
{
	target_sum ^= value + 7;
}

__attribute__((noinline)) static uint64_t run_targets(uint64_t steps)
{
	uint64_t state = 88172645463325252u;

	for (uint64_t i = 0; i < steps; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		if (state & 1)
			hit(state);
		else
			miss(state);
	}
	return target_sum;
}

__attribute__((noinline)) static double run_chain(uint64_t steps)
{
	double value = 1;

	for (uint64_t i = 0; i < steps; i++)
		value = value * 0.999999 + 0.5;
	return value;
}

/* "64": MiB; "256K". */
__attribute__((noinline)) static uint64_t run_multiply(uint64_t steps)
{
	uint64_t value = 3;

	for (uint64_t i = 0; i < steps; i++)
		value = value * value + i;
	return value;
}

__attribute__((noinline)) static uint64_t run_divide(uint64_t steps)
{
	uint64_t value = UINT64_MAX / 3;

	for (uint64_t i = 1; i <= steps; i++)
		value = UINT64_MAX / (value | 1) + (value << 40) + i;
	return value;
}

__attribute__((noinline)) static uint64_t run_gather(struct memory m, uint64_t steps)
{
	uint64_t sum = 0, at = 12345;

	for (uint64_t i = 0; i < steps; i++) {
		at = at * 6364136223846793005u + 1442695040888963407u;
		sum += m.words[(at >> 33 & (m.lines - 1)) * WORDS];
	}
	return sum;
}

/* 16,384 blocks of a line each; the last of a round is number 13863, which jumps to 0. */
__attribute__((noinline)) static void run_code(uint64_t rounds)
{
#if defined(__x86_64__)
#define JUMP "jmp "
#define AGAIN "dec %0; jnz 7b"
#elif defined(__aarch64__)
#define JUMP "b "
#define AGAIN "subs %0, %0, #1; b.ne 7b"
#endif
	__asm__ volatile("7: " JUMP "5f\n"
			 ".balign 64\n5:\n"
			 ".set block, 0\n"
			 ".rept 16384\n"
			 ".balign 64\n"
			 ".if block == 13863\n" JUMP "6f\n"
			 ".else\n" JUMP "5b + ((block * 13 + 5) %% 16384) * 64\n"
			 ".endif\n"
			 ".set block, block + 1\n"
			 ".endr\n"
			 ".balign 64\n6: " AGAIN
			 : "+r"(rounds)
			 :
			 : "cc");
}

static struct memory memory_of(const char *size)
{
	char *end;
	size_t number = strtoul(size, &end, 10);
	struct memory m = {.lines = (number << (*end == 'K' ? 10 : 20)) / LINE};

	m.words = mmap(
		NULL, m.lines * LINE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!m.lines || (m.lines & (m.lines - 1)) || m.words == MAP_FAILED)
		exit(2);
	build_ring(m);
	return m;
}

/* The plain loops; so many rounds that their work does not depend on the memory's size. */
static uint64_t run_words(const char *what, const char *mib)
{
	bool sums = strcmp(what, "sum") == 0, copies = strcmp(what, "copy") == 0;
	struct memory a = memory_of(mib), to = sums ? a : memory_of(mib);
	struct memory b = sums || copies ? a : memory_of(mib);
	size_t count = a.lines * WORDS, rounds = ((size_t)3 << 25) / count;
	uint64_t sum = 0;

	for (size_t round = 0; round < rounds; round++)
		if (sums)
			sum += run_sum(a);
		else if (copies)
			run_copy(to.words, a.words, count);
		else
			run_triad(to.words, a.words, b.words, count);
	return sum + to.words[count / 2];
}

/* More steps where each takes less, so that there are samples. */
static void run_sized_chase(const char *size)
{
	struct memory m = memory_of(size);
	uint64_t steps = m.lines < 1 << 14 ? 30000000 : m.lines < 1 << 19 ? 6000000 : 1500000;

	printf("%llu\n", (unsigned long long)run_chase(m, steps));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *mib = argc > 2 ? argv[2] : "64";

	if (strcmp(what, "chase") == 0)
		run_sized_chase(mib);
	else if (strcmp(what, "stream") == 0)
		printf("%llu\n", (unsigned long long)run_stream(memory_of(mib), 25));
	else if (strcmp(what, "sum") == 0 || strcmp(what, "copy") == 0 ||
		 strcmp(what, "triad") == 0)
		printf("%llu\n", (unsigned long long)run_words(what, mib));
	else if (strcmp(what, "branches") == 0)
		printf("%llu\n", (unsigned long long)run_branches(16000000));
	else if (strcmp(what, "targets") == 0)
		printf("%llu\n", (unsigned long long)run_targets(30000000));
	else if (strcmp(what, "gather") == 0)
		printf("%llu\n", (unsigned long long)run_gather(memory_of(mib), 8000000));
	else if (strcmp(what, "multiply") == 0)
		printf("%llu\n", (unsigned long long)run_multiply(100000000));
	else if (strcmp(what, "divide") == 0)
		printf("%llu\n", (unsigned long long)run_divide(20000000));
	else if (strcmp(what, "code") == 0)
		run_code(3000);
	else if (strcmp(what, "chain") == 0)
		printf("%g\n", run_chain(30000000));
	else if (strcmp(what, "mixed") == 0)
		printf("%llu\n", (unsigned long long)run_chase(memory_of(mib), 480000) +
					 run_branches(30000000));
	else
		return 2;
	return 0;
}
