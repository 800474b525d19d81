/* pipeline.c - clean: two threads that hand large batches to each other.
 *
 *     pipeline [BATCHES]
 *
 * Nothing is planted: fill_batch() and fold_batch() have the same work, two buffers let both run all
 * the time, and a batch takes some 4 ms, so that locks, wakes and switches are far below 1 %.  Only
 * both stages together are worth making faster; no explanation of the ledger is true of it. */
#include <pthread.h>

#include "../planted/planted.h"
#include "assay.h"

enum { BATCH = 65536, BUFFERS = 2, STEPS = 40 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint32_t buffers[BUFFERS][BATCH];
static uint64_t batches, filled, folded;

/* The same work for both: some steps for each number of a batch. */
static inline uint32_t stir(uint32_t x)
{
	for (unsigned i = 0; i < STEPS; i++)
		x = x * 1664525u + 1013904223u;
	__asm__ volatile("" : "+r"(x));
	return x;
}

__attribute__((noinline)) static void fill_batch(uint32_t *batch, uint32_t seed)
{
	for (uint32_t i = 0; i < BATCH; i++)
		batch[i] = stir(seed + i);
}

__attribute__((noinline)) static uint64_t fold_batch(const uint32_t *batch)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < BATCH; i++)
		sum += stir(batch[i]);
	return sum;
}

/* Until `*count` has passed `past`. */
static void wait_past(const uint64_t *count, uint64_t past)
{
	pthread_mutex_lock(&mutex);
	while (*count <= past)
		pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void count_up(uint64_t *count)
{
	pthread_mutex_lock(&mutex);
	++*count;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&mutex);
}

static void *filler(void *unused)
{
	for (uint64_t i = 0; i < batches; i++) {
		if (i >= BUFFERS)
			wait_past(&folded, i - BUFFERS);
		fill_batch(buffers[i % BUFFERS], (uint32_t)i);
		count_up(&filled);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	uint64_t sum = 0;

	batches = count_of(argc, argv, 550);
	pthread_create(&thread, NULL, filler, NULL);
	for (uint64_t i = 0; i < batches; i++) {
		wait_past(&filled, i);
		sum += fold_batch(buffers[i % BUFFERS]);
		count_up(&folded);
		ASSAY_PROGRESS_NAMED("batch");
	}
	pthread_join(thread, NULL);
	return tell("pipeline", batches, sum);
}
