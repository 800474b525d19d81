/* remote.c - see remote.h.
 *
 * The thread is seized and interrupted: no SIGSTOP that someone could see or that could stay
 * behind. It stops on its way back to user space, in the place where the kernel also decides
 * whether a system call that was under way is begun again; it must leave from the same place, so
 * after the last call of ours it is interrupted once more, and only there gets its registers back.
 * All signals are held back meanwhile: a handler must not run on our registers.  They are held back
 * only while the thread is in the rescue code, which gives it its mask, so the order of each pair
 * of changes counts: this process can be killed between any two lines here.  Calls are followed
 * with PTRACE_SYSCALL, never by single steps: a step ends in a forced SIGTRAP, which takes the
 * handler away from a thread that blocks it.
 *
 * Some calls (epoll_wait, a receive with a timeout...) answer an interruption with EINTR.  They
 * have done nothing then, so they are begun again, unless a signal of the program's own is there or
 * comes meanwhile: then the EINTR is its due. */
#include "remote.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "threads.h"

/* Since Linux 5.13 and 6.4; libc's headers may be older. */
#define GET_RSEQ 0x420f
#define GET_DISPATCH 0x4211
#define EVENT_STOP 128

enum { STOP_PATIENCE_MS = 500, LOOK_TRIES = 500 };

/* ---- stops ---- */

/* The next stop of the thread, as waitpid() tells it; -ESRCH: it is gone, -ETIMEDOUT.  waitpid()
 * says nothing of a first thread that has ended before the others. */
static int stop_wait(pid_t tid, uint64_t patience_ns)
{
	uint64_t until = clock_monotonic_ns() + patience_ns, address;
	long call;
	int status;

	for (unsigned tries = 1;; tries++) {
		pid_t r = waitpid(tid, &status, __WALL | WNOHANG);

		if (r == tid)
			return WIFSTOPPED(status) ? status >> 8 : -ESRCH;
		if (r < 0 && errno != EINTR)
			return -ESRCH;
		if (patience_ns && clock_monotonic_ns() > until)
			return -ETIMEDOUT;
		if (tries % LOOK_TRIES == 0 && thread_look(tid, &call, &address) == THREAD_GONE)
			return -ESRCH;
		if (r == 0 && tries > 20)
			usleep(20);
	}
}

/* What must be handed on when a stop that we did not ask for is passed over: a signal that cannot
 * be blocked is delivered, a group stop or a trap of its own has none. */
static int stop_signal(int stop)
{
	return stop >> 8 ? 0 : stop & 0x7f;
}

/* Run on until the next stop at a system call's entry or exit. */
static int run_to_syscall(pid_t tid)
{
	int stop = 0;

	do {
		if (ptrace(PTRACE_SYSCALL, tid, 0, (long)stop_signal(stop)) < 0)
			return -ESRCH;
		stop = stop_wait(tid, 0);
		if (stop < 0)
			return stop;
	} while (stop != (SIGTRAP | 0x80));
	return 0;
}

/* Run on until the place where the kernel looks at signals. */
static int run_to_trap(pid_t tid)
{
	int stop = SIGTRAP | EVENT_STOP << 8;

	do {
		if (ptrace(PTRACE_INTERRUPT, tid, 0, 0) < 0 ||
			ptrace(PTRACE_CONT, tid, 0, (long)stop_signal(stop)) < 0)
			return -ESRCH;
		stop = stop_wait(tid, 0);
		if (stop < 0)
			return stop;
	} while (stop >> 8 != EVENT_STOP);
	return 0;
}

static int let_go(pid_t tid, int result)
{
	ptrace(PTRACE_DETACH, tid, 0, 0);
	return result;
}

/* ---- what was interrupted ---- */

struct rseq_place {
	uint64_t pointer;
	uint32_t size, signature, flags, pad;
};

/* In a restartable sequence the kernel must see where the thread is; our calls would make it forget
 * that the sequence was interrupted. */
static bool in_sequence(const struct remote *remote)
{
	struct rseq_place at = {0};
	uint64_t sequence = 0, range[2] = {0};

	if (ptrace((enum __ptrace_request)GET_RSEQ, remote->tid, sizeof(at), &at) < 0 ||
		!at.pointer || remote_read(remote, at.pointer + 8, &sequence, 8) < 0 || !sequence ||
		remote_read(remote, sequence + 8, range, sizeof(range)) < 0)
		return false;
	return registers_address(&remote->saved) - range[0] < range[1];
}

