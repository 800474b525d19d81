/* witness.c - the trap flag of x86-64 makes the program its own single-stepping debugger: every
 * address of every prologue and epilogue is tried, where a timer would meet a handful.  aarch64 has
 * no such flag for programs; there cycles are counted, and the signal of each overflow stops the
 * program about every hundredth instruction.  The handler only copies; tables are compiled
 * afterwards, since the interrupted code may be malloc() itself. */
#include "witness.h"

#include <elf.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "code/image.h"
#include "code/unwind.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

enum {
	MOMENTS = 6000,
	TRACE = 400,
	MODULES = 32,
	STACK_SIZE = 16 << 10,
	COPIES = 96 << 20,
	TRAP_FLAG = 0x100,
	STOP_CYCLES = 200,
};

struct moment {
	struct unwind_registers registers;
	const unsigned char *bytes;
	size_t len;
	int count; /* of trace */
	uint64_t trace[TRACE];
};

struct module {
	struct unwind_table *table;
	uint64_t bias, begin, end;
	bool is_library; /* not the program itself */
};

static struct {
	struct moment *moments;
	unsigned count;
	unsigned char *copies;
	size_t copied;
	uint64_t top; /* of this thread's stack */
	volatile sig_atomic_t wanted;
	sigjmp_buf crash;
	int counter; /* aarch64: its overflow is the signal; -1: there is none */
	struct module modules[MODULES];
	unsigned module_count;
} witness;

static struct unwind_registers registers_of(const ucontext_t *context)
{
#if defined(__aarch64__)
	return (struct unwind_registers){.ip = context->uc_mcontext.pc,
		.sp = context->uc_mcontext.sp,
		.fp = context->uc_mcontext.regs[29],
		.lr = context->uc_mcontext.regs[30]};
#else
	return (struct unwind_registers){.ip = (uint64_t)context->uc_mcontext.gregs[REG_RIP],
		.sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP],
		.fp = (uint64_t)context->uc_mcontext.gregs[REG_RBP]};
#endif
}

/* With noreturn.c and signals.c on aarch64 programs crashed at times while backtrace() was taken in
 * the handler (QEMU, glibc 2.36; the cause was not looked for).  Nothing can be compared then. */
static void backtrace_crashed(int number)
{
	siglongjmp(witness.crash, number);
}

static int backtrace_try(void **trace)
{
	return sigsetjmp(witness.crash, 1) ? -1 : backtrace(trace, TRACE);
}

/* backtrace() starts in the handler; what counts begins at the interrupted instruction.  False when
 * it crashed. */
static bool moment_trace(struct moment *moment, const void *trampoline)
{
	void *trace[TRACE];
	int count = backtrace_try(trace), at = 0;

	while (at < count && (uint64_t)(uintptr_t)trace[at] != moment->registers.ip)
		at++;
	/* Stopped in the trampoline, on the way out of a handler: the first one is our own. */
	if (at < count && trace[at] == trampoline)
		at++;
	for (; at < count; at++)
		moment->trace[moment->count++] = (uint64_t)(uintptr_t)trace[at];
	return count >= 0;
}

#if !defined(__x86_64__)
/* The time until the next stop must be longer than the way out of the handler, or the program would
 * stop at the same instruction for ever (about 100 cycles, counted in QEMU); it varies, with each
 * process too, so that code is met everywhere. */
static void counter_go_on(void)
{
	uint64_t period =
		STOP_CYCLES + (witness.count * 97 + (unsigned)getpid() * 61) % STOP_CYCLES;

	if (witness.counter < 0)
		return;
	ioctl(witness.counter, PERF_EVENT_IOC_PERIOD, &period);
	ioctl(witness.counter, PERF_EVENT_IOC_REFRESH, 1);
}

static void counter_open(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = STOP_CYCLES,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	struct f_owner_ex owner = {F_OWNER_TID, gettid()};

	witness.counter = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	if (witness.counter < 0)
		return;
	fcntl(witness.counter, F_SETFL, O_ASYNC);
	fcntl(witness.counter, F_SETSIG, SIGTRAP);
	fcntl(witness.counter, F_SETOWN_EX, &owner);
}
#endif

