/* assay_spans.h - how long the pieces of a program take, counted in fixed memory.
 *
 * Part of assay_events.h, which is what everybody includes.  A place has one accumulator (4.8 KiB):
 * the sum, the longest, and a log-linear histogram of 16 buckets for each doubling, so that a
 * percentile is within 1/32 of the truth.  Any number of threads; additions are relaxed atomics.
 * Nothing is timed unless ASSAY_EVENTS names a place for the lines. */
#ifndef ASSAY_SPANS_H
#define ASSAY_SPANS_H

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

enum { ASSAY_STEPS = 16, ASSAY_BUCKETS = ASSAY_STEPS * 38 };

struct assay_span {
	struct assay_span *next;
	const char *name, *category;
	int listed;
	unsigned long long total_ns, max_ns, buckets[ASSAY_BUCKETS];
};

/* The spans that were visited; one list in a program or library, whoever includes this. */
__attribute__((weak, visibility("hidden"))) struct assay_span *assay_spans;

static inline unsigned long long assay_now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (unsigned long long)now.tv_sec * 1000000000ULL + (unsigned long long)now.tv_nsec;
}

/* One of each in a program or library: 0 not asked yet, -1 off, else the descriptor + 1. */
__attribute__((weak, visibility("hidden"))) int assay_events_fd;
__attribute__((weak, visibility("hidden"))) unsigned long long assay_events_began_ns;

static inline int assay_events_ask(void)
{
	/* A program with more rights than its user writes to no file of the user's choice. */
	const char *where = getauxval(AT_SECURE) ? NULL : getenv("ASSAY_EVENTS");
	int fd = -1, expected = 0;

	if (where && *where && strspn(where, "0123456789") == strlen(where))
		fd = fcntl(atoi(where), F_GETFD) < 0 ? -1 : atoi(where);
	else if (where && *where)
		fd = open(where, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	__atomic_store_n(
		&assay_events_began_ns, assay_now_ns(CLOCK_MONOTONIC), __ATOMIC_RELAXED);
	/* Of threads that ask at once one wins. */
	(void)__atomic_compare_exchange_n(&assay_events_fd, &expected, fd < 0 ? -1 : fd + 1, 0,
		__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	return __atomic_load_n(&assay_events_fd, __ATOMIC_ACQUIRE) > 0;
}

static inline int assay_events_on(void)
{
	int fd = __atomic_load_n(&assay_events_fd, __ATOMIC_ACQUIRE);

	return __builtin_expect(fd < 0, 1) ? 0 : fd > 0 ? 1 : assay_events_ask();
}

/* Below 16 ns each has its own; what takes more than 36 minutes is in the last one. */
static inline unsigned assay_bucket_of(unsigned long long ns)
{
	unsigned power, bucket;

	if (ns < ASSAY_STEPS)
		return (unsigned)ns;
	power = 63u - (unsigned)__builtin_clzll(ns);
	bucket = (power - 3) * ASSAY_STEPS + (unsigned)((ns >> (power - 4)) % ASSAY_STEPS);
	return bucket < ASSAY_BUCKETS ? bucket : ASSAY_BUCKETS - 1;
}

/* The time in the middle of a bucket. */
static inline unsigned long long assay_bucket_ns(unsigned bucket)
{
	unsigned shift;

	if (bucket < ASSAY_STEPS)
		return bucket;
	shift = bucket / ASSAY_STEPS - 1;
	return ((unsigned long long)(ASSAY_STEPS + bucket % ASSAY_STEPS) << shift) +
	       ((1ULL << shift) >> 1);
}

static inline void assay_span_add(struct assay_span *span, unsigned long long ns)
{
	unsigned long long max_ns = __atomic_load_n(&span->max_ns, __ATOMIC_RELAXED);

	if (!__atomic_exchange_n(&span->listed, 1, __ATOMIC_RELAXED)) {
		span->next = __atomic_load_n(&assay_spans, __ATOMIC_RELAXED);
		while (!__atomic_compare_exchange_n(&assay_spans, &span->next, span, 1,
			__ATOMIC_RELEASE, __ATOMIC_RELAXED))
			;
	}
	__atomic_fetch_add(&span->total_ns, ns, __ATOMIC_RELAXED);
	__atomic_fetch_add(&span->buckets[assay_bucket_of(ns)], 1ULL, __ATOMIC_RELAXED);
	while (ns > max_ns && !__atomic_compare_exchange_n(&span->max_ns, &max_ns, ns, 1,
				      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* Add the span to the sum of its name, and return how often it was visited. */
static inline unsigned long long assay_span_sum(
	const struct assay_span *span, struct assay_span *sum)
{
	unsigned long long count = 0, one;

	sum->total_ns += __atomic_load_n(&span->total_ns, __ATOMIC_RELAXED);
	one = __atomic_load_n(&span->max_ns, __ATOMIC_RELAXED);
	sum->max_ns = one > sum->max_ns ? one : sum->max_ns;
	for (unsigned i = 0; i < ASSAY_BUCKETS; i++) {
		one = __atomic_load_n(&span->buckets[i], __ATOMIC_RELAXED);
		sum->buckets[i] += one;
		count += one;
	}
	return count;
}

/* The time that `permille` of `count` visits did not pass (nearest rank). */
static inline unsigned long long assay_span_percentile(
	const struct assay_span *sum, unsigned long long count, unsigned permille)
{
	unsigned long long rank = (count * permille + 999) / 1000, seen = 0, ns;

	for (unsigned i = 0; i < ASSAY_BUCKETS; i++) {
		seen += sum->buckets[i];
		if (seen < rank || !seen)
			continue;
		ns = assay_bucket_ns(i);
		return ns < sum->max_ns ? ns : sum->max_ns;
	}
	return sum->max_ns;
}

/* Whether a span further on in the list, that is an older one, has the same name. */
static inline int assay_span_is_repeated(const struct assay_span *span)
{
	for (const struct assay_span *other = span->next; other; other = other->next)
		if (strcmp(other->name, span->name) == 0)
			return 1;
	return 0;
}

struct assay_timer {
	struct assay_span *span; /* NULL: nobody listens */
	unsigned long long began_ns;
};

static inline struct assay_timer assay_span_begin(struct assay_span *span)
{
	struct assay_timer timer = {NULL, 0};

	if (assay_events_on()) {
		timer.span = span;
		timer.began_ns = assay_now_ns(CLOCK_MONOTONIC);
	}
	return timer;
}

static inline void assay_span_end(struct assay_timer *timer)
{
	if (timer->span)
		assay_span_add(timer->span, assay_now_ns(CLOCK_MONOTONIC) - timer->began_ns);
}

#define ASSAY_SPAN_JOIN_OF(a, b) a##b
#define ASSAY_SPAN_JOIN(a, b) ASSAY_SPAN_JOIN_OF(a, b)

/* The time from here to the end of the block, however it is left.  `category` is "CPU", "IO",
 * "alloc" or "lock"; both are texts that stay the same. */
#define ASSAY_SPAN(name, category)                                                                 \
	static struct assay_span ASSAY_SPAN_JOIN(assay_span_, __LINE__) = {                        \
		NULL, name, category, 0, 0, 0, {0}};                                               \
	struct assay_timer ASSAY_SPAN_JOIN(assay_timer_, __LINE__)                                 \
		__attribute__((cleanup(assay_span_end), unused)) =                                 \
			assay_span_begin(&ASSAY_SPAN_JOIN(assay_span_, __LINE__))

#endif
