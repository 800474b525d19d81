/* batch.c - run a program whose threads do not take the CPU from the one that wakes them
 * (SCHED_BATCH):
 *
 *     batch PROGRAM [ARGUMENT...]
 *
 * On one processor a thread that is woken at once runs while its waker, on its way into a wait,
 * stands in the queue; who sees only the waits, as the engine inside the program does, cannot see
 * that. */
#include <sched.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sched_param none = {0};

	if (argc < 2 || sched_setscheduler(0, SCHED_BATCH, &none) < 0)
		return 126;
	execvp(argv[1], argv + 1);
	return 127;
}
