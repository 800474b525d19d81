/* metric.h - the results of metrics as JSON: one form for every command that has some. */
#pragma once

#include "analyze/metric.h"
#include "base/jsonw.h"

/* The member "metrics": an array of them. */
void metric_results_json(
	struct jsonw *w, const struct metric_result *rows, uint32_t count, bool simulated);
