/* pmu_flush.h - lines out of the caches, for work that has to go to memory: private to pmu_*.c. */
#pragma once

static inline void line_flush(const void *line)
{
#if defined(__x86_64__)
	__asm__ volatile("clflush (%0)" ::"r"(line) : "memory");
#elif defined(__aarch64__)
	__asm__ volatile("dc civac, %0" ::"r"(line) : "memory");
#endif
}

static inline void flush_wait(void)
{
#if defined(__x86_64__)
	__asm__ volatile("mfence" ::: "memory");
#elif defined(__aarch64__)
	__asm__ volatile("dsb ish" ::: "memory");
#endif
}
