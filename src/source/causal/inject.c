/* inject.c - see inject.h.
 *
 * How the shared memory gets there: the process makes a pair of sockets, we take one end of it
 * (pidfd_getfd) and send the two maps through.  No name, no path and no right of the process over
 * us is needed, so it works for a process that has dropped all privileges, in another network or
 * mount namespace, and for nobody else; the four descriptors are closed again before the thread
 * goes on.
 *
 * Taking out: the signal is ignored for a moment first, which makes the kernel throw away those
 * that wait for a thread (with the default in place they would end the process), then its old
 * handler is set back.  A thread may be inside still, or have the frame for it made just now: only
 * when each thread was seen elsewhere after that, in a system call or stopped, the memory goes. */
#include "inject.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "remote.h"
#include "threads.h"
#include "wire/causal_blob.h"

extern const unsigned char causal_blob[];
extern const unsigned long causal_blob_len;

#ifndef SA_RESTORER
#define SA_RESTORER 0x04000000
#endif

enum { SIGNAL_FIRST = 40, SIGNAL_LAST = 59 }; /* not libc's, not the ends that others like */
enum { STOP_TRIES = 3, AGAIN_TRIES = 50, PAGE = 4096, LEAVE_TRIES = 250 };

/* The page of the process that answers are written to, while we are at it. */
struct scratch {
	int32_t fds[2];
	int64_t pad;
	struct msghdr message;
	struct iovec bytes;
	char byte[8];
	char control[CMSG_SPACE(2 * sizeof(int))];
	struct inject_action action, old;
};

struct plan {
	struct injection *in;
	struct remote remote;
	uint64_t scratch; /* address */
	int32_t fds[2], maps[2];
};

/* ---- calls of the stopped thread ---- */

#define CALL(remote, number, ...) remote_call(remote, number, (const uint64_t[6]){__VA_ARGS__})

static int step_failed(const struct injection *in, const char *what, long result, struct err *err)
{
	int code = result < 0 ? (int)-result : EIO;

	err_set(err, ERR_UNAVAILABLE, code, "process %d cannot %s: %s", (int)in->pid, what,
		err_words(code));
	if (code == EMFILE || code == ENFILE)
		err_hint(err, "it has too many open files: raise its limit with prlimit");
	else if (code == ENOMEM || code == EAGAIN)
		err_hint(err, "its limits leave no space for 5 MB more: see /proc/%d/limits",
			(int)in->pid);
	else
		err_hint(err, "a security module may forbid it; start the program under assay "
			      "instead: assay causal -- PROGRAM");
	return -code;
}

static bool is_address(long result)
{
	return result > 0 || result < -4095;
}

/* ---- stopping one thread ---- */

static int stop_one(pid_t tid, uint64_t gate, struct remote *ret_remote)
{
	int r = -EAGAIN;

	for (unsigned tries = 0; r == -EAGAIN && tries < AGAIN_TRIES; tries++) {
		if (tries)
			usleep(500);
		r = remote_stop(ret_remote, tid, gate);
	}
	return r;
}

static int stop_explain(pid_t pid, int r, struct err *err)
{
	if (r == -ESRCH)
		return err_set(err, ERR_TARGET, ESRCH, "process %d has ended", (int)pid);
	if (r == -EPERM || r == -EACCES) {
		err_set(err, ERR_UNAVAILABLE, EPERM, "not permitted to attach to process %d",
			(int)pid);
		err_hint(err, "run assay as root, or with CAP_SYS_PTRACE");
		return -EPERM;
	}
	err_set(err, ERR_UNAVAILABLE, r == -ENOTSUP ? ENOTSUP : EBUSY, "process %d %s", (int)pid,
		r == -ENOTSUP ? "sends its system calls to itself (as Wine does)"
			      : "has no thread that can be stopped briefly");
	err_hint(err, "start the program under assay instead: assay causal -- PROGRAM");
	return -err->code;
}

