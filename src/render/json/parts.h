/* parts.h - members that more than one command has. */
#pragma once

#include "base/jsonw.h"

struct bench_command;
struct metric_result;
struct profile_quality;
struct site_place;
struct site_summary;

/* "quality": how many samples, of what, how good. */
void quality_json(struct jsonw *w, const struct profile_quality *quality);

/* "metrics": an array of them. */
void metric_results_json(
	struct jsonw *w, const struct metric_result *rows, uint32_t count, bool simulated);

/* "runs" of one command, and its "summary". */
void bench_command_json(struct jsonw *w, const struct bench_command *command);

/* Of branches and cache: a place; "target", "engine", "arch", "user_only", "metrics". */
void site_place_json(struct jsonw *w, const char *key, const struct site_place *place);
void site_head_json(struct jsonw *w, const struct site_summary *summary);
