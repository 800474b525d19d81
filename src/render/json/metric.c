/* metric.c - the "metrics" of every document that has some. */
#include "parts.h"

#include "analyze/metric.h"

void metric_results_json(
	struct jsonw *w, const struct metric_result *rows, uint32_t count, bool simulated)
{
	jsonw_open_array(w, "metrics");
	for (uint32_t i = 0; i < count; i++) {
		const struct metric_result *row = &rows[i];

		jsonw_begin_object(w);
		jsonw_put_text(w, "name", row->metric->name);
		jsonw_put_known_number(w, "value", row->known, row->value, row->reason);
		jsonw_put_text(w, "unit", row->metric->unit);
		jsonw_put_text(w, "assessment", metric_assessment_word(row->assessment));
		jsonw_put_text_or(w, "threshold", str_or_null(row->metric->threshold),
			"this metric is not judged");
		jsonw_put_text(w, "meaning", row->metric->meaning);
		jsonw_put_bool(w, "simulated", simulated);
		if (*row->core)
			jsonw_put_text(w, "core", row->core);
		if (*row->modifiers)
			jsonw_put_text(w, "modifiers", row->modifiers);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}
