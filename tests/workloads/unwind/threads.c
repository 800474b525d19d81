/* threads.c - the root of a thread is where clone() began it. */
#include <pthread.h>

#include "witness.h"

static volatile int sum;

static OUT_OF_LINE int work(int n)
{
	return n ? work(n - 1) + 1 : sum++;
}

static void *thread(void *argument)
{
	witness_begin();
	for (int i = 0; i < 20; i++)
		sum = (sum + work(4)) % 1000;
	witness_end();
	return argument;
}

int main(void)
{
	pthread_t id;

	if (pthread_create(&id, NULL, thread, NULL) != 0)
		return 77;
	pthread_join(id, NULL);
	return witness_report(5);
}