static bool calls_are_dispatched(pid_t tid)
{
	uint64_t config[4] = {0};

	return ptrace((enum __ptrace_request)GET_DISPATCH, tid, sizeof(config), config) == 0 &&
	       config[0];
}

/* It may have gone into a sandbox since it was looked at: a filter ends it for a call of ours.  Now
 * that it is stopped only another thread can put it there. */
static bool is_filtered(pid_t tid)
{
	return thread_status(tid, "Seccomp", 10, 0) != 0;
}

/* ---- stop, call, release ---- */

/* The registers for a call that says EINTR for our stop are given back at once: till then, it would
 * say it if we were killed. */
static int stop_keep(struct remote *remote, const struct thread_wait *wait)
{
	pid_t tid = remote->tid;
	struct user_regs_struct stopped;
	int r;

	if (registers_get(tid, &remote->saved) < 0)
		return -ESRCH;
	stopped = remote->saved;
	remote->again = registers_resume(&remote->saved, tid, wait, threads_signal_waits(tid));
	if (!remote->again && memcmp(&stopped, &remote->saved, sizeof(stopped)) != 0 &&
		registers_set(tid, &remote->saved) < 0)
		return -ESRCH;
	if (ptrace(PTRACE_GETSIGMASK, tid, sizeof(remote->mask), &remote->mask) < 0)
		return -ESRCH;
	if (in_sequence(remote))
		return -EAGAIN;
	if (calls_are_dispatched(tid))
		return -ENOTSUP;
	if (is_filtered(tid))
		return -ECANCELED;
	r = registers_more_get(tid, &remote->saved_more);
	return r;
}

int remote_stop(struct remote *remote, pid_t tid)
{
	struct thread_wait wait;
	int stop, r;

	*remote = (struct remote){.tid = tid};
	thread_wait_look(tid, &wait);
	if (ptrace(PTRACE_SEIZE, tid, 0, PTRACE_O_TRACESYSGOOD) < 0)
		return -errno;
	if (ptrace(PTRACE_INTERRUPT, tid, 0, 0) < 0)
		return -ESRCH;
	do {
		stop = stop_wait(tid, STOP_PATIENCE_MS * 1000000ULL);
		/* A signal of the program's came first: it goes to where it was going. */
		if (stop >= 0 && stop >> 8 != EVENT_STOP &&
			ptrace(PTRACE_CONT, tid, 0, (long)stop_signal(stop)) < 0)
			return -ESRCH;
	} while (stop >= 0 && stop >> 8 != EVENT_STOP);
	if (stop < 0)
		return stop;
	remote->stopped_ns = clock_monotonic_ns();
	r = stop_keep(remote, &wait);
	if (r < 0)
		return let_go(tid, r);
	remote->traced = true;
	return 0;
}

uint64_t remote_address(const struct remote *remote)
{
	return registers_address(&remote->saved);
}

/* At rest in the rescue code. */
static int rest(const struct remote *remote)
{
	struct user_regs_struct registers = remote->saved;

	rescue_wait(&registers, &remote->plan);
	return registers_set(remote->tid, &registers);
}

int remote_prepare(struct remote *remote, uint64_t at, uint64_t bytes)
{
	mem_auto unsigned char *code = mem_new(RESCUE_MOST_BYTES, 1);
	const uint64_t all = UINT64_MAX;
	int len = rescue_make(remote->tid, &remote->saved, &remote->saved_more, remote->mask, code);
	int r;

	if (len < 0 || (uint64_t)len > bytes)
		return len < 0 ? len : -ENOSPC;
	r = remote_write(remote, at, code, (size_t)len);
	if (r < 0)
		return r;
	remote->plan = (struct rescue_plan){.at = at};
	remote->rescue_bytes = (uint64_t)len;
	if (rest(remote) < 0 || ptrace(PTRACE_SETSIGMASK, remote->tid, sizeof(all), &all) < 0)
		return -ESRCH;
	return 0;
}

/* Have it do the call that stands in `registers`; it is left at the call's end. */
static int call_make(struct remote *remote, struct user_regs_struct *registers)
{
	if (is_filtered(remote->tid))
		return -ECANCELED;
	if (registers_set(remote->tid, registers) == 0 && run_to_syscall(remote->tid) == 0 &&
		run_to_syscall(remote->tid) == 0 && registers_get(remote->tid, registers) == 0)
		return 0;
	remote->traced = false;
	return -ESRCH;
}

