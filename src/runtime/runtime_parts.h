/* runtime_parts.h - the parts of the runtime, each started by its constructor; none of them fails
 * aloud.
 *
 * Two libraries are made of them.  libassay-rt.so has causal.c alone and interposes nothing.
 * libassay-rt-interpose.so, loaded only when the tool has no kernel side, has the inside_* parts
 * too; where they are not, their functions are NULL. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct wire_causal_board;
struct wire_causal_seat;

/* What the kernel tells of a process, 0: this one; false when it does not.  Made of the calls that
 * every start of a program makes (open for reading, read, close), so that no filter of system calls
 * that a program can start under kills for them. */
struct runtime_status {
	long parent;
	long sandbox, filters; /* the mode of seccomp, and how many; -1: not known (before 5.9) */
};
bool runtime_status_read(long pid, struct runtime_status *ret_status);

/* Find the tool that runs causal experiments on this process, if there is one. */
void runtime_causal_start(void);

/* Pay in place what the calling thread owes, counted from seat->asked_ns. @asyncsignalsafe */
void runtime_causal_pay(struct wire_causal_seat *seat);

typedef void runtime_handler(int signal, siginfo_t *info, void *context);

/* Take the third part of the memory and return the handler of samples; NULL: it is not ours. */
__attribute__((weak, visibility("hidden"))) runtime_handler *runtime_inside_open(
	struct wire_causal_board *board, struct wire_causal_seat *seats, int fd);
/* The handler is set for `signal`: sample the calling thread, and those that it starts. */
__attribute__((weak, visibility("hidden"))) void runtime_inside_begin(int signal);
/* In a forked child, which is another process. */
__attribute__((weak, visibility("hidden"))) void runtime_inside_leave(void);
