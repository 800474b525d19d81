/* inside_parts.h - what the parts of the engine inside the target share. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "wire/causal_inside.h"

/* ---- functions of the C library that are interposed ---- */

#define EXPORT __attribute__((visibility("default")))

/* The version that the C library began with; since 2.34 it must be named to be linked with. */
#if defined(__x86_64__)
#define FIRST "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define FIRST "GLIBC_2.17"
#endif

/* ---- inside_sampler.c: a signal for each period of a thread's own CPU time ---- */

struct inside_sampler {
	void *event;   /* mapped; NULL: none */
	int32_t timer; /* valid while has_timer */
	bool has_timer;
};

/* Sample the calling thread. @asyncsignalsafe */
enum wire_causal_sampler inside_sampler_open(
	struct inside_sampler *sampler, int signal, uint64_t period_ns);
void inside_sampler_close(struct inside_sampler *sampler);
/* When the sample was taken that brought the signal; `now_ns` where that is not known. */
uint64_t inside_sampler_time(const struct inside_sampler *sampler, uint64_t now_ns);

/* ---- inside_guard.c: nothing of ours may end the program ---- */

/* A system call as syscall() makes it, which is interposed. */
long inside_call(long number, const long arguments[6]);
/* Let `signal` do what the program wants it to, and throw away those that wait. */
void inside_signal_drop(int signal);
/* An alternate stack that our signals fit on, for the calling thread: false when it has none. */
bool inside_stack_open(void);
void inside_stack_close(void);

/* ---- inside_walk.c ---- */

/* What a sample counts for. */
struct inside_place {
	uint64_t addr; /* in the program's own code if it can be told, or where the thread is */
	bool hit;      /* that, or code of others on the way to it, is the target's */
};
struct inside_place inside_place_find(
	const struct wire_causal_inside *inside, const ucontext_t *context);

/* ---- inside.c: accounts of the threads of this process, each written by its own thread ---- */

/* Whether there is a tool at all: if not, interposed functions do nothing of their own. */
bool inside_is_on(void);
/* The signal of the samples. */
int inside_signal(void);
/* The program goes on without us: no samples, no pauses, no notes, from any thread.  Returns when
 * no thread is at any of it. */
void inside_end(enum wire_causal_seal why);

/* The calling thread is going to wait, and has waited.  `object`: what it waited for, if someone
 * gave it free; 0: a clock ended the wait. */
void inside_wait_begin(void);
void inside_wait_end(const volatile void *object);
/* The calling thread is about to give `object` free. */
void inside_release(const volatile void *object);

/* Begin and end of a thread of the program; a new thread goes on where its creator stands. */
struct inside_birth {
	uint64_t taken_ns;
	uint32_t epoch;
};
struct inside_birth inside_birth_now(void);
void inside_thread_begin(const struct inside_birth *birth);
void inside_thread_end(void);
