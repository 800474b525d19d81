/* spawner.c - see spawner.h.
 *
 * vfork() copies no page tables, so starting costs the same however large we are.  posix_spawn()
 * would do the same, but glibc 2.36 leaves signals 32 and 33 ignored in the child, and the target
 * shall start exactly as our caller would have started it.  Request and result are one packet each;
 * the target's pid stands in a shared page, so that passing on a signal needs no answer.
 * Measured on 2 vCPUs, 300 runs of an empty program: 0.55 ms here, 0.76 ms inside perf stat -r. */
#include "drive/spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "footprint.h"
#include "machine_watch.h"

#define PAD_NAME "ASSAY_PAD="

/* Shared with the spawner. */
struct spawner_page {
	_Atomic pid_t target; /* 0: none runs */
};

struct spawner {
	pid_t id;
	int socket;
	bool own_group;
	struct spawner_page *page;
};

/* What the spawner itself knows; everything is made before the first target starts. */
struct starter {
	struct spawner_options options;
	struct spawner_page *page;
	struct machine_watch *machine; /* NULL: not watched */
	char **environment;	       /* its last entry is the pad */
	char *pad;
	unsigned pad_at; /* index of the pad in `environment` */
};

static uint64_t timeval_ns(struct timeval value)
{
	return (uint64_t)value.tv_sec * 1000000000 + (uint64_t)value.tv_usec * 1000;
}

/* Reap what the target left behind and has ended; true when something still runs. */
static bool leftovers_run(void)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		;
	return pid == 0;
}

/* The pid is taken off the page while it is still a zombie's: a signal never hits a stranger that
 * got the number next. */
static void wait_for(pid_t pid, struct spawner_page *page, struct spawner_result *result)
{
	struct rusage usage;
	siginfo_t info;
	int status;

	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	result->wall_ns = clock_monotonic_ns() - result->start_ns;
	atomic_store(&page->target, 0);
	while (wait4(pid, &status, 0, &usage) < 0)
		if (errno != EINTR)
			return;
	result->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	result->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	result->user_ns = timeval_ns(usage.ru_utime);
	result->system_ns = timeval_ns(usage.ru_stime);
	result->max_rss_bytes = (uint64_t)usage.ru_maxrss * 1024;
	result->minor_faults = (uint64_t)usage.ru_minflt;
	result->major_faults = (uint64_t)usage.ru_majflt;
	result->voluntary_switches = (uint64_t)usage.ru_nvcsw;
	result->involuntary_switches = (uint64_t)usage.ru_nivcsw;
}

/* Give fd `to` the file at `path`; only calls that are safe after vfork(). */
static int stream_open(const char *path, int flags, int to)
{
	int fd = open(path, flags, 0666);

	if (fd < 0 || fd == to)
		return fd;
	if (dup2(fd, to) < 0)
		return -1;
	return close(fd);
}

