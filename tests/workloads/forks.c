/* forks.c - starts N children one after the other, each of which touches one fresh page; then, with
 * a second argument, ends by that signal.  `forks N [SIGNAL]`. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long children = argc > 1 ? atol(argv[1]) : 1;

	for (long i = 0; i < children; i++) {
		pid_t child = fork();

		if (child < 0)
			return 2;
		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
	}
	if (argc > 2)
		raise(atoi(argv[2]));
	return 0;
}
