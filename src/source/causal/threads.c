/* threads.c - see threads.h. */
#include "threads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/io.h"

enum { STATUS_MAX_BYTES = 1 << 16 };

int threads_list(pid_t pid, thread_vec *ret_threads)
{
	char path[48];
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	folder = opendir(path);
	if (!folder)
		return errno == ENOENT ? -ESRCH : -errno;
	for (struct dirent *entry; (entry = readdir(folder));) {
		pid_t tid = atoi(entry->d_name);

		if (tid > 0)
			vec_push(ret_threads, tid);
	}
	closedir(folder);
	return ret_threads->count ? 0 : -ESRCH;
}

uint64_t thread_status(pid_t tid, const char *name, int base, uint64_t fallback)
{
	str_auto struct str text = {0};
	size_t len = strlen(name);
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	if (io_read_at(AT_FDCWD, path, STATUS_MAX_BYTES, &text) < 0)
		return fallback;
	for (char *line = text.at; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, len) == 0 && line[len] == ':')
			return strtoull(line + len + 1, NULL, base);
	}
	return fallback;
}

bool threads_signal_waits(pid_t tid)
{
	uint64_t pending =
		thread_status(tid, "SigPnd", 16, 0) | thread_status(tid, "ShdPnd", 16, 0);

	return pending & ~thread_status(tid, "SigBlk", 16, 0);
}

/* The letter behind the name, which may itself hold brackets. */
static char state_letter(pid_t tid)
{
	char path[48], line[512], *end;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	if (io_read_line(path, line, sizeof(line)) < 0)
		return 'X';
	end = strrchr(line, ')');
	return end && end[1] ? end[2] : 'X';
}

enum thread_activity thread_look(pid_t tid, long *ret_call, uint64_t *ret_address)
{
	char path[48], line[512], *last;
	char state = state_letter(tid);

	*ret_call = -1;
	*ret_address = 0;
	if (state == 'X' || state == 'Z')
		return THREAD_GONE;
	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)tid);
	if (io_read_line(path, line, sizeof(line)) < 0 || line[0] < '0' || line[0] > '9')
		return state == 'D' ? THREAD_IS_HELD : THREAD_RUNS;
	last = strrchr(line, ' ');
	*ret_call = strtol(line, NULL, 10);
	*ret_address = last ? strtoull(last + 1, NULL, 16) : 0;
	return state == 'D' ? THREAD_IS_HELD : THREAD_WAITS;
}

uint64_t thread_blocks(pid_t tid)
{
	return thread_status(tid, "voluntary_ctxt_switches", 10, 0);
}

/* Blocked as often before as after: it was the same wait all the time. */
void thread_wait_look(pid_t tid, struct thread_wait *ret_wait)
{
	struct thread_wait wait = {.call = -1, .blocks = thread_blocks(tid)};
	char path[48], line[512], *at = line;

	*ret_wait = wait;
	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)tid);
	if (io_read_line(path, line, sizeof(line)) < 0 || line[0] < '0' || line[0] > '9')
		return;
	wait.call = strtol(at, &at, 10);
	for (unsigned i = 0; i < 6; i++)
		wait.arguments[i] = strtoull(at, &at, 16);
	(void)strtoull(at, &at, 16); /* its stack */
	wait.address = strtoull(at, &at, 16);
	if (wait.address && thread_blocks(tid) == wait.blocks)
		*ret_wait = wait;
}

bool thread_call_can_begin_again(long call)
{
	static const short numbers[] = {
#ifdef SYS_epoll_wait /* not on aarch64 */
		SYS_epoll_wait,
#endif
		SYS_epoll_pwait, SYS_epoll_pwait2, SYS_read, SYS_readv, SYS_write, SYS_writev,
		SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg, SYS_sendto, SYS_sendmsg, SYS_accept,
		SYS_accept4, SYS_semop, SYS_semtimedop, SYS_rt_sigtimedwait, SYS_io_getevents,
		SYS_io_pgetevents, SYS_msgrcv, SYS_msgsnd};

	for (unsigned i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (numbers[i] == call)
			return true;
	return false;
}

/* Begun again by the kernel after an interruption, with the time that is left. */
static bool call_is_resumed(long number)
{
	static const short numbers[] = {
		SYS_futex,
		SYS_clock_nanosleep,
		SYS_ppoll,
		SYS_pselect6,
		SYS_wait4,
		SYS_waitid,
		SYS_rt_sigsuspend,
		SYS_nanosleep,
#ifdef __x86_64__
		SYS_poll,
		SYS_select,
		SYS_pause,
#endif
	};

	for (unsigned i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (numbers[i] == number)
			return true;
	return false;
}

/* 0: best.  RANKS: not to be stopped. */
enum { RANKS = 3 };

static unsigned thread_rank(pid_t tid)
{
	uint64_t address;
	long call;
	enum thread_activity does = thread_look(tid, &call, &address);

	if (does == THREAD_GONE || does == THREAD_IS_HELD)
		return RANKS;
	return does == THREAD_RUNS ? 1 : call_is_resumed(call) ? 0 : 2;
}

/* Each is looked at once: what it does changes while we look. */
void threads_order(thread_vec *threads)
{
	thread_vec by_rank[RANKS] = {{0}};
	unsigned rank;

	vec_foreach (pid_t, tid, threads) {
		rank = thread_rank(*tid);
		if (rank < RANKS)
			vec_push(&by_rank[rank], *tid);
	}
	threads->count = 0;
	for (rank = 0; rank < RANKS; rank++) {
		vec_foreach (pid_t, tid, &by_rank[rank])
			vec_push(threads, *tid);
		vec_done(&by_rank[rank]);
	}
}