static void witness_note(int number, siginfo_t *info, void *context)
{
	struct unwind_registers registers = registers_of(context);
	size_t len = witness.top - registers.sp;
	struct moment *moment = &witness.moments[witness.count];

	(void)number;
	(void)info;
	if (len > STACK_SIZE)
		len = STACK_SIZE;
	if (witness.count == MOMENTS || witness.copied + len > COPIES)
		witness.wanted = 0;
#if defined(__x86_64__)
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
	if (witness.wanted)
		((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
#endif
	if (!witness.wanted)
		return;
	moment->registers = registers;
	moment->bytes = witness.copies + witness.copied;
	moment->len = len;
	memcpy(witness.copies + witness.copied, (const void *)(uintptr_t)registers.sp, len);
	witness.copied += len;
	if (moment_trace(moment, __builtin_return_address(0)))
		witness.count++;
#if !defined(__x86_64__)
	counter_go_on();
#endif
}

static void *pages(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

static void witness_prepare(void)
{
	struct sigaction action = {.sa_sigaction = witness_note, .sa_flags = SA_SIGINFO};
	struct sigaction crash = {.sa_handler = backtrace_crashed};
	pthread_attr_t attributes;
	void *low, *trace[4];
	size_t size;

	witness.moments = pages(MOMENTS * sizeof(*witness.moments));
	witness.copies = pages(COPIES);
	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstack(&attributes, &low, &size);
	witness.top = (uint64_t)(uintptr_t)low + size;
	pthread_attr_destroy(&attributes);
	backtrace(trace, 4); /* loads libgcc_s now and not in the handler */
	sigaction(SIGTRAP, &action, NULL);
	sigaction(SIGPROF, &action, NULL);
	sigaction(SIGSEGV, &crash, NULL);
}

/* The trap flag is set and cleared in the handler, so that no instruction here moves the stack
 * pointer behind the compiler's back. */
void witness_begin(void)
{
	if (SANITIZED)
		return;
	witness_prepare();
	witness.wanted = 1;
	witness_go_on();
#if !defined(__x86_64__)
	counter_open();
	counter_go_on();
	if (witness.counter < 0)
		setitimer(ITIMER_PROF, &(struct itimerval){{0, 1000}, {0, 1000}}, NULL);
#endif
}

void witness_go_on(void)
{
#if defined(__x86_64__)
	if (witness.wanted)
		raise(SIGTRAP);
#endif
}

void witness_end(void)
{
	witness.wanted = 0;
#if !defined(__x86_64__)
	if (witness.counter >= 0)
		close(witness.counter);
	setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
#endif
}

static struct image *module_open(const struct dl_phdr_info *info)
{
	const void *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct image *image = NULL;
	struct err err = {0};
	Elf64_Ehdr head;

	if (strncmp(info->dlpi_name, "linux-vdso", 10) == 0) {
		memcpy(&head, vdso, sizeof(head));
		image_open_bytes(vdso, head.e_shoff + (size_t)head.e_shnum * head.e_shentsize,
			"vdso", &image, &err);
	} else {
		image_open(*info->dlpi_name ? info->dlpi_name : "/proc/self/exe", &image, &err);
	}
	return image;
}

static int module_take(struct dl_phdr_info *info, size_t size, void *context)
{
	struct image *image = module_open(info);
	struct module module = {.bias = info->dlpi_addr, .is_library = *info->dlpi_name != 0};

	(void)size;
	(void)context;
	if (image)
		module.table = unwind_table_open(image);
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *head = &info->dlpi_phdr[i];

		if (head->p_type != PT_LOAD || !(head->p_flags & PF_X) ||
			witness.module_count == MODULES)
			continue;
		module.begin = info->dlpi_addr + head->p_vaddr;
		module.end = module.begin + head->p_memsz;
		witness.modules[witness.module_count++] = module;
	}
	return 0;
}

static const struct module *module_at(uint64_t addr)
{
	for (unsigned i = 0; i < witness.module_count; i++)
		if (addr >= witness.modules[i].begin && addr < witness.modules[i].end)
			return &witness.modules[i];
	return NULL;
}

static bool world_find(void *context, uint64_t addr, struct unwind_place *ret_place)
{
	const struct module *module = module_at(addr);

	(void)context;
	if (!module)
		return false;
	*ret_place = (struct unwind_place){.table = module->table, .bias = module->bias};
	return true;
}

static size_t moment_walk(const struct moment *moment, uint64_t *addrs, enum unwind_end *end)
{
	struct unwind_world world = {.machine = IMAGE_X86_64, .find = world_find};
	struct unwind_stack stack = {.bytes = moment->bytes,
		.len = moment->len,
		.base = moment->registers.sp,
		.cut = moment->len == STACK_SIZE};

#if defined(__aarch64__)
	world.machine = IMAGE_AARCH64;
#endif
	return unwind_sample(&world, &moment->registers, &stack, addrs, TRACE, end);
}

struct verdict {
	unsigned same, longer, cut, stopped, wrong, deepest;
};

/* Hand-written parts of the C library keep their frame in registers that are not followed: the
 * resolver of lazy binding in rbx, longjmp() in rdi.  The walk has to stop there, and to say so.
 * The stubs of aarch64 have no rules: backtrace() ends in them at once, and we go on. */
static void moment_judge(const struct moment *moment, struct verdict *verdict)
{
	uint64_t addrs[TRACE];
	enum unwind_end end;
	size_t count = moment_walk(moment, addrs, &end);
	bool begins = count <= (size_t)moment->count &&
		      memcmp(addrs, moment->trace, count * sizeof(*addrs)) == 0;
	const struct module *last = module_at(addrs[count - 1]);

	if (count > verdict->deepest)
		verdict->deepest = (unsigned)count;
	if (begins && end == UNWIND_ROOT && count == (size_t)moment->count)
		verdict->same++;
	else if (end == UNWIND_ROOT && moment->count == 1 && addrs[0] == moment->trace[0])
		verdict->longer++;
	else if (begins && end == UNWIND_TRUNCATED && moment->len == STACK_SIZE)
		verdict->cut++;
	else if (begins && end == UNWIND_BROKEN && last && last->is_library)
		verdict->stopped++;
	else if (verdict->wrong++ < 5) {
		printf("# wrong: %zu frames, end %d; backtrace() has %d\n", count, end,
			moment->count);
		for (size_t i = 0; i < count || i < (size_t)moment->count; i++)
			printf("#   %16llx %16llx\n", i < count ? (unsigned long long)addrs[i] : 0,
				i < (size_t)moment->count ? (unsigned long long)moment->trace[i]
							  : 0);
	}
}

int witness_report(unsigned depth)
{
	struct verdict verdict = {0};

	if (SANITIZED) {
		printf("# skip: a sanitizer forbids to copy the stack of others\n");
		return 77;
	}
	signal(SIGSEGV, SIG_DFL); /* a crash of ours is one */
	dl_iterate_phdr(module_take, NULL);
	for (unsigned i = 0; i < witness.count; i++)
		moment_judge(&witness.moments[i], &verdict);
	printf("# %u moments: %u as backtrace() has them, %u longer, %u cut, %u stopped, %u wrong; "
	       "deepest %u frames\n",
		witness.count, verdict.same, verdict.longer, verdict.cut, verdict.stopped,
		verdict.wrong, verdict.deepest);
#if defined(__x86_64__)
	return !witness.count || verdict.wrong || verdict.same < witness.count / 4 ||
	       verdict.deepest < depth;
#else /* one stop in a hundred instructions need not meet the deepest */
	(void)depth;
	return !witness.count || verdict.wrong;
#endif
}
