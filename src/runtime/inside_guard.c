/* inside_guard.c - calls of the program that would turn our signal, or what its handler calls, into
 * its end; seen before they are made.
 *
 * Nobody looks before a sample's signal is sent, so what could make it harmful is kept away:
 * - A filter of system calls (seccomp) may kill for what the handler calls, for rt_sigreturn too:
 *   before the program sets one, everything of ours in it ends for good.
 * - The signal is one that is ignored by default, so a program that takes our handler away is not
 *   ended by it.  Done through the C library it is not taken away at all: the program is told that
 *   it was.  A handler of the program's own ends ours for good.
 * - A frame of a signal can be larger than the program's alternate stack, or than what is left of
 *   its stack.  Each thread that is sampled gets an alternate stack of ours, unless its own is
 *   large; the program is told of its own only.
 *
 * What is not seen: a program that makes these system calls itself and not through the C library.
 * The tool looks at the state of its threads from outside, at both ends of each experiment. */
#include <errno.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bare_call.h"
#include "inside_parts.h"

__asm__(".symver libc_sigaction, __sigaction@" FIRST);
__asm__(".symver libc_signal, ssignal@" FIRST); /* another name of signal() */

int libc_sigaction(int signal, const struct sigaction *action, struct sigaction *old);
__sighandler_t libc_signal(int signal, __sighandler_t handler);

/* ---- system calls ---- */

long inside_call(long number, const long arguments[6])
{
	long r = bare_call(number, arguments);

	if (r >= 0 || r < -4095)
		return r;
	errno = (int)-r;
	return -1;
}

#define CALL(number, ...) inside_call(number, (const long[6]){__VA_ARGS__})

/* Both take as many words as the call has; those that it has not are not looked at. */
#define ARGUMENTS_READ(last, from, to)                                                             \
	do {                                                                                       \
		va_list list;                                                                      \
                                                                                                   \
		va_start(list, last);                                                              \
		for (unsigned i = (from); i < (to); i++)                                           \
			arguments[i] = va_arg(list, long);                                         \
		va_end(list);                                                                      \
	} while (0)

EXPORT int prctl(int option, ...)
{
	long arguments[6] = {option};

	ARGUMENTS_READ(option, 1, 5);
	if (option == PR_SET_SECCOMP)
		inside_end(WIRE_SEAL_SANDBOX);
	return (int)inside_call(SYS_prctl, arguments);
}

EXPORT long syscall(long number, ...)
{
	long arguments[6];

	ARGUMENTS_READ(number, 0, 6);
	if ((number == SYS_seccomp && arguments[0] <= SECCOMP_SET_MODE_FILTER) ||
		(number == SYS_prctl && (int)arguments[0] == PR_SET_SECCOMP))
		inside_end(WIRE_SEAL_SANDBOX);
	return inside_call(number, arguments);
}

/* ---- handlers ---- */

static __sighandler_t wish = SIG_DFL; /* of the program, for our signal */

static bool is_handler(__sighandler_t handler)
{
	return handler != SIG_DFL && handler != SIG_IGN;
}

void inside_signal_drop(int signal)
{
	struct sigaction action = {.sa_handler = SIG_IGN}; /* waiting ones are thrown away */

	libc_sigaction(signal, &action, NULL);
	action.sa_handler = wish;
	libc_sigaction(signal, &action, NULL);
}

EXPORT int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction before = {.sa_handler = wish};

	if (!inside_is_on() || signal != inside_signal())
		return libc_sigaction(signal, action, old);
	if (action && is_handler(action->sa_handler)) {
		inside_end(WIRE_SEAL_SIGNAL);
		return libc_sigaction(signal, action, old);
	}
	if (action)
		wish = action->sa_handler;
	if (old)
		*old = before;
	return 0;
}

EXPORT __sighandler_t signal(int number, __sighandler_t handler)
{
	__sighandler_t before = wish;

	if (!inside_is_on() || number != inside_signal() || handler == SIG_ERR)
		return libc_signal(number, handler);
	if (is_handler(handler)) {
		inside_end(WIRE_SEAL_SIGNAL);
		return libc_signal(number, handler);
	}
	wish = handler;
	return before;
}

/* ---- alternate stacks ---- */

/* Frames of two signals, one in the other, and what their handlers need. */
enum { STACK_BYTES = 65536, STACK_LEAST = 32768, GUARD_BYTES = 65536 };

static __thread struct {
	char *at; /* ours; NULL: none */
	size_t bytes;
	stack_t wish; /* the program's */
} stack __attribute__((tls_model("initial-exec")));

/* AMX makes the frame of one signal 11 KB. */
static size_t stack_least(void)
{
	size_t frame = getauxval(AT_MINSIGSTKSZ);

	return STACK_LEAST + 2 * frame;
}

static int stack_call(const stack_t *new, stack_t *old)
{
	return (int)CALL(SYS_sigaltstack, (long)new, (long)old);
}

/* Give the kernel ours in place of the program's, with its flags. */
static int stack_use(int flags)
{
	stack_t ours = {.ss_sp = stack.at + GUARD_BYTES,
		.ss_size = stack.bytes - GUARD_BYTES,
		.ss_flags = flags};

	return stack_call(&ours, NULL);
}

bool inside_stack_open(void)
{
	size_t bytes = GUARD_BYTES + STACK_BYTES + 2 * stack_least();
	stack_t now = {0};
	char *at;

	if (stack_call(NULL, &now) < 0 || now.ss_flags & SS_ONSTACK)
		return false;
	if (!(now.ss_flags & SS_DISABLE) && now.ss_size >= stack_least())
		return true;
	at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return false;
	stack.at = at;
	stack.bytes = bytes;
	stack.wish = now;
	if (mprotect(at + GUARD_BYTES, bytes - GUARD_BYTES, PROT_READ | PROT_WRITE) == 0 &&
		stack_use(now.ss_flags & SS_DISABLE ? 0 : now.ss_flags) == 0)
		return true;
	stack.at = NULL;
	munmap(at, bytes);
	return false;
}

void inside_stack_close(void)
{
	stack_t now = {0};

	if (!stack.at || stack_call(NULL, &now) < 0 || now.ss_flags & SS_ONSTACK)
		return;
	if (now.ss_sp == stack.at + GUARD_BYTES && stack_call(&stack.wish, NULL) < 0)
		return;
	munmap(stack.at, stack.bytes);
	stack.at = NULL;
}

/* As the kernel would answer if ours were not there. */
static int stack_swap(const stack_t *new)
{
	const int flags = new->ss_flags & ~(SS_ONSTACK | SS_DISABLE);
	bool off = new->ss_flags &SS_DISABLE;

	if (stack_call(new, NULL) < 0) /* it knows what it accepts */
		return -1;
	if (off || new->ss_size < stack_least())
		(void)stack_use(off ? 0 : flags);
	stack.wish = *new;
	stack.wish.ss_flags &= ~SS_ONSTACK;
	if (off) { /* as the kernel forgets what was there */
		stack.wish.ss_sp = NULL;
		stack.wish.ss_size = 0;
	}
	return 0;
}

EXPORT int sigaltstack(const stack_t *new, stack_t *old)
{
	stack_t now = {0}, before = stack.wish;

	if (!stack.at)
		return stack_call(new, old);
	if (stack_call(NULL, &now) < 0)
		return -1;
	if (now.ss_flags & SS_ONSTACK)
		before.ss_flags |= SS_ONSTACK;
	if (new &&stack_swap(new) < 0)
		return -1;
	if (old)
		*old = before;
	return 0;
}
