/* slack.h - where a process has executable memory that nothing uses: behind the last byte of a
 * file's code, up to the end of its page.
 *
 * Reads /proc only.  Owns nothing but the list it fills. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

struct slack {
	uint64_t at, bytes;
	bool left; /* rescue code of a tool that was killed is there, or a part of it */
};

typedef vec_of(struct slack) slack_vec;

/* The places of process `pid`, the kernel's own page (vdso) first: nobody unmaps it.  0 or a
 * negative errno. */
int slacks_find(pid_t pid, slack_vec *ret_slacks);
