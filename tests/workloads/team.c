/* team.c - a fixed number of steps, shared by T threads.  `team free T`: nobody waits for anybody;
 * `team lock T`: every step holds one lock.  Without T, TEAM_THREADS says it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 40000, COUNTS = 1000, THREADS_MOST = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long threads = 1;
static int locked;

static void step(void)
{
	for (volatile int i = 0; i < COUNTS; i++)
		;
}

static void *work(void *unused)
{
	for (unsigned long i = 0; i < STEPS / threads; i++) {
		if (locked)
			pthread_mutex_lock(&lock);
		step();
		if (locked)
			pthread_mutex_unlock(&lock);
	}
	return unused;
}

int main(int argc, char **argv)
{
	const char *count = argc > 2 ? argv[2] : getenv("TEAM_THREADS");
	pthread_t team[THREADS_MOST];

	locked = argc > 1 && !strcmp(argv[1], "lock");
	threads = count ? strtoul(count, NULL, 10) : 1;
	if (threads < 1 || threads > THREADS_MOST) {
		fputs("usage: team free|lock 1..64\n", stderr);
		return 2;
	}
	for (unsigned long i = 0; i < threads; i++)
		if (pthread_create(&team[i], NULL, work, NULL))
			return 1;
	for (unsigned long i = 0; i < threads; i++)
		pthread_join(team[i], NULL);
	return 0;
}
