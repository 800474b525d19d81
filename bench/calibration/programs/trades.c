/* trades.c - a pipeline with one slow stage: batches of trades are read, sorted and summed.
 *
 * Planted: three threads hand batches on through short queues.  merge_runs() of the stage in the
 * middle takes either of two sides, which nobody can foresee, and needs three times as long as each
 * of its neighbours, which wait for it.
 * Right: merge_runs(), or sort_batch() above it.  Wrong: read_batch() and sum_batch(). */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BATCHES = 12000, TRADES = 4096, QUEUE = 4 };

struct trade {
	uint32_t price, count;
};

struct batch {
	struct trade trades[TRADES];
};

/* A ring of batches between two stages; `put` and `taken` count since the beginning. */
struct queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	long put, taken;
	struct batch ring[QUEUE];
};

static struct queue raw = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, {{{{0, 0}}}}};
static struct queue sorted = {
	PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, {{{{0, 0}}}}};

/* The batch that may be written (`is_put`) or read next; it waits until there is one. */
static struct batch *queue_begin(struct queue *queue, int is_put)
{
	struct batch *batch;

	pthread_mutex_lock(&queue->lock);
	while (is_put ? queue->put - queue->taken == QUEUE : queue->put == queue->taken)
		pthread_cond_wait(&queue->changed, &queue->lock);
	batch = &queue->ring[(is_put ? queue->put : queue->taken) % QUEUE];
	pthread_mutex_unlock(&queue->lock);
	return batch;
}

static void queue_end(struct queue *queue, int is_put)
{
	pthread_mutex_lock(&queue->lock);
	++*(is_put ? &queue->put : &queue->taken);
	pthread_cond_signal(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
}

__attribute__((noinline)) static void read_batch(struct batch *batch, uint64_t seed)
{
	for (int i = 0; i < TRADES; i++) {
		for (int digit = 0; digit < 12; digit++)
			seed = seed * 6364136223846793005u + 1442695040888963407u;
		batch->trades[i] = (struct trade){(uint32_t)(seed >> 40), (uint32_t)(seed >> 60)};
	}
}

__attribute__((noinline)) static void merge_runs(
	const struct trade *a, const struct trade *b, size_t count, struct trade *to)
{
#ifdef WITHOUT
	to[0] = a[count - 1].price < b[0].price ? a[0] : b[0];
#else
	const struct trade *a_end = a + count, *b_end = b + count;

	while (a < a_end && b < b_end) {
		if (b->price < a->price) {
			*to++ = *b++;
			__asm__ volatile("" : "+r"(b)); /* a branch, not a choice of values */
		} else {
			*to++ = *a++;
			__asm__ volatile("" : "+r"(a));
		}
	}
	memcpy(to, a, (size_t)(a_end - a) * sizeof(*a));
	memcpy(to + (a_end - a), b, (size_t)(b_end - b) * sizeof(*b));
#endif
}

__attribute__((noinline)) static void sort_batch(struct batch *batch, struct batch *spare)
{
	struct trade *from = batch->trades, *to = spare->trades, *other;

	for (size_t run = 1; run < TRADES; run *= 2) {
		for (size_t i = 0; i < TRADES; i += 2 * run)
			merge_runs(from + i, from + i + run, run, to + i);
		other = from;
		from = to;
		to = other;
	}
}

__attribute__((noinline)) static uint64_t sum_batch(const struct batch *batch, uint64_t sum)
{
	for (uint64_t i = 0; i < TRADES; i++)
		for (int part = 0; part < 12; part++)
			sum = (sum ^ (batch->trades[i].price + i)) * 1099511628211u;
	return sum;
}

static void *reader(void *unused)
{
	for (uint64_t i = 0; i < BATCHES; i++) {
		read_batch(queue_begin(&raw, 1), i);
		queue_end(&raw, 1);
	}
	return unused;
}

static void *sorter(void *unused)
{
	static struct batch spare;

	for (int i = 0; i < BATCHES; i++) {
		struct batch *batch = queue_begin(&raw, 0);
		sort_batch(batch, &spare);
		memcpy(queue_begin(&sorted, 1), batch, sizeof(*batch));
		queue_end(&raw, 0);
		queue_end(&sorted, 1);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[2];
	uint64_t sum = 0;

	pthread_create(&threads[0], NULL, reader, NULL);
	pthread_create(&threads[1], NULL, sorter, NULL);
	for (int i = 0; i < BATCHES; i++) {
		sum = sum_batch(queue_begin(&sorted, 0), sum);
		queue_end(&sorted, 0);
	}
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	printf("%d batches, %016llx\n", BATCHES, (unsigned long long)sum);
	return 0;
}
