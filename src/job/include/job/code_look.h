/* code_look.h - a look at the machine code below the hot stacks of a profile: what is in a loop,
 * and whose loop it is.
 *
 * Does: read the files of the program and its libraries.  Does not: run anything.
 * Owns nothing: the table is in the caller's arena. */
#pragma once

#include "base/arena.h"

struct hot_code;
struct run;

/* NULL: there is no profile, or it has no samples. */
const struct hot_code *code_look_take(const struct run *profile, struct arena *arena);
