/* wrap.c - starts a program by fork and exec and waits for it: a profile must follow.
 * `wrap PROGRAM ARGS...`. */
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int status = 0;
	pid_t child = argc > 1 ? fork() : -1;

	if (child == 0) {
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return 2;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
