/* spawner.c - see spawner.h.
 *
 * vfork() copies no page tables, so starting costs the same however large we are.  posix_spawn()
 * would do the same, but glibc 2.36 leaves signals 32 and 33 ignored in the child, and the target
 * shall start exactly as our caller would have started it.  Requests and results are one packet
 * each, of up to 32 runs: waking the tool after each would double what a short run costs.  The
 * target's pid stands in a shared page, so that passing on a signal needs no answer; the signal
 * stands there too, for a target that is just being started.
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
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/str.h"
#include "footprint.h"
#include "machine_watch.h"
#include "queue_watch.h"

#define PAD_NAME "ASSAY_PAD="
enum { TRIM_BYTES = 1 << 20 };

/* Shared with the spawner. */
struct spawner_page {
	_Atomic pid_t target; /* 0: none runs */
	_Atomic int signal;   /* the last one sent since these runs were asked for; 0: none */
	_Atomic bool ends;    /* with all that the target started */
	char errors[SPAWNER_ERRORS_BYTES + 1];
};

struct spawner {
	pid_t id;
	int socket;
	int errors, output; /* memory files, -1: not kept */
	bool own_group;
	struct spawner_page *page;
};

/* What the spawner itself knows; everything is made before the first target starts. */
struct starter {
	struct spawner_options options;
	struct spawner_page *page;
	struct machine_watch *machine; /* NULL: not watched */
	struct queue_watch queue;      /* with it */
	int errors, output, nowhere;   /* -1: not kept; /dev/null */
	char **environment;	       /* ours, behind it what differs between runs */
	char *pad;
	unsigned own_at; /* index in `environment` of what differs: a command's own, the pad */
};

/* Reap what the target left behind and has ended; true when something still runs. */
static bool leftovers_run(void)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		;
	return pid == 0;
}

/* End what the target left behind: its orphans have come to us, and theirs will.  They are asked as
 * the target was, and have two seconds: a simulator writes its results then. */
static void leftovers_end(const struct spawner_page *page)
{
	enum { ROUNDS = 600, PATIENCE = 400, AGAIN = 50, ROUND_NS = 5000000 };

	for (unsigned round = 0; round < ROUNDS && leftovers_run(); round++) {
		int signal = round < PATIENCE ? atomic_load(&page->signal) : SIGKILL;
		char list[4096], *at = list, *end;
		io_auto int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
		ssize_t got = fd < 0 ? -1 : read(fd, list, sizeof(list) - 1);

		if (got <= 0)
			return;
		list[got] = '\0';
		for (long pid; (pid = strtol(at, &end, 10)) > 0 && *end == ' '; at = end)
			if (signal == SIGKILL || round % AGAIN == 0)
				kill((pid_t)pid, signal);
		nanosleep(&(struct timespec){.tv_nsec = ROUND_NS}, NULL);
	}
}

/* The pid is taken off the page while it is still a zombie's: a signal never hits a stranger that
 * got the number next. */
static void wait_for(struct starter *starter, pid_t pid, struct spawner_result *result)
{
	struct rusage usage;
	siginfo_t info;
	int status;

	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	result->wall_ns = clock_monotonic_ns() - result->start_ns;
	atomic_store(&starter->page->target, 0);
	if (starter->machine)
		queue_watch_end(&starter->queue, pid, result);
	while (wait4(pid, &status, 0, &usage) < 0)
		if (errno != EINTR)
			return;
	result->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	result->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	result->user_ns = clock_timeval_ns(usage.ru_utime);
	result->system_ns = clock_timeval_ns(usage.ru_stime);
	result->max_rss_bytes = (uint64_t)usage.ru_maxrss * 1024;
	result->minor_faults = (uint64_t)usage.ru_minflt;
	result->major_faults = (uint64_t)usage.ru_majflt;
	result->voluntary_switches = (uint64_t)usage.ru_nvcsw;
	result->involuntary_switches = (uint64_t)usage.ru_nivcsw;
}

/* Give fd `to` the file at `path`; only calls that are safe after vfork(). */
static int stream_open(int nowhere, const char *path, int flags, int to)
{
	int fd;

	if (nowhere >= 0 && str_equal(path, "/dev/null"))
		return dup2(nowhere, to);
	fd = open(path, flags, 0666);
	if (fd < 0 || fd == to)
		return fd;
	if (dup2(fd, to) < 0)
		return -1;
	return close(fd);
}

