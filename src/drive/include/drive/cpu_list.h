/* cpu_list.h - lists of processors as the kernel writes them: "0-3,8".
 *
 * Does: read and write them.  Does not: ask the machine.  Owns nothing.  Threads: any. */
#pragma once

#include <sched.h>
#include <stdbool.h>

#include "base/str.h"

/* 0, or -EINVAL when the text is no list (an empty one is not), -ERANGE past CPU_SETSIZE. */
int cpu_list_parse(const char *text, cpu_set_t *ret_cpus);

/* The shortest list, as the kernel would write it. */
void cpu_list_print(const cpu_set_t *cpus, struct str *out);
