/* kept.c - a program that looks after itself, for those who kill the tool that measures it.
 *
 *     kept LOG ROUNDS [END]     two threads hand work to each other, for so many rounds or until
 *                               there is a file END
 *
 * Appends "begin PID" to LOG, and at its end "end PID ok ROUNDS", or in place of ok what is not as
 * it was in the beginning: the bytes of the code (its own and that of its libraries), the handlers
 * of signals, the mask, or a sum that is computed anew in each round. */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "assay.h"

enum { ITERATIONS = 40000, SIGNALS = 64 };

/* As the kernel has it: libc hides some. */
struct action {
	uint64_t handler, flags, leave, mask;
};

struct kept {
	uint64_t code, mask;
	struct action actions[SIGNALS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static unsigned turn; /* 0: first thread, 1: second, 2: end */
static uint64_t rounds;
static const char *volatile wrong;

__attribute__((noinline)) static uint64_t work(uint64_t seed)
{
	uint64_t x = seed;

	for (unsigned i = 0; i < ITERATIONS; i++)
		x = x * 6364136223846793005UL + 1442695040888963407UL;
	return x;
}

__attribute__((noinline)) static uint64_t work_a(void)
{
	uint64_t seed = 1;

	__asm__ volatile("" : "+r"(seed)); /* not computed by the compiler */
	return work(seed);
}

__attribute__((noinline)) static uint64_t work_b(void)
{
	uint64_t seed = 2;

	__asm__ volatile("" : "+r"(seed));
	return work(seed);
}

__attribute__((noinline)) static void progress(void)
{
	rounds++;
	ASSAY_PROGRESS_NAMED("round");
	__asm__ volatile("" : : : "memory");
}

/* ---- what has to stay ---- */

static int code_add(struct dl_phdr_info *file, size_t size, void *sum)
{
	(void)size;
	for (unsigned i = 0; i < file->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &file->dlpi_phdr[i];
		const unsigned char *at = (const void *)(file->dlpi_addr + segment->p_vaddr);

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		for (size_t k = 0; k < segment->p_memsz; k++)
			*(uint64_t *)sum = *(uint64_t *)sum * 31 + at[k];
	}
	return 0;
}

static void kept_read(struct kept *ret_kept)
{
	*ret_kept = (struct kept){0};
	dl_iterate_phdr(code_add, &ret_kept->code);
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &ret_kept->mask, 8);
	for (long i = 0; i < SIGNALS; i++)
		syscall(SYS_rt_sigaction, i + 1, NULL, &ret_kept->actions[i], 8);
}

static const char *kept_differs(const struct kept *a, const struct kept *b)
{
	return a->code != b->code				    ? "code"
	       : a->mask != b->mask				    ? "mask"
	       : memcmp(a->actions, b->actions, sizeof(a->actions)) ? "handlers"
								    : wrong;
}

/* ---- two threads ---- */

static void turn_take(unsigned whose)
{
	pthread_mutex_lock(&lock);
	while (turn != whose && turn != 2)
		pthread_cond_wait(&turned, &lock);
	pthread_mutex_unlock(&lock);
}

static void turn_give(unsigned to)
{
	pthread_mutex_lock(&lock);
	if (turn != 2)
		turn = to;
	pthread_cond_broadcast(&turned);
	pthread_mutex_unlock(&lock);
}

static void *second(void *unused)
{
	uint64_t first = work_b();

	while (turn_take(1), turn != 2) {
		if (work_b() != first)
			wrong = "second";
		turn_give(0);
	}
	return unused;
}

static void first(uint64_t most, const char *end)
{
	uint64_t sum = work_a();
	struct stat file;

	while (rounds < most && !(end && rounds % 16 == 0 && stat(end, &file) == 0)) {
		turn_take(0);
		if (work_a() != sum)
			wrong = "first";
		progress();
		turn_give(1);
	}
	turn_give(2);
}

int main(int argc, char **argv)
{
	struct kept before, after;
	pthread_t thread;
	const char *what;
	char line[96];
	int log = argc > 2 ? open(argv[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : -1;
	int len = snprintf(line, sizeof(line), "begin %d\n", (int)getpid());

	if (log < 0 || write(log, line, (size_t)len) != len)
		return 2;
	pthread_create(&thread, NULL, second, NULL); /* libc sets a handler for that */
	kept_read(&before);
	first(strtoul(argv[2], NULL, 10), argc > 3 ? argv[3] : NULL);
	pthread_join(thread, NULL);
	kept_read(&after);
	what = kept_differs(&before, &after);
	len = snprintf(line, sizeof(line), "end %d %s %lu\n", (int)getpid(), what ? what : "ok",
		(unsigned long)rounds);
	return write(log, line, (size_t)len) == len ? 0 : 2;
}
