/* inject.c - see inject.h.
 *
 * How the shared memory gets there: the process makes a pair of sockets, we take one end of it
 * (pidfd_getfd) and send the two maps through.  No name, no path and no right of the process over
 * us is needed, so it works for a process that has dropped all privileges, in another network or
 * mount namespace, and for nobody else; the four descriptors are closed again before the thread
 * goes on.
 *
 * Should we be killed, the thread takes back what it has done so far, by the list of steps that is
 * always with it (remote.h).  A failure is undone by the same list.  The last step of putting in
 * empties it; from then on, the next tool takes out what we leave (leftover.h).
 *
 * Taking out: the signal is ignored for a moment first, which makes the kernel throw away those
 * that wait for a thread (with the default in place they would end the process), then its old
 * handler is set back.  A thread may be inside still, or have the frame for it made just now: only
 * when each thread was seen elsewhere after that, in a system call or stopped, the memory goes. */
#include "inject.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "inject_parts.h"
#include "leftover.h"
#include "wire/causal_blob.h"

extern const unsigned char causal_blob[];
extern const unsigned long causal_blob_len;

#ifndef SA_RESTORER
#define SA_RESTORER 0x04000000
#endif

enum { SIGNAL_FIRST = 40, SIGNAL_LAST = 59 }; /* not libc's, not the ends that others like */
enum { PAGE = 4096 };

/* The page of the process that answers are written to, while we are at it. */
struct scratch {
	unsigned char list[REMOTE_LIST_BYTES];
	int32_t fds[2];
	int64_t pad;
	struct msghdr message;
	struct iovec bytes;
	char byte[8];
	char control[CMSG_SPACE(2 * sizeof(int))];
	struct inject_action action, old;
};

enum { CLOSED_MOST = 4 };