static int target_prepare(const struct starter *starter, const struct spawner_command *command,
	const struct spawner_request *request)
{
	const struct spawner_options *options = &starter->options;
	const char *input = command->input_path ? command->input_path : options->input_path;
	bool kept = starter->output >= 0 && !request->aside;

	if (options->own_group && setpgid(0, 0) < 0)
		return -1;
	if (options->stdout_to_stderr && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return -1;
	if (input && stream_open(starter->nowhere, input, O_RDONLY, STDIN_FILENO) < 0)
		return -1;
	if (kept && dup2(starter->output, STDOUT_FILENO) < 0)
		return -1;
	if (!kept && options->output_path &&
		stream_open(starter->nowhere, options->output_path,
			O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, STDOUT_FILENO) < 0)
		return -1;
	if (starter->errors >= 0)
		return dup2(starter->errors, STDERR_FILENO);
	return options->output_path ? dup2(STDOUT_FILENO, STDERR_FILENO) : 0;
}

/* Start the target; 0 and its pid, or the errno of exec.  The child shares our memory until exec:
 * it changes only `failure`, and a signal handler that runs in it only counts. */
static int target_start(
	const struct starter *starter, const struct spawner_request *request, pid_t *ret_pid)
{
	const struct spawner_command *command = &starter->options.commands[request->command];
	volatile int failure = 0;
	unsigned at = starter->own_at;
	pid_t pid;

	for (char *const *own = command->variables; own && *own; own++)
		starter->environment[at++] = *own;
	starter->environment[at] = request->pad_bytes ? starter->pad : NULL;
	starter->environment[at + 1] = NULL;
	starter->pad[sizeof(PAD_NAME) - 1 + request->pad_bytes] = '\0';
	/* NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork) */
	pid = vfork();
	if (pid == 0) {
		if (target_prepare(starter, command, request) >= 0 &&
			(!command->folder || chdir(command->folder) >= 0))
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

/* The end of what a failed run wrote to stderr; of the others nothing is kept. */
static void errors_keep(const struct starter *starter, bool failed)
{
	struct spawner_page *page = starter->page;
	struct stat now;
	ssize_t got;

	if (starter->errors < 0 || fstat(starter->errors, &now) < 0 || !now.st_size)
		return;
	if (failed) {
		off_t from =
			now.st_size > SPAWNER_ERRORS_BYTES ? now.st_size - SPAWNER_ERRORS_BYTES : 0;

		got = pread(starter->errors, page->errors, SPAWNER_ERRORS_BYTES, from);
		page->errors[got > 0 ? got : 0] = '\0';
	}
	(void)!ftruncate(starter->errors, 0);
}

static void run_once(struct starter *starter, const struct spawner_request *request,
	struct spawner_result *result)
{
	struct spawner_page *page = starter->page;
	pid_t pid = 0;
	int signal;

	if (starter->machine)
		machine_watch_begin(starter->machine);
	*result = (struct spawner_result){.start_ns = clock_monotonic_ns()};
	result->spawn_errno = target_start(starter, request, &pid);
	if (result->spawn_errno)
		return;
	atomic_store(&page->target, pid);
	if (starter->machine)
		queue_watch_begin(&starter->queue);
	signal = atomic_load(&page->signal);
	if (signal)
		kill(starter->options.own_group ? -pid : pid, signal);
	wait_for(starter, pid, result);
	if (starter->machine)
		machine_watch_end(starter->machine, result);
	errors_keep(starter, result->exit_status || result->signal);
	if (atomic_load(&page->ends))
		leftovers_end(page);
	result->leftovers = leftovers_run();
}

static char *variable_text(const struct spawner_variable *variable)
{
	const char *value = strchr(variable->text, '=') + 1;
	int name = (int)(value - variable->text);
	size_t capacity = strlen(variable->text) + 24;
	char *text = mem_new(capacity, 1);

	if (variable->with_pid)
		snprintf(text, capacity, "%.*s%d %s", name, variable->text, (int)getpid(), value);
	else
		snprintf(text, capacity, "%s", variable->text);
	return text;
}

/* Take the place of the variable of the same name, or the next free one. */
static void variable_put(struct starter *starter, const struct spawner_variable *variable)
{
	size_t name = (size_t)(strchr(variable->text, '=') + 1 - variable->text);
	unsigned i = 0;

	while (i < starter->own_at && strncmp(starter->environment[i], variable->text, name) != 0)
		i++;
	starter->own_at += i == starter->own_at;
	starter->environment[i] = variable_text(variable);
}

/* Run them one behind the other; how many were run. */
static uint32_t run_all(struct starter *starter, const struct spawner_request *requests,
	uint32_t count, struct spawner_result *results)
{
	struct rusage own;
	uint32_t done = 0;

	starter->page->errors[0] = '\0';
	while (done < count && (!done || !atomic_load(&starter->page->signal))) {
		const struct spawner_request *request = &requests[done];
		struct spawner_result *result = &results[done++];

		run_once(starter, request, result);
		if (result->spawn_errno ||
			(request->or_stop && (result->exit_status || result->signal)))
			break;
	}
	getrusage(RUSAGE_SELF, &own);
	for (uint32_t i = 0; i < done; i++)
		results[i].rss_floor_bytes = (uint64_t)own.ru_maxrss * 1024;
	return done;
}

/* Whether some command sets the variable of this entry itself; the most that one sets. */
static bool variable_is_set(
	const struct spawner_options *options, const char *entry, size_t *ret_most)
{
	bool found = false;

	for (uint32_t i = 0; i < options->command_count; i++) {
		char *const *own = options->commands[i].variables;
		size_t count = 0;

		for (; own && own[count]; count++) {
			size_t len = strcspn(own[count], "=") + 1;

			found |= strncmp(own[count], entry, len) == 0;
		}
		*ret_most = count > *ret_most ? count : *ret_most;
	}
	return found;
}

/* Our environment with the variables asked for; behind it room for a command's own and the variable
 * that moves the stack. */
static void starter_open(struct starter *starter)
{
	const struct spawner_variable *variables = starter->options.variables;
	size_t count = 0, more = 0, most = 0;

	while (environ[count])
		count++;
	while (variables && variables[more].text)
		more++;
	(void)variable_is_set(&starter->options, "", &most);
	starter->environment = mem_new(count + more + most + 2, sizeof(*starter->environment));
	for (char **entry = environ; *entry; entry++)
		if (!variable_is_set(&starter->options, *entry, &most))
			starter->environment[starter->own_at++] = *entry;
	for (size_t i = 0; i < more; i++)
		variable_put(starter, &variables[i]);
	starter->pad = mem_new(sizeof(PAD_NAME) + SPAWNER_PAD_MAX, 1);
	memset(starter->pad, 'x', sizeof(PAD_NAME) + SPAWNER_PAD_MAX - 1);
	memcpy(starter->pad, PAD_NAME, sizeof(PAD_NAME) - 1);
	starter->nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (starter->options.watch_machine) {
		starter->machine = machine_watch_open(starter->options.throttle_path);
		queue_watch_open(&starter->queue);
	}
}

static _Noreturn void spawner_live(struct starter *starter, int socket)
{
	struct spawner_request requests[SPAWNER_BATCH];
	struct spawner_result results[SPAWNER_BATCH];
	ssize_t got;

	prctl(PR_SET_NAME, "assay-spawner");
	prctl(PR_SET_CHILD_SUBREAPER, 1); /* orphans of the target come to us and are noticed */
	starter_open(starter);
	footprint_shrink();
	while ((got = recv(socket, requests, sizeof(requests), 0)) != 0) {
		uint32_t count;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			break;
		count = run_all(
			starter, requests, (uint32_t)((size_t)got / sizeof(*requests)), results);
		if (send(socket, results, count * sizeof(*results), MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

/* A file in memory that is only ever appended to, so that it can be cut while it is written. */
static int memory_open(bool wanted, const char *name)
{
	int fd = wanted ? memfd_create(name, MFD_CLOEXEC) : -1;

	if (fd >= 0)
		(void)fcntl(fd, F_SETFL, O_APPEND);
	return fd;
}

static int spawner_fork(
	struct spawner *spawner, const struct spawner_options *options, struct err *err)
{
	int sockets[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return err_set(err, ERR_UNAVAILABLE, errno, "cannot talk to the spawner: %s",
			err_words(errno));
	spawner->socket = sockets[0];
	spawner->id = fork();
	if (spawner->id == 0) {
		struct starter starter = {
			.options = *options,
			.page = spawner->page,
			.errors = spawner->errors,
			.output = spawner->output,
		};

		close(sockets[0]);
		spawner_live(&starter, sockets[1]);
	}
	close(sockets[1]);
	if (spawner->id < 0)
		return err_set(err, ERR_UNAVAILABLE, errno, "cannot start a process: %s",
			err_words(errno));
	return 0;
}

int spawner_open(
	const struct spawner_options *options, struct spawner **ret_spawner, struct err *err)
{
	struct spawner *spawner;
	struct spawner_page *page = mmap(
		NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int r;

	if (page == MAP_FAILED)
		return err_set(err, ERR_UNAVAILABLE, errno,
			"cannot share a page with the spawner: %s", err_words(errno));
	spawner = mem_new(1, sizeof(*spawner));
	*spawner = (struct spawner){
		.socket = -1,
		.page = page,
		.own_group = options->own_group,
		.errors = memory_open(options->keep_errors, "assay-stderr"),
		.output = memory_open(options->keep_output, "assay-stdout"),
	};
	r = spawner_fork(spawner, options, err);
	if (r >= 0 && options->keep_output && spawner->output < 0)
		r = err_set(err, ERR_UNAVAILABLE, ENOSYS,
			"cannot create a memory file for the output of the runs");
	if (r < 0) {
		spawner_close(spawner);
		return r;
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

int spawner_start_all(struct spawner *spawner, const struct spawner_request *requests,
	uint32_t count, struct err *err)
{
	size_t size = count * sizeof(*requests);

	atomic_store(&spawner->page->signal, 0);
	if (spawner->output >= 0)
		(void)!ftruncate(spawner->output, 0);
	if (send(spawner->socket, requests, size, MSG_NOSIGNAL) == (ssize_t)size)
		return 0;
	return err_set(err, ERR_TARGET, EPIPE, "the spawner was killed from outside");
}

int spawner_results(
	struct spawner *spawner, struct spawner_result ret_results[SPAWNER_BATCH], struct err *err)
{
	ssize_t got;

	do
		got = recv(spawner->socket, ret_results, SPAWNER_BATCH * sizeof(*ret_results), 0);
	while (got < 0 && errno == EINTR);
	if (got > 0)
		return (int)((size_t)got / sizeof(*ret_results));
	err_set(err, ERR_TARGET, EPIPE, "the spawner was killed from outside");
	err_hint(err, "the target may still be running; look for it with `ps`");
	return -EPIPE;
}

int spawner_start(struct spawner *spawner, const struct spawner_request *request, struct err *err)
{
	return spawner_start_all(spawner, request, 1, err);
}

int spawner_result(struct spawner *spawner, struct spawner_result *ret_result, struct err *err)
{
	struct spawner_result results[SPAWNER_BATCH];
	int r = spawner_results(spawner, results, err);

	if (r < 0)
		return r;
	*ret_result = results[0];
	return 0;
}

const char *spawner_errors(const struct spawner *spawner)
{
	return spawner->page->errors;
}

int spawner_output(const struct spawner *spawner)
{
	return spawner->output;
}

void spawner_trim(const struct spawner *spawner, uint64_t output_bytes)
{
	struct stat now;

	/* A hole before the end: nothing that is written meanwhile is lost. */
	if (spawner->errors >= 0 && fstat(spawner->errors, &now) == 0 &&
		now.st_blocks * 512 > TRIM_BYTES)
		(void)fallocate(spawner->errors, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
			now.st_size - SPAWNER_ERRORS_BYTES);
	if (spawner->output >= 0 && fstat(spawner->output, &now) == 0 && now.st_size > TRIM_BYTES &&
		(uint64_t)now.st_size - TRIM_BYTES > output_bytes)
		(void)!ftruncate(spawner->output, (off_t)output_bytes);
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
	pid_t target;

	atomic_store(&spawner->page->signal, signal);
	target = spawner_target(spawner);
	if (target > 0)
		kill(spawner->own_group ? -target : target, signal);
}

void spawner_end(const struct spawner *spawner, int signal)
{
	atomic_store(&spawner->page->ends, true);
	spawner_signal(spawner, signal);
}

void spawner_close(struct spawner *spawner)
{
	if (!spawner)
		return;
	io_close_pointer(&spawner->socket);
	io_close_pointer(&spawner->errors);
	io_close_pointer(&spawner->output);
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
