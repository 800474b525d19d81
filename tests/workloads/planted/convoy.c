/* convoy.c - a lock convoy: four threads queue for one mutex.
 *
 *     convoy [SECTIONS]           of each thread
 *
 * Planted: update_shared() holds the mutex for 2 units of work, and 1 unit is done outside, so four
 * threads want 4 x 2 units of lock for each 1 + 2 units of their own time.  Nearly every acquisition
 * has to wait, and a wait is about three holds long.
 * First answer: update_shared() [mark: HELD], explained by lock thrash: lock waits are most of the
 * threads' time, nearly all acquisitions are contended, one mutex has all of the waits.  More CPUs
 * would not help; a shorter section or a lock for each part would. */
#include <pthread.h>

#include "assay.h"
#include "planted.h"

enum { THREADS = 4, UNIT = 40000 }; /* steps: about 65 us, more than a wake takes */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t sections, shared_sum;

__attribute__((noinline)) static void update_shared(uint64_t x)
{
	pthread_mutex_lock(&mutex);
	shared_sum += churn_numbers(x, 2 * UNIT); /* HELD: work that does not need the lock */
	pthread_mutex_unlock(&mutex);
}

__attribute__((noinline)) static uint64_t prepare(uint64_t x)
{
	return churn_numbers(x, UNIT);
}

static void *worker(void *first)
{
	uint64_t x = (uint64_t)(uintptr_t)first;

	for (uint64_t i = 0; i < sections; i++) {
		update_shared(prepare(x + i * THREADS));
		ASSAY_PROGRESS_NAMED("section");
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	sections = count_of(argc, argv, 3500);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, worker, (void *)i);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return tell("convoy", sections * THREADS, shared_sum);
}
