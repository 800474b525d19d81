/* starved.c - a thread that matters, and too many others that want the CPUs.
 *
 *     starved [ITEMS]
 *
 * Planted: serve_item() in the main thread makes all of the progress; three threads for each CPU
 * turn in idle_work() until it is done, and nobody needs what they compute.  The main thread waits
 * for a CPU about twice as long as it has one.
 * First answer: serve_item() [mark: STARVED], CPU starvation: its wait on the run queue is most of its
 * time.  A CPU profile puts idle_work() far in front; making it faster gains nothing, having less of
 * it (or a lower priority) gains a factor of three and more. */
#include <pthread.h>
#include <unistd.h>

#include "assay.h"
#include "planted.h"

enum { UNIT = 60000, HOGS_MAX = 64 }; /* steps: about 0.1 ms */

static int done;

__attribute__((noinline)) static uint64_t idle_work(uint64_t x)
{
	return churn_numbers(x, UNIT);
}

__attribute__((noinline)) static uint64_t serve_item(uint64_t x)
{
	return churn_numbers(x, 2 * UNIT); /* STARVED */
}

static void *hog(void *unused)
{
	uint64_t x = 1;

	while (!__atomic_load_n(&done, __ATOMIC_RELAXED))
		x = idle_work(x);
	return unused;
}

int main(int argc, char **argv)
{
	uint64_t items = count_of(argc, argv, 2600), sum = 0;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned hogs = cpus > 0 && cpus * 3 < HOGS_MAX ? (unsigned)cpus * 3 : HOGS_MAX;
	pthread_t threads[HOGS_MAX];

	for (unsigned i = 0; i < hogs; i++)
		pthread_create(&threads[i], NULL, hog, NULL);
	for (uint64_t i = 0; i < items; i++) {
		sum += serve_item(i);
		ASSAY_PROGRESS_NAMED("item");
	}
	__atomic_store_n(&done, 1, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < hogs; i++)
		pthread_join(threads[i], NULL);
	return tell("starved", items, sum);
}