static int target_prepare(const struct spawner_options *options)
{
	if (options->own_group && setpgid(0, 0) < 0)
		return -1;
	if (options->stdout_to_stderr && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return -1;
	if (options->input_path && stream_open(options->input_path, O_RDONLY, STDIN_FILENO) < 0)
		return -1;
	if (!options->output_path)
		return 0;
	if (stream_open(options->output_path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND,
		    STDOUT_FILENO) < 0)
		return -1;
	return dup2(STDOUT_FILENO, STDERR_FILENO);
}

/* Start the target; 0 and its pid, or the errno of exec.  The child shares our memory until exec:
 * it changes only `failure`, and a signal handler that runs in it only counts. */
static int target_start(
	const struct starter *starter, const struct spawner_request *request, pid_t *ret_pid)
{
	const struct spawner_command *command = &starter->options.commands[request->command];
	volatile int failure = 0;
	pid_t pid;

	starter->environment[starter->pad_at] = request->pad_bytes ? starter->pad : NULL;
	starter->pad[sizeof(PAD_NAME) - 1 + request->pad_bytes] = '\0';
	/* NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork) */
	pid = vfork();
	if (pid == 0) {
		if (target_prepare(&starter->options) >= 0)
			execve(command->path, command->argv, starter->environment);
		failure = errno;
		_exit(127);
	}
	/* NOLINTEND(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork) */
	starter->pad[sizeof(PAD_NAME) - 1 + request->pad_bytes] = 'x';
	if (pid < 0)
		return errno;
	if (failure)
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	*ret_pid = pid;
	return failure;
}

static void run_once(struct starter *starter, const struct spawner_request *request,
	struct spawner_result *result)
{
	pid_t pid = 0;

	if (starter->machine)
		machine_watch_begin(starter->machine);
	*result = (struct spawner_result){.start_ns = clock_monotonic_ns()};
	result->spawn_errno = target_start(starter, request, &pid);
	if (result->spawn_errno)
		return;
	atomic_store(&starter->page->target, pid);
	wait_for(pid, starter->page, result);
	if (starter->machine)
		machine_watch_end(starter->machine, result);
	result->leftovers = leftovers_run();
}

static char *variable_text(const struct spawner_variable *variable)
{
	const char *value = strchr(variable->text, '=') + 1;
	int name = (int)(value - variable->text);
	size_t room = strlen(variable->text) + 24;
	char *text = mem_new(room, 1);

	if (variable->with_pid)
		snprintf(text, room, "%.*s%d %s", name, variable->text, (int)getpid(), value);
	else
		snprintf(text, room, "%s", variable->text);
	return text;
}

/* Take the place of the variable of the same name, or the next free one. */
static void variable_put(struct starter *starter, const struct spawner_variable *variable)
{
	size_t name = (size_t)(strchr(variable->text, '=') + 1 - variable->text);
	unsigned i = 0;

	while (i < starter->pad_at && strncmp(starter->environment[i], variable->text, name) != 0)
		i++;
	starter->pad_at += i == starter->pad_at;
	starter->environment[i] = variable_text(variable);
}

/* Our environment with the variables asked for, and behind it the one that moves the stack. */
static void starter_open(struct starter *starter)
{
	const struct spawner_variable *variables = starter->options.variables;
	unsigned more = 0;

	while (environ[starter->pad_at])
		starter->pad_at++;
	while (variables && variables[more].text)
		more++;
	starter->environment = mem_new(starter->pad_at + more + 2, sizeof(*starter->environment));
	memcpy(starter->environment, environ, starter->pad_at * sizeof(*environ));
	for (unsigned i = 0; i < more; i++)
		variable_put(starter, &variables[i]);
	starter->pad = mem_new(sizeof(PAD_NAME) + SPAWNER_PAD_MAX, 1);
	memset(starter->pad, 'x', sizeof(PAD_NAME) + SPAWNER_PAD_MAX - 1);
	memcpy(starter->pad, PAD_NAME, sizeof(PAD_NAME) - 1);
	if (starter->options.watch_machine)
		starter->machine = machine_watch_open();
}

static _Noreturn void spawner_live(struct starter *starter, int socket)
{
	struct spawner_request request;
	struct spawner_result result;
	struct rusage own;
	ssize_t got;

	prctl(PR_SET_NAME, "assay-spawner");
	prctl(PR_SET_CHILD_SUBREAPER, 1); /* orphans of the target come to us and are noticed */
	starter_open(starter);
	footprint_shrink();
	while ((got = recv(socket, &request, sizeof(request), 0)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			break;
		run_once(starter, &request, &result);
		getrusage(RUSAGE_SELF, &own);
		result.rss_floor_bytes = (uint64_t)own.ru_maxrss * 1024;
		if (send(socket, &result, sizeof(result), MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

int spawner_open(
	const struct spawner_options *options, struct spawner **ret_spawner, struct err *err)
{
	int sockets[2];
	struct spawner *spawner;
	struct spawner_page *page = mmap(
		NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return err_set(err, ERR_UNAVAILABLE, errno,
			"cannot share a page with the spawner: %s", err_words(errno));
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0) {
		err_set(err, ERR_UNAVAILABLE, errno, "cannot talk to the spawner: %s",
			err_words(errno));
		munmap(page, sizeof(*page));
		return -err->code;
	}
	spawner = mem_new(1, sizeof(*spawner));
	*spawner = (struct spawner){
		.socket = sockets[0], .page = page, .own_group = options->own_group};
	spawner->id = fork();
	if (spawner->id == 0) {
		struct starter starter = {.options = *options, .page = page};

		close(sockets[0]);
		spawner_live(&starter, sockets[1]);
	}
	close(sockets[1]);
	if (spawner->id < 0) {
		err_set(err, ERR_UNAVAILABLE, errno, "cannot start a process: %s",
			err_words(errno));
		spawner_close(spawner);
		return -err->code;
	}
	*ret_spawner = spawner;
	return 0;
}

pid_t spawner_id(const struct spawner *spawner)
{
	return spawner->id;
}

int spawner_descriptor(const struct spawner *spawner)
{
	return spawner->socket;
}

int spawner_start(struct spawner *spawner, const struct spawner_request *request, struct err *err)
{
	if (send(spawner->socket, request, sizeof(*request), MSG_NOSIGNAL) == sizeof(*request))
		return 0;
	return err_set(err, ERR_TARGET, EPIPE, "the spawner was killed from outside");
}

int spawner_result(struct spawner *spawner, struct spawner_result *ret_result, struct err *err)
{
	ssize_t got;

	do
		got = recv(spawner->socket, ret_result, sizeof(*ret_result), 0);
	while (got < 0 && errno == EINTR);
	if (got == sizeof(*ret_result))
		return 0;
	err_set(err, ERR_TARGET, EPIPE, "the spawner was killed from outside");
	err_hint(err, "the target may still run; look for it with `ps`");
	return -EPIPE;
}

int spawner_failed(const char *path, int code, struct err *err)
{
	err_set(err, ERR_TARGET, code, "cannot run %s: %s", path,
		code == ENOEXEC ? "it is neither a program for this machine nor a script with a "
				  "#! line"
				: err_words(code));
	if (code == ENOEXEC)
		err_hint(err, "for a script write `-- sh %s`", path);
	else if (code == E2BIG)
		err_hint(err, "its arguments and environment are too long");
	else if (code == ENOENT)
		err_hint(err, "its interpreter or loader is missing: `file %s` names it", path);
	else
		err_hint(err, "check the file with `ls -l %s`", path);
	return -code;
}

pid_t spawner_target(const struct spawner *spawner)
{
	return atomic_load(&spawner->page->target);
}

void spawner_signal(const struct spawner *spawner, int signal)
{
	pid_t target = spawner_target(spawner);

	if (target > 0)
		kill(spawner->own_group ? -target : target, signal);
}

void spawner_close(struct spawner *spawner)
{
	if (!spawner)
		return;
	close(spawner->socket);
	/* It ends by itself now, or after the target when one still runs: not waited for then. */
	if (spawner->id > 0 && atomic_load(&spawner->page->target) == 0)
		waitpid(spawner->id, NULL, 0);
	munmap(spawner->page, sizeof(*spawner->page));
	free(spawner);
}

void spawner_close_pointer(struct spawner **spawner)
{
	spawner_close(*spawner);
	*spawner = NULL;
}