/* Any thread will do. */
static int stop_some(pid_t pid, struct remote *ret_remote, struct err *err)
{
	uint64_t gate = remote_gate(pid);
	thread_vec threads = {0};
	int r = threads_list(pid, &threads);

	if (r >= 0 && !gate)
		r = kill(pid, 0) < 0 ? -errno : -EACCES;
	if (r >= 0) {
		threads_order(&threads);
		r = -EBUSY;
	}
	for (uint32_t i = 0; r != 0 && gate && i < threads.count && i < STOP_TRIES; i++)
		r = stop_one(threads.at[i], gate, ret_remote);
	vec_done(&threads);
	return r < 0 ? stop_explain(pid, r, err) : 0;
}

/* ---- memory ---- */

static int pages_map(struct plan *plan, struct err *err)
{
	struct injection *in = plan->in;
	long at;

	in->code_bytes = (causal_blob_len + PAGE - 1) / PAGE * PAGE;
	at = CALL(&plan->remote, SYS_mmap, 0, in->code_bytes, PROT_READ | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0);
	if (!is_address(at))
		return step_failed(in, "allocate memory for code", at, err);
	in->code = (uint64_t)at;
	at = CALL(&plan->remote, SYS_mmap, 0, PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0);
	if (!is_address(at))
		return step_failed(in, "allocate a page of memory", at, err);
	plan->scratch = (uint64_t)at;
	return 0;
}

static int maps_send(int to, int board_fd, int seats_fd)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(2 * sizeof(int))];
	} control = {.space = {0}};
	int fds[2] = {board_fd, seats_fd};
	struct iovec bytes = {(char[]){1}, 1};
	struct msghdr message = {.msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};

	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(&control.head), fds, sizeof(fds));
	return sendmsg(to, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1 ? 0 : -errno;
}

/* Our copy of the process' descriptor `fd`. */
static int descriptor_take(pid_t pid, int fd)
{
	io_auto int process = (int)syscall(SYS_pidfd_open, pid, 0);
	int taken = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, fd, 0);

	return taken < 0 ? -errno : taken;
}

