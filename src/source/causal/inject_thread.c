/* inject_thread.c - see inject_parts.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "inject_parts.h"
#include "slack.h"
#include "threads.h"

enum { STOP_TRIES = 3, AGAIN_TRIES = 50, LEAVE_TRIES = 250, LOCK_TRIES = 1000 };

/* Only who may trace the process can open its memory, and so hold the lock. */
int inject_lock(pid_t pid, struct err *err)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return inject_stop_explain(pid, errno == ENOENT ? -ESRCH : -errno, err);
	for (unsigned tries = 0; tries < LOCK_TRIES; tries++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return fd;
		usleep(2000);
	}
	close(fd);
	err_set(err, ERR_UNAVAILABLE, EBUSY, "another assay is attaching to process %d", (int)pid);
	err_hint(err, "try again when it is done");
	return -EBUSY;
}

/* ---- stopping one thread ---- */

static int stop_one(pid_t tid, struct remote *ret_remote)
{
	int r = -EAGAIN;

	for (unsigned tries = 0; r == -EAGAIN && tries < AGAIN_TRIES; tries++) {
		if (tries)
			usleep(500);
		r = remote_stop(ret_remote, tid);
	}
	return r;
}

int inject_stop_explain(pid_t pid, int r, struct err *err)
{
	if (r == -ESRCH)
		return err_set(err, ERR_TARGET, ESRCH, "process %d has ended", (int)pid);
	if (r == -ECANCELED) {
		err_set(err, ERR_UNAVAILABLE, ENOTSUP, "process %d has set a seccomp filter",
			(int)pid);
		err_hint(err, "the filter could kill it for a system call of assay's; run it "
			      "without the filter");
		return -ENOTSUP;
	}
	if (r == -EPERM || r == -EACCES) {
		err_set(err, ERR_UNAVAILABLE, EPERM, "not permitted to attach to process %d",
			(int)pid);
		err_hint(err, "run assay as root, or with CAP_SYS_PTRACE");
		return -EPERM;
	}
	err_set(err, ERR_UNAVAILABLE, r == -ENOTSUP || r == -ENOSPC ? ENOTSUP : EBUSY,
		"process %d %s", (int)pid,
		r == -ENOTSUP  ? "sends its system calls to itself (as Wine does)"
		: r == -ENOSPC ? "has no unused bytes behind its code"
			       : "has no thread that can be stopped briefly");
	err_hint(err, "start the program under assay instead: assay causal -- PROGRAM");
	return -err->code;
}

/* One without a trace of an earlier tool, or with a trace that no thread is in any more. */
static bool slack_is_usable(pid_t pid, const struct slack *slack)
{
	return !slack->left || inject_threads_are_out(pid, slack->at, slack->bytes);
}

static int prepare(struct remote *remote, const slack_vec *slacks)
{
	int r = -ENOSPC;

	vec_foreach (const struct slack, slack, slacks) {
		r = remote_prepare(remote, slack->at, slack->bytes);
		if (r >= 0 || r == -ESRCH)
			return r;
	}
	return r;
}

static int stop_and_prepare(pid_t tid, const slack_vec *slacks, struct remote *ret_remote)
{
	int r = stop_one(tid, ret_remote);

	if (r < 0)
		return r;
	r = prepare(ret_remote, slacks);
	if (r < 0)
		(void)remote_release(ret_remote);
	return r;
}

static int slacks_usable(pid_t pid, slack_vec *ret_slacks)
{
	int r = slacks_find(pid, ret_slacks);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < ret_slacks->count; i++)
		if (slack_is_usable(pid, &ret_slacks->at[i]))
			ret_slacks->at[kept++] = ret_slacks->at[i];
	ret_slacks->count = kept;
	return r < 0 ? r : kept ? 0 : -ENOSPC;
}

int inject_stop(pid_t pid, struct remote *ret_remote, struct err *err)
{
	thread_vec threads = {0};
	slack_vec slacks = {0};
	int r = threads_list(pid, &threads);

	if (r >= 0)
		r = slacks_usable(pid, &slacks);
	if (r >= 0) {
		threads_order(&threads);
		r = -EBUSY;
		for (uint32_t i = 0; r != 0 && i < threads.count && i < STOP_TRIES; i++)
			r = stop_and_prepare(threads.at[i], &slacks, ret_remote);
	}
	vec_done(&slacks);
	vec_done(&threads);
	return r < 0 ? inject_stop_explain(pid, r, err) : 0;
}

/* ---- no thread is there ---- */

static bool thread_is_out(pid_t tid, uint64_t at, uint64_t bytes)
{
	struct remote remote;
	uint64_t address;
	long call;
	enum thread_activity does = thread_look(tid, &call, &address);
	bool out;
	int r;

	if (does == THREAD_GONE)
		return true;
	if (call >= 0)
		return address - at >= bytes;
	r = does == THREAD_IS_HELD ? -EBUSY : stop_one(tid, &remote);
	if (r < 0)
		return r == -ESRCH;
	out = remote_address(&remote) - at >= bytes;
	return remote_release(&remote) < 0 || out;
}

bool inject_threads_are_out(pid_t pid, uint64_t at, uint64_t bytes)
{
	thread_vec threads = {0};
	uint32_t out = 0;
	bool all;

	(void)threads_list(pid, &threads);
	for (unsigned tries = 0; out < threads.count && tries < LEAVE_TRIES; tries++) {
		while (out < threads.count && thread_is_out(threads.at[out], at, bytes))
			out++;
		if (out < threads.count)
			usleep(2000);
	}
	all = out && out == threads.count;
	vec_done(&threads);
	return all;
}