struct plan {
	struct injection *in;
	struct remote remote;
	uint64_t scratch; /* address */
	int32_t maps[2];
	/* What is there and would have to go. */
	bool descriptors, handler;
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

/* ---- what would have to be undone ---- */

#define STEP(number, ...) ((struct rescue_step){number, 0, {__VA_ARGS__}})

/* The descriptors by where they are written: they may not be there yet (-1), and are from the
 * moment that the call ends. */
static unsigned steps_close(const struct plan *plan, struct rescue_step *steps)
{
	const uint64_t fds = plan->scratch + offsetof(struct scratch, fds);
	const uint64_t maps = plan->scratch + offsetof(struct scratch, control) + CMSG_LEN(0);

	for (unsigned i = 0; i < CLOSED_MOST; i++)
		steps[i] = (struct rescue_step){SYS_close, 1,
			{i < 2 ? fds + i * sizeof(int) : maps + (i - 2) * sizeof(int)}};
	return CLOSED_MOST;
}

static unsigned steps_unmap(const struct injection *in, struct rescue_step *steps)
{
	unsigned count = 0;

	if (in->seats)
		steps[count++] = STEP(SYS_munmap, in->seats, in->seats_bytes);
	if (in->board)
		steps[count++] = STEP(SYS_munmap, in->board, in->board_bytes);
	if (in->code)
		steps[count++] = STEP(SYS_munmap, in->code, in->code_bytes);
	return count;
}

/* All of it, the latest first. */
static unsigned steps_make(const struct plan *plan, struct rescue_step steps[REMOTE_STEPS_MOST])
{
	unsigned count = 0;

	if (plan->handler)
		steps[count++] = STEP(SYS_rt_sigaction, plan->in->signal,
			plan->scratch + offsetof(struct scratch, old), 0, 8);
	if (plan->descriptors)
		count += steps_close(plan, steps + count);
	count += steps_unmap(plan->in, steps + count);
	if (plan->scratch)
		steps[count++] = STEP(SYS_munmap, plan->scratch, PAGE);
	return count;
}

static int undo_tell(struct plan *plan)
{
	struct rescue_step steps[REMOTE_STEPS_MOST];

	return remote_steps(&plan->remote, steps, steps_make(plan, steps));
}

/* Take back what was done.  After a failure to tell of the last one, what was told before. */
static void undo(struct plan *plan)
{
	uint64_t left = plan->remote.plan.to - plan->remote.plan.from;

	(void)remote_do(&plan->remote, (unsigned)(left / sizeof(struct rescue_step)));
}

/* ---- memory ---- */

static int scratch_map(struct remote *remote, uint64_t *ret_at)
{
	struct scratch page = {.fds = {-1, -1}};
	struct rescue_step step;
	long at = CALL(remote, SYS_mmap, 0, PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0);

	_Static_assert(sizeof(page) <= PAGE && sizeof(page) % 8 == 0, "words of one page");
	if (!is_address(at))
		return (int)at;
	memset(page.control, 0xff, sizeof(page.control));
	remote->list = (uint64_t)at + offsetof(struct scratch, list);
	step = STEP(SYS_munmap, (uint64_t)at, PAGE);
	if (remote_write(remote, (uint64_t)at, &page, sizeof(page)) < 0)
		return -EFAULT;
	*ret_at = (uint64_t)at;
	return remote_steps(remote, &step, 1);
}

static int pages_map(struct plan *plan, struct err *err)
{
	struct injection *in = plan->in;
	long at = scratch_map(&plan->remote, &plan->scratch);

	if (at < 0)
		return step_failed(in, "allocate a page of memory", at, err);
	in->code_bytes = (causal_blob_len + PAGE - 1) / PAGE * PAGE;
	at = CALL(&plan->remote, SYS_mmap, 0, in->code_bytes, PROT_READ | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0);
	if (!is_address(at))
		return step_failed(in, "allocate memory for code", at, err);
	in->code = (uint64_t)at;
	return undo_tell(plan);
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

static int maps_receive(struct plan *plan, int32_t socket)
{
	const uint64_t at = plan->scratch;
	struct msghdr message = {
		.msg_iov = (void *)(at + offsetof(struct scratch, bytes)),
		.msg_iovlen = 1,
		.msg_control = (void *)(at + offsetof(struct scratch, control)),
		.msg_controllen = sizeof(((struct scratch *)0)->control),
	};
	struct iovec bytes = {(void *)(at + offsetof(struct scratch, byte)), 1};
	struct scratch page;
	struct cmsghdr head;
	long got;

	if (remote_write(&plan->remote, at + offsetof(struct scratch, message), &message,
		    sizeof(message)) < 0 ||
		remote_write(&plan->remote, at + offsetof(struct scratch, bytes), &bytes,
			sizeof(bytes)) < 0)
		return -EFAULT;
	got = CALL(&plan->remote, SYS_recvmsg, (uint64_t)socket,
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
	const uint64_t at = plan->scratch + offsetof(struct scratch, fds);
	io_auto int mine = -1;
	int32_t fds[2];
	long r;

	plan->descriptors = true;
	r = undo_tell(plan);
	if (r >= 0)
		r = CALL(&plan->remote, SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
			at);
	if (r < 0)
		return step_failed(plan->in, "make a socket", r, err);
	r = remote_read(&plan->remote, at, fds, sizeof(fds));
	if (r >= 0)
		r = mine = descriptor_take(plan->in->pid, fds[1]);
	if (r >= 0)
		r = maps_send(mine, board_fd, seats_fd);
	if (r >= 0)
		r = maps_receive(plan, fds[0]);
	return r < 0 ? step_failed(plan->in, "receive the shared memory", r, err) : 0;
}

static int map_one(struct plan *plan, int32_t fd, uint64_t bytes, uint64_t *ret_addr)
{
	long at = CALL(&plan->remote, SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		(uint64_t)fd, 0);

	if (!is_address(at))
		return (int)at;
	*ret_addr = (uint64_t)at;
	return undo_tell(plan);
}

static int shared_map(struct plan *plan, struct err *err)
{
	struct injection *in = plan->in;
	int r = map_one(plan, plan->maps[0], in->board_bytes, &in->board);

	if (r >= 0)
		r = map_one(plan, plan->maps[1], in->seats_bytes, &in->seats);
	if (r < 0)
		return step_failed(in, "map the shared memory", r, err);
	plan->descriptors = false;
	r = remote_do(&plan->remote, CLOSED_MOST); /* they are the first */
	return r < 0 ? step_failed(in, "close a descriptor", r, err) : 0;
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
	head.magic = WIRE_CAUSAL_BLOB_MAGIC;
	head.code_bytes = in->code_bytes;
	head.board_bytes = in->board_bytes;
	head.seats_bytes = in->seats_bytes;
	memcpy(head.old, &in->old, sizeof(head.old));
	head.owner_start = in->owner_start;
	head.owner = (uint32_t)in->owner;
	head.target = (uint32_t)in->pid;
	head.signal = in->signal;
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

/* The old handler is told of before ours is set: to set what is set already does no harm. */
static int handler_write(struct plan *plan)
{
	struct injection *in = plan->in;
	struct inject_action now;
	size_t len;
	mem_auto unsigned char *code = NULL;
	const struct wire_causal_blob *head;
	struct inject_action action = {
		.flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK, .mask = UINT64_MAX};
	int r = action_swap(&plan->remote, plan->scratch, in->signal, NULL, &in->old);

	if (r < 0)
		return r;
	code = code_make(in, &len);
	head = (const void *)code;
	action.handler = in->handler = in->code + head->handler;
	if (head->leave) {
		action.flags |= SA_RESTORER;
		action.leave = in->code + head->leave;
	}
	plan->handler = true;
	r = remote_write(&plan->remote, in->code, code, len);
	if (r >= 0)
		r = undo_tell(plan);
	return r < 0 ? r : action_swap(&plan->remote, plan->scratch, in->signal, &action, &now);
}

static int handler_set(struct plan *plan, struct err *err)
{
	struct injection *in = plan->in;
	int r;

	in->signal = signal_choose(plan);
	if (!in->signal) {
		err_set(err, ERR_UNAVAILABLE, EBUSY, "process %d uses all signals from %d to %d",
			(int)in->pid, SIGNAL_FIRST, SIGNAL_LAST);
		err_hint(err, "assay needs a signal without a handler");
		return -EBUSY;
	}
	r = handler_write(plan);
	return r < 0 ? step_failed(in, "install a signal handler", r, err) : 0;
}

/* It may have been killed before we could ask when it was started. */
static bool owner_lives(const struct injection *in)
{
	return in->owner_start && process_start(in->owner) == in->owner_start;
}

/* From now on it stays, and only the page goes. */
static int keep(struct plan *plan, struct err *err)
{
	struct rescue_step step = STEP(SYS_munmap, plan->scratch, PAGE);
	int r;

	if (!owner_lives(plan->in))
		return err_set(err, ERR_UNAVAILABLE, ECANCELED, "assay was killed");
	r = remote_steps(&plan->remote, &step, 1);
	if (r >= 0)
		r = remote_do(&plan->remote, 1);
	return r < 0 ? step_failed(plan->in, "unmap a page", r, err) : 0;
}

static int take_out(const struct injection *injection, struct err *err);

/* What cannot be taken out does no harm: its handler is off, or it is for a signal that nobody
 * sends. */
static void leftovers_take_out(pid_t pid)
{
	injection_vec left = {0};
	struct err ignored = {0};

	leftovers_find(pid, &left);
	vec_foreach (const struct injection, at, &left)
		(void)take_out(at, &ignored);
	vec_done(&left);
}

int inject_put(struct injection *injection, int board_fd, int seats_fd, struct err *err)
{
	struct plan plan = {.in = injection, .maps = {-1, -1}};
	io_auto int lock = inject_lock(injection->pid, err);
	int r = lock;

	if (r < 0)
		return r;
	leftovers_take_out(injection->pid);
	injection->owner_start = process_start(injection->owner);
	r = inject_stop(injection->pid, &plan.remote, err);
	if (r < 0)
		return r;
	r = pages_map(&plan, err);
	if (r >= 0)
		r = maps_hand_over(&plan, board_fd, seats_fd, err);
	if (r >= 0)
		r = shared_map(&plan, err);
	if (r >= 0)
		r = handler_set(&plan, err);
	if (r >= 0)
		r = keep(&plan, err);
	if (r < 0)
		undo(&plan);
	injection->stop_ns = clock_monotonic_ns() - plan.remote.stopped_ns;
	if (remote_release(&plan.remote) < 0 && r >= 0)
		r = inject_stop_explain(injection->pid, -ESRCH, err);
	return r;
}

/* ---- taking out ---- */

/* Both at once whatever happens to us: a signal must not stay ignored. */
static int handler_unset(struct remote *remote, const struct injection *in)
{
	const struct inject_action ignore = {.handler = 1};
	struct inject_action now;
	struct rescue_step steps[3];
	uint64_t scratch = 0;
	int r = scratch_map(remote, &scratch);
	bool ours;

	if (r < 0)
		return r;
	r = action_swap(remote, scratch, in->signal, NULL, &now);
	ours = r >= 0 && now.handler == in->handler; /* or the program has set its own meanwhile */
	if (ours)
		r = remote_write(remote, scratch + offsetof(struct scratch, action), &ignore,
			sizeof(ignore));
	if (ours && r >= 0)
		r = remote_write(
			remote, scratch + offsetof(struct scratch, old), &in->old, sizeof(in->old));
	if (!ours || r < 0) {
		(void)remote_do(remote, 1);
		return r;
	}
	steps[0] = STEP(
		SYS_rt_sigaction, in->signal, scratch + offsetof(struct scratch, action), 0, 8);
	steps[1] =
		STEP(SYS_rt_sigaction, in->signal, scratch + offsetof(struct scratch, old), 0, 8);
	steps[2] = STEP(SYS_munmap, scratch, PAGE);
	r = remote_steps(remote, steps, 3);
	return r < 0 ? r : remote_do(remote, 3);
}

static int memory_unmap(struct remote *remote, const struct injection *in)
{
	struct rescue_step steps[REMOTE_STEPS_MOST];
	uint64_t scratch;
	unsigned count;
	int r = scratch_map(remote, &scratch);

	if (r < 0)
		return r;
	count = steps_unmap(in, steps);
	steps[count++] = STEP(SYS_munmap, scratch, PAGE);
	r = remote_steps(remote, steps, count);
	return r < 0 ? r : remote_do(remote, count);
}

static int take_out(const struct injection *injection, struct err *err)
{
	struct remote remote;
	int r, released;

	if (!leftover_is_there(injection))
		return 0;
	r = inject_stop(injection->pid, &remote, err);
	if (r < 0)
		return r;
	r = handler_unset(&remote, injection);
	released = remote_release(&remote);
	if (released < 0)
		return inject_stop_explain(injection->pid, released, err);
	if (r < 0)
		return step_failed(injection, "restore its signal handler", r, err);
	if (!inject_threads_are_out(injection->pid, injection->code, injection->code_bytes)) {
		err_set(err, ERR_UNAVAILABLE, EBUSY,
			"a thread of process %d stayed in assay's handler", (int)injection->pid);
		return -EBUSY;
	}
	r = inject_stop(injection->pid, &remote, err);
	if (r < 0)
		return r;
	r = memory_unmap(&remote, injection);
	(void)remote_release(&remote);
	return r < 0 ? step_failed(injection, "unmap memory", r, err) : 0;
}

int inject_take_out(const struct injection *injection, struct err *err)
{
	io_auto int lock = inject_lock(injection->pid, err);

	return lock < 0 ? lock : take_out(injection, err);
}
