/* assay.h - progress points for `assay causal`: where your program has done one unit of work.
 *
 *     #include <assay.h>
 *     while (next(&request)) {
 *             ASSAY_SCOPE("request");   // its latency: from here to the end of the block
 *             answer(&request);
 *             ASSAY_PROGRESS;           // its throughput
 *     }
 *
 * Header only: nothing to link (-ldl before glibc 2.34), nothing to ship.  Without assay a visit
 * costs a load and a branch, under assay one relaxed atomic addition.  A name is a text of at most
 * 103 bytes that stays the same.  For C and C++ with gcc or clang; any number of threads.  Programs
 * that use coz.h need no change: assay knows its points too. */
#ifndef ASSAY_H
#define ASSAY_H

#include <dlfcn.h>
#include <stddef.h>

enum assay_point_type { ASSAY_THROUGHPUT = 1, ASSAY_BEGINNING = 2, ASSAY_ENDING = 3 };

/* What one place in the program knows of its counter. */
struct assay_place {
	size_t *counter; /* NULL: assay is not here */
	int asked;
};

/* The counter of a place: asked for by its first visit.  Threads that ask at once get the same. */
static inline size_t *assay_counter(struct assay_place *place, int type, const char *name)
{
	if (!__atomic_load_n(&place->asked, __ATOMIC_ACQUIRE)) {
		void *(*find)(int, const char *) = NULL;

		/* The function stands in libassay-rt.so, which assay preloads. */
		*(void **)&find = dlsym(RTLD_DEFAULT, "assay_point");
		__atomic_store_n(&place->counter, find ? (size_t *)find(type, name) : NULL,
			__ATOMIC_RELAXED);
		__atomic_store_n(&place->asked, 1, __ATOMIC_RELEASE);
	}
	return __atomic_load_n(&place->counter, __ATOMIC_RELAXED);
}

static inline void assay_visit(size_t *counter)
{
	if (counter)
		__atomic_fetch_add(counter, (size_t)1, __ATOMIC_RELAXED);
}

static inline void assay_leave(size_t **counter)
{
	assay_visit(*counter);
}

/* The counter of the place where this stands. */
#define ASSAY_HERE(type, name)                                                                     \
	(__extension__({                                                                           \
		static struct assay_place assay_here;                                              \
		assay_counter(&assay_here, type, name);                                            \
	}))

#define ASSAY_TEXT_OF(x) #x
#define ASSAY_TEXT(x) ASSAY_TEXT_OF(x)
#define ASSAY_JOIN_OF(a, b) a##b
#define ASSAY_JOIN(a, b) ASSAY_JOIN_OF(a, b)

/* One unit of work is done; the point is called FILE:LINE, or as you say. */
#define ASSAY_PROGRESS ASSAY_PROGRESS_NAMED(__FILE__ ":" ASSAY_TEXT(__LINE__))
#define ASSAY_PROGRESS_NAMED(name) assay_visit(ASSAY_HERE(ASSAY_THROUGHPUT, name))

/* Something begins, and ends later, perhaps in another thread: its latency. */
#define ASSAY_BEGIN(name) assay_visit(ASSAY_HERE(ASSAY_BEGINNING, name))
#define ASSAY_END(name) assay_visit(ASSAY_HERE(ASSAY_ENDING, name))

/* The same from here to the end of the block, however it is left. */
#define ASSAY_SCOPE(name)                                                                          \
	ASSAY_BEGIN(name);                                                                         \
	size_t *ASSAY_JOIN(assay_scope_, __LINE__) __attribute__((cleanup(assay_leave), unused)) = \
		ASSAY_HERE(ASSAY_ENDING, name)

/* Spans and events, for a log of the run.  Who copies this header alone does without. */
#if defined(__has_include)
#if __has_include("assay_events.h")
#include "assay_events.h"
#endif
#endif

#endif
