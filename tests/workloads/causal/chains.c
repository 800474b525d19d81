/* chains.c - programs that say nothing about their progress, whose stacks show where it is.
 *
 *     chains SHAPE SECONDS [tell]      tell: it does say something (assay.h)
 *
 * Work is counted in iterations, never in time; one unit is about 0.1 ms.  Prints the rounds made.
 *
 *     calls   round() calls parse() and render(), which call leaf() and others: neither is hot
 *             itself, with what they call they are 42 and 58 % of the time
 *     loop    one function that calls nobody: a loop of 10 units in a loop
 *     often   the same, and what is called in the inner loop is called millions of times a second
 *     ticks   heavy() and tick() in turn, 100,000 times a second: heavy() is 84 % of the time */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "assay.h"

enum { UNIT = 60000 };

static unsigned long rounds;
static int tells;
static double end_s;

static inline __attribute__((always_inline)) double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

#define STEP(x) ((x)*6364136223846793005UL + 1442695040888963407UL)
#define KEEP(x) __asm__ volatile("" : "+r"(x))

/* What follows a call keeps it from becoming a jump: the caller stays on the stack. */
#define STAY __asm__ volatile("")

__attribute__((noinline)) static void leaf(unsigned long count)
{
	unsigned long x = count;

	while (count--)
		x = STEP(x);
	KEEP(x);
}

__attribute__((noinline)) static void scan(unsigned long count)
{
	leaf(count / 2);
	leaf(count - count / 2);
	STAY;
}

/* Goes down to the bottom before it works. */
__attribute__((noinline)) static void descend(unsigned depth, unsigned long count)
{
	if (depth)
		descend(depth - 1, count);
	else
		leaf(count);
	STAY;
}

__attribute__((noinline)) static void parse(void)
{
	scan(12 * UNIT);
	leaf(18 * UNIT);
	descend(12, 12 * UNIT);
	STAY;
}

__attribute__((noinline)) static void render(void)
{
	scan(28 * UNIT);
	leaf(30 * UNIT);
	STAY;
}

__attribute__((noinline)) static void round_do(void)
{
	parse();
	render();
	STAY;
}

__attribute__((noinline)) static void calls(void)
{
	for (; now_s() < end_s; rounds++) {
		round_do();
		if (tells)
			ASSAY_PROGRESS_NAMED("round");
	}
}

__attribute__((noinline)) static void loop(void)
{
	for (; now_s() < end_s; rounds++) {
		unsigned long x = rounds;

		for (unsigned i = 0; i < 10 * UNIT; i++)
			x = STEP(x);
		KEEP(x);
	}
}

__attribute__((noinline)) static unsigned long small(unsigned long x)
{
	KEEP(x);
	return STEP(x);
}

__attribute__((noinline)) static void often(void)
{
	for (; now_s() < end_s; rounds++) {
		unsigned long x = rounds;

		for (unsigned i = 0; i < 10 * UNIT; i++)
			x = small(x);
		KEEP(x);
	}
}

__attribute__((noinline)) static void heavy(void)
{
	leaf(UNIT / 100 * 84 / 10);
	STAY;
}

__attribute__((noinline)) static void tick(void)
{
	leaf(UNIT / 100 * 16 / 10);
	STAY;
}

__attribute__((noinline)) static void ticks(void)
{
	for (; rounds % 1000 || now_s() < end_s; rounds++) {
		heavy();
		tick();
	}
}

int main(int count, char **words)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} shapes[] = {{"calls", calls}, {"loop", loop}, {"often", often}, {"ticks", ticks}};

	if (count < 3)
		return 2;
	tells = count > 3;
	end_s = now_s() + atof(words[2]);
	for (unsigned i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		if (strcmp(shapes[i].name, words[1]) == 0)
			shapes[i].run();
	printf("%lu rounds\n", rounds);
	return rounds ? 0 : 2;
}
