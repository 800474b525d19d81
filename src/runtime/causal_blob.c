/* causal_blob.c - the handler for processes that could not be given the runtime: a running one, a
 * static program.
 *
 * The bytes of its .text are written into a page of the process and stay there until assay has
 * done: no libc, no data, no table, no relocation (tools/embed_blob.py refuses the build if there
 * is one).  The addresses of the shared memory are filled in at its head before it is written; the
 * process gets the page readable and executable, never writable.  System calls are made here and
 * not in the vdso, so that a thread is inside exactly when its instruction pointer is.
 * @asyncsignalsafe */
#include <time.h>

#include <sys/syscall.h>

#include "bare_call.h"
#include "causal_pause.h"
#include "wire/causal_blob.h"

_Static_assert(sizeof(struct wire_causal_blob) == 4 * 8 + 88, "as below");

#if defined(__x86_64__)

/* The head, then the return of a handler, which the kernel wants from its owner here. */
__asm__(".text\n"
	"blob_head:\n"
	"	.quad 0, 0\n"
	"	.quad blob_handler - blob_head\n"
	"	.quad blob_return - blob_head\n"
	"	.zero 88\n"
	"blob_return:\n"
	"	movl $15, %eax\n" /* rt_sigreturn */
	"	syscall\n");

static const struct wire_causal_blob *head(void)
{
	const struct wire_causal_blob *at;

	__asm__("lea blob_head(%%rip), %0" : "=r"(at));
	return at;
}

#elif defined(__aarch64__)

/* Handlers return into the vdso. */
__asm__(".text\n"
	"	.balign 8\n"
	"blob_head:\n"
	"	.quad 0, 0\n"
	"	.quad blob_handler - blob_head\n"
	"	.quad 0\n"
	"	.zero 88\n");

/* Not by the compiler: it takes the page of an address, which only a linker knows. */
static const struct wire_causal_blob *head(void)
{
	const struct wire_causal_blob *at;

	__asm__("adr %0, blob_head" : "=r"(at));
	return at;
}

#endif

static long call(long number, long a, long b, long c, long d)
{
	return bare_call(number, (const long[6]){a, b, c, d});
}

static uint64_t pause_now_ns(void)
{
	struct timespec now = {0};

	call(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void pause_sleep_until(uint64_t until)
{
	struct timespec at = {(time_t)(until / 1000000000), (long)(until % 1000000000)};

	call(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, (long)&at, 0);
}

static uint32_t pause_tid(void)
{
	return (uint32_t)call(SYS_gettid, 0, 0, 0, 0);
}

__attribute__((used)) static void blob_handler(int signal, void *info, void *context)
{
	(void)signal;
	(void)info;
	(void)context;
	pause_thread((struct wire_causal_board *)head()->board,
		(struct wire_causal_seat *)head()->seats);
}
