/* import_runs.h - what the readers of benchmark results share: one JSON document, commands, and
 * their executions.
 *
 * What such a file does not hold is left unknown (WIRE_EXECUTION_NO_USAGE and its friends), never
 * 0.  None of these tools measures its commands in turns by default and none writes down the order,
 * so every run is marked `blocked_order`.  Owns nothing that outlives the call. */
#pragma once

#include <jansson.h>

#include "import_format.h"

struct runs_out {
	const struct wire_sink *sink;
	struct import_report *report;
};

/* True when the text begins as a JSON object and each of `keys` (NULL-terminated) stands in it,
 * in quotes. */
bool runs_text_has(struct import_text text, const char *const *keys, struct quota *quota);

/* The document, or NULL with the damage told.  Give it back with json_decref(). */
json_t *runs_load(struct import_text text, struct import_report *report);

/* What every benchmark import begins with: its kind, and that the order is not known. */
int runs_begin(struct runs_out *out, const char *kind);

/* The next command.  A text that does not split into words is quoted as one. */
int runs_command(struct runs_out *out, const char *text);

/* One execution of command `execution->command`; head and number are filled in here. */
int runs_execution(struct runs_out *out, struct wire_execution *execution);

/* A property of one command: "mean_user_ns_of_command_2". */
int runs_quality(struct runs_out *out, const char *name, uint32_t command, double value);

/* A number of `unit_ns` as whole nanoseconds; false, and counted, when it is none or out of range.
 */
bool runs_time(struct runs_out *out, const json_t *number, double unit_ns, uint64_t *ret_ns);