static int maps_receive(struct plan *plan)
{
	const uint64_t at = plan->scratch;
	struct scratch page = {
		.message = {
			.msg_iov = (void *)(at + offsetof(struct scratch, bytes)),
			.msg_iovlen = 1,
			.msg_control = (void *)(at + offsetof(struct scratch, control)),
			.msg_controllen = sizeof(page.control),
		}};
	struct cmsghdr head;
	long got;

	page.bytes = (struct iovec){(void *)(at + offsetof(struct scratch, byte)), 1};
	if (remote_write(&plan->remote, at, &page, sizeof(page)) < 0)
		return -EFAULT;
	got = CALL(&plan->remote, SYS_recvmsg, (uint64_t)plan->fds[0],
		at + offsetof(struct scratch, message), MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (got != 1 || remote_read(&plan->remote, at, &page, sizeof(page)) < 0)
		return got < 0 ? (int)got : -EIO;
	memcpy(&head, page.control, sizeof(head));
	if (page.message.msg_flags & MSG_CTRUNC || head.cmsg_len != CMSG_LEN(2 * sizeof(int)))
		return -EMFILE;
	memcpy(plan->maps, page.control + CMSG_LEN(0), sizeof(plan->maps));
	return 0;
}

static int maps_hand_over(struct plan *plan, int board_fd, int seats_fd, struct err *err)
{
	io_auto int mine = -1;
	uint64_t fds;
	long r = CALL(&plan->remote, SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
		plan->scratch);

	if (r < 0)
		return step_failed(plan->in, "make a socket", r, err);
	r = remote_read(&plan->remote, plan->scratch, &fds, sizeof(fds));
	memcpy(plan->fds, &fds, sizeof(plan->fds));
	if (r >= 0)
		r = mine = descriptor_take(plan->in->pid, plan->fds[1]);
	if (r >= 0)
		r = maps_send(mine, board_fd, seats_fd);
	if (r >= 0)
		r = maps_receive(plan);
	return r < 0 ? step_failed(plan->in, "receive the shared memory", r, err) : 0;
}

static int map_one(struct plan *plan, int32_t fd, uint64_t bytes, uint64_t *ret_addr)
{
	long at = CALL(&plan->remote, SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		(uint64_t)fd, 0);

	if (is_address(at))
		*ret_addr = (uint64_t)at;
	return is_address(at) ? 0 : (int)at;
}

static int shared_map(struct plan *plan, struct err *err)
{
	struct injection *in = plan->in;
	int r = map_one(plan, plan->maps[0], in->board_bytes, &in->board);

	if (r >= 0)
		r = map_one(plan, plan->maps[1], in->seats_bytes, &in->seats);
	return r < 0 ? step_failed(in, "map the shared memory", r, err) : 0;
}

static void descriptors_close(struct plan *plan)
{
	int32_t *all[] = {&plan->fds[0], &plan->fds[1], &plan->maps[0], &plan->maps[1]};

	for (unsigned i = 0; i < 4; i++) {
		if (*all[i] >= 0)
			CALL(&plan->remote, SYS_close, (uint64_t)*all[i]);
		*all[i] = -1;
	}
}

/* ---- code and handler ---- */

/* The bytes as they stand in the process. */
static unsigned char *code_make(const struct injection *in, size_t *ret_len)
{
	size_t len = (causal_blob_len + 7) & ~7UL;
	unsigned char *code = mem_new(len, 1);
	struct wire_causal_blob head;

	memcpy(code, causal_blob, causal_blob_len);
	memcpy(&head, code, sizeof(head));
	head.board = in->board;
	head.seats = in->seats;
	memcpy(code, &head, sizeof(head));
	*ret_len = len;
	return code;
}

static int action_swap(struct remote *remote, uint64_t scratch, uint32_t signal,
	const struct inject_action *new, struct inject_action *ret_old)
{
	const uint64_t at = scratch + offsetof(struct scratch, action);
	const uint64_t old = scratch + offsetof(struct scratch, old);
	long r = new ? remote_write(remote, at, new, sizeof(*new)) : 0;

	if (r >= 0)
		r = CALL(remote, SYS_rt_sigaction, signal, new ? at : 0, old, 8);
	if (r >= 0)
		r = remote_read(remote, old, ret_old, sizeof(*ret_old));
	return (int)r;
}

/* A signal without a handler.  A runtime that catches every signal (Go's) leaves none: then one
 * whose handler is the same as that of all others, because nobody has chosen it for anything. */
static uint32_t signal_choose(struct plan *plan)
{
	uint64_t used = thread_status(plan->remote.tid, "SigCgt", 16, UINT64_MAX) |
			thread_status(plan->remote.tid, "SigIgn", 16, 0);
	struct inject_action first = {0}, other;

	for (uint32_t signal = SIGNAL_LAST; signal >= SIGNAL_FIRST; signal--)
		if (!(used >> (signal - 1) & 1))
			return signal;
	for (uint32_t signal = SIGNAL_LAST; signal >= SIGNAL_FIRST; signal--) {
		struct inject_action *got = signal == SIGNAL_LAST ? &first : &other;

		if (action_swap(&plan->remote, plan->scratch, signal, NULL, got) < 0 ||
			got->handler != first.handler || first.handler <= 1)
			return 0;
	}
	return SIGNAL_LAST;
}

static int handler_set(struct plan *plan, struct err *err)
{
	struct injection *in = plan->in;
	size_t len;
	mem_auto unsigned char *code = code_make(in, &len);
	const struct wire_causal_blob *head = (const void *)code;
	struct inject_action action = {.handler = in->code + head->handler,
		.flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK | (head->leave ? SA_RESTORER : 0),
		.leave = head->leave ? in->code + head->leave : 0,
		.mask = UINT64_MAX};
	uint32_t signal = signal_choose(plan);
	int r = signal ? remote_write(&plan->remote, in->code, code, len) : -EBUSY;

	if (!signal) {
		err_set(err, ERR_UNAVAILABLE, EBUSY, "process %d uses all signals from %d to %d",
			(int)in->pid, SIGNAL_FIRST, SIGNAL_LAST);
		err_hint(err, "assay needs a signal without a handler");
		return -EBUSY;
	}
	if (r >= 0)
		r = action_swap(&plan->remote, plan->scratch, signal, &action, &in->old);
	if (r < 0)
		return step_failed(in, "install a signal handler", r, err);
	in->signal = signal;
	in->handler = action.handler;
	return 0;
}

static void unmap(struct remote *remote, uint64_t at, uint64_t bytes)
{
	if (at)
		CALL(remote, SYS_munmap, at, bytes);
}

static void memory_unmap(struct remote *remote, const struct injection *in)
{
	unmap(remote, in->code, in->code_bytes);
	unmap(remote, in->board, in->board_bytes);
	unmap(remote, in->seats, in->seats_bytes);
}

int inject_put(struct injection *injection, int board_fd, int seats_fd, struct err *err)
{
	struct plan plan = {.in = injection, .fds = {-1, -1}, .maps = {-1, -1}};
	int r = stop_some(injection->pid, &plan.remote, err);

	if (r < 0)
		return r;
	r = pages_map(&plan, err);
	if (r >= 0)
		r = maps_hand_over(&plan, board_fd, seats_fd, err);
	if (r >= 0)
		r = shared_map(&plan, err);
	descriptors_close(&plan);
	if (r >= 0)
		r = handler_set(&plan, err);
	unmap(&plan.remote, plan.scratch, PAGE);
	if (r < 0)
		memory_unmap(&plan.remote, injection);
	injection->stop_ns = clock_monotonic_ns() - plan.remote.stopped_ns;
	if (remote_release(&plan.remote) < 0 && r >= 0)
		r = stop_explain(injection->pid, -ESRCH, err);
	return r;
}

/* ---- taking out ---- */

/* After an exec the process is another program: nothing of ours is in it. */
static bool code_is_there(const struct injection *in)
{
	size_t len;
	mem_auto unsigned char *code = code_make(in, &len);
	mem_auto unsigned char *there = mem_new(len, 1);
	char path[32];
	io_auto int mem = -1;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)in->pid);
	mem = open(path, O_RDONLY | O_CLOEXEC);
	return mem >= 0 && pread(mem, there, len, (off_t)in->code) == (ssize_t)len &&
	       memcmp(there, code, len) == 0;
}

