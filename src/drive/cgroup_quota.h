/* cgroup_quota.h - is the CPU time of our control group limited: private to the bench runner. */
#pragma once

#include "base/str.h"

/* The path of the cpu.stat that counts how often we were throttled: of the nearest control group
 * with a CPU quota, from ours upwards.  Nothing is added when there is no quota. */
void cgroup_quota_find(struct str *ret_path);
