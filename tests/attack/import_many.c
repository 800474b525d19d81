/* import_many.c - `assay import` again and again, without the start of a program each time: under
 * the sanitizers that start takes longer than most imports.
 *
 * A line of stdin is a folder, a tab and a file to import there.  A child does it: its words are in
 * `out` and `err` of that folder, the run file in x.assay.  The line of stdout is its wait status,
 * its peak memory in KiB and its CPU time in microseconds. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LINE_MOST = 8192, NOT_STARTED = 99 };

int assay_main(int argc, char **argv); /* main() of src/cli/main.c: -Dmain=assay_main */
#undef main
int main(int argc, char **argv);

static void import(const char *folder, char *file)
{
	char assay[] = "assay", import[] = "import", option[] = "-o", out[] = "x.assay";
	char *words[] = {assay, import, file, option, out, NULL};
#ifndef __SANITIZE_ADDRESS__ /* which takes terabytes of addresses */
	const struct rlimit memory = {8UL << 30, 8UL << 30};

	if (setrlimit(RLIMIT_AS, &memory) < 0)
		_exit(NOT_STARTED);
#endif
	if (chdir(folder) < 0 || !freopen("/dev/null", "r", stdin) ||
		!freopen("out", "w", stdout) || !freopen("err", "w", stderr))
		_exit(NOT_STARTED);
	exit(assay_main(5, words));
}

/* Ends it after `seconds` of real time: a read that waits takes no CPU time. */
static int child_wait(pid_t pid, const sigset_t *ended, time_t seconds, struct rusage *ret_usage)
{
	const struct timespec limit = {.tv_sec = seconds}, none = {0};
	int status = 0;

	if (sigtimedwait(ended, NULL, &limit) < 0)
		kill(pid, SIGKILL);
	if (wait4(pid, &status, 0, ret_usage) < 0)
		status = -1;
	(void)sigtimedwait(ended, NULL, &none); /* of one that was killed: not the next one's */
	return status;
}

int main(int argc, char **argv)
{
	static char line[LINE_MOST];
	time_t seconds = argc > 1 ? atoi(argv[1]) : 20;
	sigset_t ended;

	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ended, NULL);
	while (fgets(line, sizeof(line), stdin)) {
		char *file = strchr(line, '\t');
		struct rusage used = {0};
		int status;
		pid_t pid;

		line[strcspn(line, "\n")] = '\0';
		if (!file)
			return 2;
		*file++ = '\0';
		fflush(stdout);
		pid = fork();
		if (pid == 0) {
			sigprocmask(SIG_UNBLOCK, &ended, NULL);
			import(line, file);
		}
		if (pid < 0)
			return 1;
		status = child_wait(pid, &ended, seconds, &used);
		printf("%d %ld %lld\n", status, used.ru_maxrss,
			1000000LL * (used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
				used.ru_utime.tv_usec + used.ru_stime.tv_usec);
		fflush(stdout);
	}
	return 0;
}