static bool is_inside(const struct injection *in, uint64_t address)
{
	return address - in->code < in->code_bytes;
}

/* The seats are shared memory that can be written: they serve as the page for the answers. */
static int handler_unset(struct remote *remote, const struct injection *in)
{
	const struct inject_action ignore = {.handler = 1};
	struct inject_action now;
	int r = action_swap(remote, in->seats, in->signal, NULL, &now);

	if (r < 0 || now.handler != in->handler)
		return r; /* the program has set its own meanwhile */
	r = action_swap(remote, in->seats, in->signal, &ignore, &now);
	return r < 0 ? r : action_swap(remote, in->seats, in->signal, &in->old, &now);
}

static bool thread_is_out(const struct injection *in, pid_t tid, uint64_t gate)
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
		return !is_inside(in, address);
	r = does == THREAD_IS_HELD ? -EBUSY : stop_one(tid, gate, &remote);
	if (r < 0)
		return r == -ESRCH;
	out = !is_inside(in, remote_address(&remote));
	return remote_release(&remote) < 0 || out;
}

/* Once out, a thread does not come back: nobody sends the signal. */
static bool threads_are_out(const struct injection *in)
{
	uint64_t gate = remote_gate(in->pid);
	thread_vec threads = {0};
	uint32_t out = 0;
	bool all;

	(void)threads_list(in->pid, &threads);
	for (unsigned tries = 0; out < threads.count && tries < LEAVE_TRIES; tries++) {
		while (out < threads.count && thread_is_out(in, threads.at[out], gate))
			out++;
		if (out < threads.count)
			usleep(2000);
	}
	all = out && out == threads.count;
	vec_done(&threads);
	return all;
}

int inject_take_out(const struct injection *injection, struct err *err)
{
	struct remote remote;
	int r, released;

	if (!code_is_there(injection))
		return 0;
	r = stop_some(injection->pid, &remote, err);
	if (r < 0)
		return r;
	r = handler_unset(&remote, injection);
	released = remote_release(&remote);
	if (released < 0)
		return stop_explain(injection->pid, released, err);
	if (r < 0)
		return step_failed(injection, "restore its signal handler", r, err);
	if (!threads_are_out(injection)) {
		err_set(err, ERR_UNAVAILABLE, EBUSY,
			"a thread of process %d stayed in assay's handler", (int)injection->pid);
		return -EBUSY;
	}
	r = stop_some(injection->pid, &remote, err);
	if (r < 0)
		return r;
	memory_unmap(&remote, injection);
	(void)remote_release(&remote);
	return 0;
}
