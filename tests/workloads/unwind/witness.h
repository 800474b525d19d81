/* witness.h - a program that stops after each of its instructions and notes where it is.
 *
 * Between witness_begin() and witness_end() every instruction of this thread (aarch64: about
 * every hundredth) raises a signal, whose handler notes the registers, the stack and what glibc's
 * backtrace() finds.  witness_report() then has our unwinder walk the noted bytes, and compares. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

void witness_begin(void);
void witness_end(void);

/* A handler is entered without the trap flag: it has to ask again. */
void witness_go_on(void);

/* Exit status for main(): 0 when all stacks agree and the deepest has at least `depth` frames
 * (where every instruction was a stop).
 * Lines of "# ..." say what was seen. */
int witness_report(unsigned depth);

#ifdef __cplusplus
}
#endif

#define OUT_OF_LINE __attribute__((noinline))
#define BARRIER() __asm__ volatile("" ::: "memory")
