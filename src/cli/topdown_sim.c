/* topdown_sim.c - `assay topdown --engine sim`: this build has no simulator, and says so. */
#include <errno.h>

#include "topdown_parts.h"

int topdown_simulated(struct cli *cli, const char *reason, struct err *err)
{
	(void)cli;
	if (*reason)
		err_set(err, ERR_UNAVAILABLE, ENOTSUP,
			"%s, and this build of assay has no simulator to take its place", reason);
	else
		err_set(err, ERR_UNAVAILABLE, ENOTSUP, "this build of assay has no simulator");
	err_hint(err, "`assay doctor` tells what would bring a PMU; `assay record` needs none");
	return -ENOTSUP;
}
