/* probe_child.c - one short-lived child for the probes that need a program.
 *
 * A pipe from its stdout doubles as the sign of its end.  Two seconds is far beyond what
 * `true` or `valgrind --version` need; whoever takes longer is killed and reported. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "base/vec.h"
#include "probe_room.h"

enum { CHILD_MS = 2000 };

struct environment {
	vec_of(char *) at;
};

static bool same_variable(const char *a, const char *b)
{
	size_t len = strcspn(a, "=");

	return strncmp(a, b, len) == 0 && b[len] == '=';
}

static void environment_make(struct environment *made, char *const extra[])
{
	for (char **variable = environ; *variable; variable++) {
		bool replaced = false;

		for (char *const *one = extra; one && *one; one++)
			replaced |= same_variable(*one, *variable);
		if (!replaced)
			vec_push(&made->at, *variable);
	}
	for (char *const *one = extra; one && *one; one++)
		vec_push(&made->at, *one);
	vec_push(&made->at, NULL);
}

static int child_spawn(char *const argv[], char *const extra[], int stdout_fd, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	struct environment made = {0};
	int code;

	environment_make(&made, extra);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, stdout_fd, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	code = posix_spawnp(ret_pid, argv[0], &actions, NULL, argv, made.at.at);
	posix_spawn_file_actions_destroy(&actions);
	vec_done(&made.at);
	return -code;
}

static int64_t now_ms(void)
{
	return (int64_t)(clock_monotonic_ns() / 1000000);
}

/* Read until the child closes its stdout; false when its time is over. */
static bool child_listen(int fd, char *output, size_t room)
{
	int64_t end = now_ms() + CHILD_MS;
	size_t used = 0;
	char spill[256];

	for (;;) {
		struct pollfd watch = {.fd = fd, .events = POLLIN};
		int64_t left = end - now_ms();
		bool full = used + 1 >= room;
		ssize_t got;

		if (left <= 0 || poll(&watch, 1, (int)left) == 0)
			return false;
		got = read(
			fd, full ? spill : output + used, full ? sizeof(spill) : room - 1 - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return true;
		if (!full)
			used += (size_t)got;
		output[used] = '\0';
	}
}

int child_run(char *const argv[], char *const extra[], char *output, size_t room)
{
	int ends[2], status = 0, r;
	bool in_time;
	pid_t pid;

	output[0] = '\0';
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	r = child_spawn(argv, extra, ends[1], &pid);
	close(ends[1]);
	if (r < 0) {
		close(ends[0]);
		return r;
	}
	in_time = child_listen(ends[0], output, room);
	close(ends[0]);
	if (!in_time)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (!in_time)
		return -ETIMEDOUT;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
