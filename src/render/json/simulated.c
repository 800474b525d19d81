/* simulated.c - "data" of `assay topdown --engine sim --json`; docs/commands/topdown.md
 * describes each member. */
#include "render/cpu_json.h"

#include <math.h>

#include "analyze/verdict.h"
#include "render/simulated.h"

static void counts_json(
	struct jsonw *w, const struct simulated_counts *counts, const uint64_t *values)
{
	jsonw_open_object(w, "simulated");
	for (unsigned i = 0; i < SIMULATED_COUNTS; i++)
		if (counts->known[i])
			jsonw_put_u64(w, simulated_count_name((enum simulated_count)i), values[i]);
		else
			jsonw_put_missing(w, simulated_count_name((enum simulated_count)i),
				"it was not simulated");
	jsonw_end_object(w);
}

static void site_json(struct jsonw *w, const struct simulated_view *view,
	const struct simulated_site *site, bool judged)
{
	const char *partial = "the simulation was cut short: rates only";
	const char *none = view->counts.partial ? partial : "there was none";

	jsonw_begin_object(w);
	jsonw_put_text(w, "function", site->row.function);
	jsonw_put_text(w, "file", str_or_null(site->row.file));
	if (!judged)
		jsonw_put_u64(w, "line", site->row.line);
	jsonw_put_u64(w, "samples", site->samples);
	jsonw_put_u64(w, "time_ns", (uint64_t)site->time_ns);
	jsonw_put_double(w, "time_share", site->time_share);
	jsonw_put_number(w, "ns_per_instruction", site->ns_per_instruction, none);
	jsonw_put_number(w, "ns_per_l1_miss", site->ns_per_l1_miss, none);
	jsonw_put_number(w, "ns_per_ll_miss", site->ns_per_ll_miss, none);
	jsonw_put_number(w, "ns_per_mispredict", site->ns_per_mispredict, none);
	jsonw_put_number(w, "l1_mpki", site->l1_mpki, "no instruction was simulated");
	jsonw_put_number(w, "ll_mpki", site->ll_mpki, "no instruction was simulated");
	jsonw_put_number(
		w, "mispredict_mpki", site->mispredict_mpki, "no instruction was simulated");
	if (judged) {
		jsonw_put_text(w, "category", verdict_category_word(site->category));
		jsonw_put_text(w, "confidence", verdict_confidence_word(site->confidence));
		jsonw_put_text(w, "why", site->why);
	}
	counts_json(w, &view->counts, site->row.counts);
	jsonw_end_object(w);
}

static void sites_json(struct jsonw *w, const struct simulated_view *view, bool functions)
{
	const struct simulated_site *sites = functions ? view->functions : view->lines;
	uint32_t count = functions ? view->function_count : view->line_count;

	jsonw_open_array(w, functions ? "functions" : "lines");
	for (uint32_t i = 0; i < count && sites[i].samples; i++)
		site_json(w, view, &sites[i], functions);
	jsonw_end_array(w);
}

static void metric_json(struct jsonw *w, const char *name, double value)
{
	jsonw_begin_object(w);
	jsonw_put_text(w, "name", name);
	jsonw_put_number(w, "value", value, "no instruction was simulated");
	jsonw_put_text(w, "unit", "per 1,000 instructions");
	jsonw_put_bool(w, "simulated", true);
	jsonw_end_object(w);
}

static void metrics_json(struct jsonw *w, const struct simulated_view *view)
{
	jsonw_open_array(w, "metrics");
	metric_json(w, "l1_mpki", view->l1_mpki);
	metric_json(w, "ll_mpki", view->ll_mpki);
	metric_json(w, "branch_mpki", view->mispredict_mpki);
	jsonw_end_array(w);
}

static void costs_json(struct jsonw *w, const struct simulated_costs *costs)
{
	jsonw_open_object(w, "costs");
	jsonw_put_bool(w, "measured", costs->measured);
	jsonw_put_double(w, "cycle_ns", costs->cycle_ns);
	jsonw_put_double(w, "memory_ns", costs->memory_ns);
	jsonw_put_double(w, "line_ns", costs->line_ns);
	jsonw_put_double(w, "plain_line_ns", costs->plain_ns);
	jsonw_put_double(w, "cache_ns", costs->cache_ns);
	jsonw_put_number(w, "far_cache_ns", costs->far_ns > 0 ? costs->far_ns : (double)NAN,
		"this machine has no L3, or does not describe it");
	jsonw_put_double(w, "mispredict_ns", costs->mispredict_ns);
	jsonw_end_object(w);
}

static void loop_json(struct jsonw *w, const struct hot_loop *loop)
{
	if (!loop) {
		jsonw_put_missing(w, "loop", "no function waits for its own results");
		return;
	}
	if (loop->missing) {
		jsonw_put_missing(w, "loop", loop->missing);
		return;
	}
	jsonw_open_object(w, "loop");
	jsonw_put_text(w, "function", loop->function);
	jsonw_put_u64(w, "addr", loop->addr);
	jsonw_put_double(w, "samples_share", loop->share);
	jsonw_put_texts(w, "instructions", loop->lines, loop->count);
	jsonw_put_text_or(w, "model", loop->model, loop->no_model);
	jsonw_put_bool(w, "stand_in", loop->stand_in);
	jsonw_put_text(w, "bottleneck", loop->bottleneck);
	jsonw_put_number(w, "predicted_cycles", loop->predicted_cycles, "there is no prediction");
	jsonw_put_number(w, "throughput_cycles", loop->throughput_cycles, "there is no prediction");
	jsonw_put_number(
		w, "measured_cycles", loop->measured_cycles, "the loop is not the whole function");
	jsonw_end_object(w);
}

static void categories_json(struct jsonw *w, const struct simulated_view *view)
{
	jsonw_open_object(w, "category_shares");
	for (unsigned c = 0; c < VERDICT_CATEGORIES; c++)
		if (view->category_share[c] > 0)
			jsonw_put_double(w, verdict_category_word((enum verdict_category)c),
				view->category_share[c]);
	jsonw_end_object(w);
}

void simulated_json(
	struct jsonw *w, const struct simulated_view *view, const struct simulated_page *page)
{
	jsonw_put_text(w, "engine", "sim");
	jsonw_put_text(w, "engine_reason", str_or_null(page->reason));
	jsonw_put_text(w, "arch", str_or_null(page->cpu));
	jsonw_put_bool(w, "partial_simulation", view->counts.partial);
	jsonw_put_u64(w, "time_ns", (uint64_t)view->time_ns);
	jsonw_put_u64(w, "samples", view->samples);
	jsonw_put_double(w, "kernel_share", view->kernel_share);
	jsonw_put_double(w, "joined_share", view->joined_share);
	metrics_json(w, view);
	counts_json(w, &view->counts, view->counts.totals);
	costs_json(w, &view->costs);
	categories_json(w, view);
	sites_json(w, view, true);
	sites_json(w, view, false);
	loop_json(w, page->loop);
	jsonw_put_texts(w, "not_simulated", view->not_simulated, view->not_simulated_count);
	verdict_json(w, &view->verdict);
	jsonw_put_text(w, "next", view->verdict.next);
}
