/* target_status.c - how the program ended, as the exit status of the command. */
#include "cli.h"
#include "model/run.h"

int cli_target_status(const struct cli *cli, const struct run *run)
{
	vec_foreach (const struct execution_packed, e, &run->executions) {
		/* One that assay stopped at the limit did not fail. */
		if ((!e->exit_status && !e->signal) || (e->flags & EXECUTION_TIMED_OUT))
			continue;
		if (!cli->target_status)
			return EXIT_TARGET;
		return e->signal ? 128 + e->signal : e->exit_status;
	}
	return EXIT_DONE;
}
