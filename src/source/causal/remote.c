/* remote.c - see remote.h.
 *
 * The thread is seized and interrupted: no SIGSTOP that someone could see or that could stay
 * behind. It stops on its way back to user space, in the place where the kernel also decides
 * whether a system call that was under way is begun again; it must leave from the same place, so
 * after the last call of ours it is interrupted once more, and only there gets its registers back.
 * All signals are held back meanwhile: a handler must not run on our registers.  Calls are followed
 * with PTRACE_SYSCALL, never by single steps: a step ends in a forced SIGTRAP, which takes the
 * handler away from a thread that blocks it.
 *
 * Some calls (epoll_wait, a receive with a timeout...) answer an interruption with EINTR.  They
 * have done nothing then, so they are begun again, unless a signal of the program's own is there or
 * comes meanwhile: then the EINTR is its due. */
#include "remote.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "threads.h"

/* Since Linux 5.13 and 6.4; libc's headers may be older. */
#define GET_RSEQ 0x420f
#define GET_DISPATCH 0x4211
#define EVENT_STOP 128

enum { STOP_PATIENCE_MS = 500, GATE_SEARCH_BYTES = 1 << 20 };

/* ---- the gate ---- */

static uint64_t gate_in(int mem, uint64_t start, uint64_t end)
{
	size_t len = end - start < GATE_SEARCH_BYTES ? (size_t)(end - start) : GATE_SEARCH_BYTES;
	mem_auto unsigned char *bytes = mem_new(len, 1);
	ssize_t got = pread(mem, bytes, len, (off_t)start);

	for (ssize_t at = 0; at + GATE_BYTES <= got; at += GATE_ALIGNMENT)
		if (memcmp(bytes + at, registers_gate, GATE_BYTES) == 0)
			return start + (uint64_t)at;
	return 0;
}

/* In the vdso first: it is always there and never unmapped. */
uint64_t remote_gate(pid_t pid)
{
	char path[32], line[512];
	io_auto int mem = -1;
	uint64_t gate = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	mem = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = mem >= 0 ? fopen(path, "re") : NULL;
	while (maps && fgets(line, sizeof(line), maps)) {
		uint64_t start, end, found;
		char rights[5];
		bool vdso = strstr(line, "[vdso]") != NULL;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &start, &end, rights) < 3 ||
			rights[2] != 'x' || (gate && !vdso) || strstr(line, "[vsyscall]"))
			continue;
		found = gate_in(mem, start, end);
		gate = found ? found : gate;
	}
	if (maps)
		fclose(maps);
	return gate;
}

/* ---- stops ---- */

/* The next stop of the thread, as waitpid() tells it; -ESRCH: it is gone, -ETIMEDOUT. */
static int stop_wait(pid_t tid, uint64_t patience_ns)
{
	uint64_t until = clock_monotonic_ns() + patience_ns;
	int status;

	for (unsigned tries = 0;; tries++) {
		pid_t r = waitpid(tid, &status, __WALL | (patience_ns ? WNOHANG : 0));

		if (r == tid)
			return WIFSTOPPED(status) ? status >> 8 : -ESRCH;
		if (r < 0 && errno != EINTR)
			return -ESRCH;
		if (patience_ns && clock_monotonic_ns() > until)
			return -ETIMEDOUT;
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

/* ---- stop, call, release ---- */

static int stop_keep(struct remote *remote, const struct thread_wait *wait)
{
	const uint64_t all = UINT64_MAX;
	pid_t tid = remote->tid;
	int r;

	if (registers_get(tid, &remote->saved) < 0 ||
		ptrace(PTRACE_GETSIGMASK, tid, sizeof(remote->mask), &remote->mask) < 0)
		return -ESRCH;
	if (in_sequence(remote))
		return -EAGAIN;
	if (calls_are_dispatched(tid))
		return -ENOTSUP;
	r = registers_more_get(tid, &remote->saved_more);
	if (r < 0)
		return r;
	remote->again = registers_resume(&remote->saved, tid, wait, threads_signal_waits(tid));
	return ptrace(PTRACE_SETSIGMASK, tid, sizeof(all), &all) < 0 ? -ESRCH : 0;
}

int remote_stop(struct remote *remote, pid_t tid, uint64_t gate)
{
	struct thread_wait wait;
	int stop, r;

	*remote = (struct remote){.tid = tid, .gate = gate};
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

/* Have it do the call that stands in `registers`; it is left at the call's end. */
static int call_make(const struct remote *remote, struct user_regs_struct *registers)
{
	if (registers_set(remote->tid, registers) < 0 || run_to_syscall(remote->tid) < 0 ||
		run_to_syscall(remote->tid) < 0 || registers_get(remote->tid, registers) < 0)
		return -ESRCH;
	return 0;
}

long remote_call(struct remote *remote, long number, const uint64_t arguments[6])
{
	struct user_regs_struct registers = remote->saved;

	registers_call(&registers, remote->gate, number, arguments);
	if (call_make(remote, &registers) < 0) {
		remote->traced = false;
		return -ESRCH;
	}
	return registers_result(&registers);
}

int remote_write(const struct remote *remote, uint64_t addr, const void *bytes, size_t len)
{
	for (size_t at = 0; at < len; at += 8) {
		uint64_t word;

		memcpy(&word, (const char *)bytes + at, 8);
		if (ptrace(PTRACE_POKEDATA, remote->tid, addr + at, word) < 0)
			return -errno;
	}
	return 0;
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

/* A last call, which does nothing, has the arguments of the one that was under way and ends as that
 * did: the kernel decides the rest as if nothing had been between. */
static int call_end(const struct remote *remote)
{
	struct user_regs_struct registers = remote->saved;

	registers_call(&registers, remote->gate, SYS_getpid, NULL);
	if (call_make(remote, &registers) < 0)
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
	remote->traced = false;
	if ((remote->again && call_end(remote) < 0) || run_to_trap(tid) < 0 ||
		registers_more_set(tid, &remote->saved_more) < 0 ||
		registers_set(tid, &remote->saved) < 0 ||
		ptrace(PTRACE_SETSIGMASK, tid, sizeof(remote->mask), &remote->mask) < 0)
		return -ESRCH;
	return let_go(tid, 0);
}
