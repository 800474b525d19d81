/* branch_filter.h - which branches the PMU is asked to record.
 *
 * Words as `perf record -j` has them.  A word that no PMU can filter by (uncond, syscall...) asks
 * for all branches; whoever reads them leaves out the rest.  Owns nothing. */
#pragma once

#include <stdint.h>

#include "base/err.h"

/* "cond,ind_call" as bits of branch_sample_type; NULL or "": all branches.  -EINVAL with the words
 * there are. */
int branch_filter_parse(const char *text, uint64_t *ret_bits, struct err *err);
