/* ledger.c - the ledger as JSON: `rows[]` is flat, one for each explanation and run. */
#include "render/answer_json.h"

#include "analyze/hypothesis.h"
#include "analyze/ledger_history.h"

static void step_json(
	struct jsonw *json, const struct ledger_run *run, const struct ledger_step *step)
{

	jsonw_begin_object(json);
	jsonw_put_text(json, "run_id", run->run_id);
	jsonw_put_text(json, "target", run->target);
	jsonw_put_u64(json, "time_ns", run->time_ns);
	jsonw_put_text(json, "hypothesis", step->hypothesis);
	jsonw_put_text(json, "verdict", step->verdict);
	jsonw_put_text(json, "why", step->why);
	jsonw_put_number(json, "share", step->share, "what it explains was not measured");
	jsonw_put_bool(json, "noisy", step->noisy);
	jsonw_put_text_or(
		json, "before", step->before, "it was not in an earlier run of this program");
	jsonw_put_bool(json, "changed", *step->changed != '\0');
	jsonw_open_object(json, "numbers");
	for (uint32_t i = 0; i < step->input_count; i++)
		jsonw_put_number(json, step->inputs[i].name, step->inputs[i].value,
			"it was not measured in that run");
	jsonw_end_object(json);
	jsonw_end_object(json);
}

void ledger_json(struct jsonw *json, const struct ledger_history *history)
{
	jsonw_put_u64(json, "runs", history->count);
	jsonw_put_u64(json, "unreadable_lines", history->skipped);
	jsonw_open_array(json, "rows");
	for (uint32_t i = 0; i < history->count; i++)
		for (uint32_t j = 0; j < history->runs[i].step_count; j++)
			step_json(json, &history->runs[i], &history->runs[i].steps[j]);
	jsonw_end_array(json);
}