long remote_call(struct remote *remote, long number, const uint64_t arguments[6])
{
	struct user_regs_struct registers = remote->saved;
	int r;

	if (!remote->traced)
		return -ESRCH;
	remote->plan.map_bytes = number == SYS_mmap ? arguments[1] : 0;
	rescue_call(&registers, &remote->plan, number, arguments);
	remote->plan.map_bytes = 0;
	r = call_make(remote, &registers);
	return r < 0 ? r : registers_result(&registers);
}

int remote_steps(struct remote *remote, const struct rescue_step *steps, unsigned count)
{
	struct rescue_plan old = remote->plan;
	uint64_t at = remote->list + (remote->second_half ? 0 : REMOTE_LIST_BYTES / 2);
	int r;

	if (!remote->traced || count > REMOTE_STEPS_MOST)
		return -ESRCH;
	r = remote_write(remote, at, steps, count * sizeof(*steps));
	remote->plan.from = at;
	remote->plan.to = at + count * sizeof(*steps);
	if (r >= 0)
		r = rest(remote);
	if (r < 0)
		remote->plan = old;
	else
		remote->second_half = !remote->second_half;
	return r;
}

int remote_do(struct remote *remote, unsigned count)
{
	struct user_regs_struct registers = remote->saved;
	int r = 0;

	rescue_wait(&registers, &remote->plan);
	for (unsigned i = 0; i < count; i++) {
		if (!remote->traced || call_make(remote, &registers) < 0)
			return -ESRCH;
		remote->plan.from += sizeof(struct rescue_step);
		if (!r && registers_result(&registers) < 0)
			r = (int)registers_result(&registers);
	}
	return r;
}

static int words_write(const struct remote *remote, uint64_t addr, const void *bytes, size_t len)
{
	for (size_t at = 0; at < len; at += 8) {
		uint64_t word;

		memcpy(&word, (const char *)bytes + at, 8);
		if (ptrace(PTRACE_POKEDATA, remote->tid, addr + at, word) < 0)
			return -errno;
	}
	return 0;
}

int remote_write(const struct remote *remote, uint64_t addr, const void *bytes, size_t len)
{
	struct iovec from = {(void *)(uintptr_t)bytes, len}, to = {(void *)addr, len};

	if (process_vm_writev(remote->tid, &from, 1, &to, 1, 0) == (ssize_t)len)
		return 0;
	return words_write(remote, addr, bytes, len);
}

int remote_read(const struct remote *remote, uint64_t addr, void *ret_bytes, size_t len)
{
	for (size_t at = 0; at < len; at += 8) {
		uint64_t word;

		errno = 0;
		word = (uint64_t)ptrace(PTRACE_PEEKDATA, remote->tid, addr + at, 0);
		if (errno)
			return -errno;
		memcpy((char *)ret_bytes + at, &word, 8);
	}
	return 0;
}

/* Backwards, so that what is left when we are killed is known for what it is (slack.c). */
static void rescue_erase(const struct remote *remote)
{
	for (uint64_t at = remote->rescue_bytes; at; at -= 8)
		ptrace(PTRACE_POKEDATA, remote->tid, remote->plan.at + at - 8, 0UL);
}

static int mask_set(const struct remote *remote)
{
	return ptrace(PTRACE_SETSIGMASK, remote->tid, sizeof(remote->mask), &remote->mask) < 0
		       ? -ESRCH
		       : 0;
}

/* A last call, which does nothing, has the arguments of the one that was under way and ends as that
 * did: the kernel decides the rest as if nothing had been between. */
static int call_end(struct remote *remote)
{
	struct user_regs_struct registers = remote->saved;

	rescue_call(&registers, &remote->plan, SYS_getpid, NULL);
	if (call_make(remote, &registers) < 0 || mask_set(remote) < 0)
		return -ESRCH;
	registers = remote->saved;
	registers_end_call(&registers, remote->again);
	return registers_set(remote->tid, &registers);
}

int remote_release(struct remote *remote)
{
	pid_t tid = remote->tid;

	if (!remote->traced)
		return -ESRCH;
	if (!remote->plan.at) {
		remote->traced = false;
		return let_go(tid, 0);
	}
	remote->plan.from = remote->plan.to; /* done, or not wanted */
	if (rest(remote) < 0 || (remote->again && call_end(remote) < 0) || run_to_trap(tid) < 0 ||
		mask_set(remote) < 0 || registers_more_set(tid, &remote->saved_more) < 0 ||
		registers_set(tid, &remote->saved) < 0)
		return -ESRCH;
	rescue_erase(remote);
	remote->traced = false;
	return let_go(tid, 0);
}
