/* image_ask.c - debuginfod, asked through its own program and never for longer than 10 s.
 *
 * debuginfod-find knows the servers, the cache and the proxies of the user; running it keeps curl
 * and the network out of this program, and a server that hangs is ended with the child. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "image_search.h"

enum { ASK_LIMIT_MS = 10000, PATH_CAPACITY = 4096 };

static int64_t now_ms(void)
{
	return (int64_t)(clock_monotonic_ns() / 1000000);
}

static int ask_start(const char *build_id, int out, pid_t *ret_pid)
{
	char program[] = "debuginfod-find", what[] = "debuginfo", id[IMAGE_BUILD_ID_TEXT];
	char *const argv[] = {program, what, id, NULL};
	posix_spawn_file_actions_t actions;
	int code;

	snprintf(id, sizeof(id), "%s", build_id);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	code = posix_spawnp(ret_pid, program, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return code;
}

/* What the child wrote until it closed its end; false when time ran out. */
static bool answer_read(int in, char *ret_text, size_t capacity)
{
	int64_t end = now_ms() + ASK_LIMIT_MS, left;
	size_t len = 0;

	while ((left = end - now_ms()) > 0) {
		struct pollfd poll_fd = {.fd = in, .events = POLLIN};
		ssize_t got;

		if (poll(&poll_fd, 1, (int)left) <= 0)
			continue;
		got = read(in, ret_text + len, capacity - 1 - len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			ret_text[len] = '\0';
			return true;
		}
		len += (size_t)got;
		if (len == capacity - 1)
			return false;
	}
	return false;
}

const char *image_ask(const char *build_id, struct arena *arena, const char **ret_failure)
{
	char text[PATH_CAPACITY];
	int pipes[2], status = 0;
	pid_t pid;
	bool answered;
	int code;

	if (pipe2(pipes, O_CLOEXEC) < 0)
		return NULL;
	code = ask_start(build_id, pipes[1], &pid);
	close(pipes[1]);
	if (code) {
		close(pipes[0]);
		*ret_failure = "debuginfod-find is not installed (package debuginfod)";
		return NULL;
	}
	answered = answer_read(pipes[0], text, sizeof(text));
	close(pipes[0]);
	if (!answered)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (answered && WIFEXITED(status) && WEXITSTATUS(status) == 0 && *str_trim(text) == '/')
		return arena_format(arena, "%s", str_trim(text));
	*ret_failure = answered ? "debuginfod does not have it (DEBUGINFOD_URLS names the servers)"
				: "debuginfod did not answer within 10 s";
	return NULL;
}
