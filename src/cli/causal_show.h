/* causal_show.h - the answer of causal experiments, on the screen and in files. */
#pragma once

#include "cli.h"

/* Show what the experiments of `run` say, and write the files that --coz, --markdown and --svg
 * name. `judge` names the progress point, NULL: the one there is.  An enum exit_status, or a
 * negative errno. */
int causal_show(
	struct cli *cli, const struct run *run, const char *judge, bool to_stderr, struct err *err);

/* `assay causal --show RUN...`: the same from stored runs, all of them together. */
int causal_show_stored(struct cli *cli, struct err *err);
