/* leftover.h - what an earlier tool left in a process, because it was killed.
 *
 * Does: find it by the head of the code (wire/causal_blob.h).  Does not: touch it.  Reads /proc.
 * Owns: nothing but the list it fills. */
#pragma once

#include <stdbool.h>

#include "base/vec.h"
#include "inject.h"

typedef vec_of(struct injection) injection_vec;

/* All that is in process `pid` and that nobody uses: its tool has ended, or it came by a fork. */
void leftovers_find(pid_t pid, injection_vec *ret_left);

/* Whether the code of `injection` is in its process: after an exec it is not. */
bool leftover_is_there(const struct injection *injection);

/* When a process was started, in clock ticks since boot; 0: there is none, or it has ended. */
uint64_t process_start(pid_t pid);
