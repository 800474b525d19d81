/* bench.c - "data" of `assay bench --json`; docs/commands/bench.md describes each member. */
#include "render/compare_json.h"

#include <math.h>

#include "analyze/bench.h"
#include "parts.h"

/* The far tail from fewer values than that is a careful guess, whatever its interval. */
#define TAIL_SHARE 0.99
enum { TAIL_COUNT = 1000 };

static const char few[] = "it needs more runs";

static const char foreign[] = "the imported file does not have it";

static void usage_json(struct jsonw *w, const struct bench_run *run)
{
	jsonw_put_known(w, "cpu_ns", run->has_cpu, run->user_ns + run->system_ns, foreign);
	jsonw_put_known(w, "user_ns", run->has_usage, run->user_ns, foreign);
	jsonw_put_known(w, "system_ns", run->has_usage, run->system_ns, foreign);
	jsonw_put_known(w, "max_rss_bytes", run->has_rss, run->max_rss_bytes, foreign);
	jsonw_put_known(w, "minor_faults", run->has_usage, run->minor_faults, foreign);
	jsonw_put_known(w, "major_faults", run->has_usage, run->major_faults, foreign);
	jsonw_put_known(w, "voluntary_switches", run->has_usage, run->voluntary_switches, foreign);
	jsonw_put_known(
		w, "involuntary_switches", run->has_usage, run->involuntary_switches, foreign);
}

static void noise_json(struct jsonw *w, unsigned noise)
{
	jsonw_open_array(w, "noise");
	for (unsigned bit = 1; bit < BENCH_NOISE_KINDS; bit <<= 1)
		if (noise & bit)
			jsonw_text(w, bench_noise_text(bit));
	jsonw_end_array(w);
}

static void run_json(struct jsonw *w, const struct bench_run *run)
{
	const char *uncorrected = bench_run_uncorrected(run);

	jsonw_begin_object(w);
	jsonw_put_u64(w, "run", run->number);
	jsonw_put_u64(w, "position", run->position);
	jsonw_put_count(w, "start_ns", run->start_ns, foreign);
	jsonw_put_u64(w, "wall_ns", run->wall_ns);
	usage_json(w, run);
	jsonw_put_known(w, "steal_ns", run->has_steal, run->steal_ns,
		run->has_usage ? "the kernel does not report it" : foreign);
	jsonw_put_known(w, "pressure_ns", run->has_pressure, run->pressure_ns,
		run->has_usage ? "the kernel has no /proc/pressure/cpu" : foreign);
	jsonw_put_known(w, "queue_ns", run->has_queue, run->queue_ns,
		run->has_usage ? "it was not recorded" : foreign);
	jsonw_put_known(
		w, "corrected_wall_ns", !uncorrected, run->wall_ns - run->queue_ns, uncorrected);
	if (run->has_exit)
		jsonw_put_i64(w, "exit", run->exit_status);
	else
		jsonw_put_missing(w, "exit", foreign);
	jsonw_put_i64(w, "signal", run->signal);
	jsonw_put_bool(w, "used", run->used);
	jsonw_put_bool(w, "warmup", run->warmup);
	jsonw_put_bool(w, "interrupted", run->interrupted);
	jsonw_put_bool(w, "timed_out", run->timed_out);
	jsonw_put_bool(w, "leftovers", run->leftovers);
	jsonw_put_bool(w, "wrong_output", run->wrong_output);
	jsonw_put_bool(w, "dirty", run->noise);
	noise_json(w, run->noise);
	jsonw_put_text(w, "outlier",
		run->far == OUTLIER_NONE  ? "none"
		: run->far == OUTLIER_FAR ? "far"
					  : "extreme");
	jsonw_put_text(w, "cause", run->far == OUTLIER_NONE ? NULL : bench_cause_text(run->cause));
	jsonw_end_object(w);
}

static void percentiles_json(struct jsonw *w, const struct summary *s)
{
	jsonw_open_array(w, "percentiles");
	for (unsigned i = 0; i < SUMMARY_PERCENTILES; i++) {
		const struct summary_percentile *one = &s->percentiles[i];

		jsonw_begin_object(w);
		jsonw_put_double(w, "share", one->share);
		jsonw_put_known_number(w, "value", !one->worst_of_all, one->value, few);
		jsonw_put_number(w, "lo", one->interval.lo, few);
		jsonw_put_number(w, "hi", one->interval.hi, few);
		jsonw_put_u64(w, "runs_needed", one->needed);
		jsonw_put_bool(w, "conservative", one->share > TAIL_SHARE && s->count < TAIL_COUNT);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void series_json(struct jsonw *w, const char *key, const struct summary *s)
{
	const char *why = s->count ? few : "no usable run has it";

	jsonw_open_object(w, key);
	jsonw_put_u64(w, "count", s->count);
	jsonw_put_number(w, "median", s->median, why);
	jsonw_put_number(w, "median_lo", s->median_interval.lo, why);
	jsonw_put_number(w, "median_hi", s->median_interval.hi, why);
	jsonw_put_number(w, "mean", s->mean, why);
	jsonw_put_number(w, "deviation", s->deviation, why);
	jsonw_put_number(w, "spread_share", s->variation, why);
	jsonw_put_number(w, "min", s->min, why);
	jsonw_put_number(w, "max", s->max, why);
	jsonw_put_number(w, "steady_median", s->steady_median, why);
	jsonw_put_number(w, "autocorrelation", s->autocorrelation, why);
	jsonw_put_number(w, "effective_count", s->effective_count, why);
	jsonw_put_u64(w, "warm_after", s->warm_after);
	jsonw_put_u64(w, "outliers_far", s->far);
	jsonw_put_u64(w, "outliers_extreme", s->extreme);
	jsonw_put_bool(w, "two_modes", s->modes.found);
	percentiles_json(w, s);
	jsonw_end_object(w);
}

static void argv_json(struct jsonw *w, char *const *argv)
{
	jsonw_open_array(w, "argv");
	for (; *argv; argv++)
		jsonw_text(w, *argv);
	jsonw_end_array(w);
}

static void parameters_json(struct jsonw *w, const struct bench_command *command)
{
	jsonw_open_object(w, "parameters");
	for (uint32_t i = 0; i < command->parameter_count; i++)
		jsonw_put_text(w, command->parameters[i].name, command->parameters[i].value);
	jsonw_end_object(w);
}

static void rate_json(
	struct jsonw *w, const char *key, const struct bench_command *command, uint64_t per_run)
{
	struct bench_rate rate = bench_rate_of(command, per_run);

	if (!per_run || !command->used_count) {
		jsonw_put_missing(
			w, key, per_run ? few : "the work per run is not known (--ops, --bytes)");
		return;
	}
	jsonw_open_object(w, key);
	jsonw_put_u64(w, "per_run", per_run);
	jsonw_put_number(w, "median", rate.median, few);
	jsonw_put_number(w, "lo", rate.lo, few);
	jsonw_put_number(w, "hi", rate.hi, few);
	jsonw_end_object(w);
}

void bench_command_json(struct jsonw *w, const struct bench_command *command)
{
	jsonw_put_text(w, "name", command->name);
	argv_json(w, command->argv);
	parameters_json(w, command);
	jsonw_open_object(w, "summary");
	jsonw_put_u64(w, "runs_used", command->used_count);
	series_json(w, "wall_ns", &command->wall);
	series_json(w, "clean_wall_ns", &command->clean_wall);
	if (command->uncorrected)
		jsonw_put_missing(w, "corrected_wall_ns", command->uncorrected);
	else
		series_json(w, "corrected_wall_ns", &command->corrected);
	jsonw_put_number(w, "queue_share", command->queue_share, command->uncorrected);
	jsonw_put_u64(w, "dirty", command->dirty_count);
	series_json(w, "cpu_ns", &command->cpu);
	series_json(w, "max_rss_bytes", &command->rss);
	jsonw_put_number(w, "user_ns", round(command->user_ns), few);
	jsonw_put_number(w, "system_ns", round(command->system_ns), few);
	jsonw_put_count(w, "max_rss_floor_bytes", command->rss_floor_bytes, foreign);
	jsonw_put_u64(w, "failed", command->failed_count);
	jsonw_put_u64(w, "timed_out", command->timed_out_count);
	jsonw_put_u64(w, "leftovers", command->leftover_count);
	jsonw_end_object(w);
	jsonw_open_array(w, "runs");
	for (uint32_t i = 0; i < command->run_count; i++) {
		struct bench_run run = bench_run_at(command, i);

		run_json(w, &run);
	}
	jsonw_end_array(w);
}

static void ratio_json(
	struct jsonw *w, const struct bench_view *view, const struct bench_ratio *ratio)
{
	const struct comparison *wall = &ratio->wall;

	jsonw_begin_object(w);
	jsonw_put_u64(w, "faster", view->fastest);
	jsonw_put_u64(w, "slower", ratio->command);
	jsonw_put_text(w, "metric", wall->name);
	jsonw_put_number(w, "times", 1 + wall->effect, few);
	jsonw_put_number(w, "lo", 1 + wall->lo, few);
	jsonw_put_number(w, "hi", 1 + wall->hi, few);
	jsonw_put_double(w, "p", wall->p);
	jsonw_put_known(w, "pairs", !wall->advisory, wall->a_count, "they were not interleaved");
	jsonw_put_bool(w, "advisory", wall->advisory);
	jsonw_put_text(w, "outcome",
		wall->outcome == COMPARE_REGRESSED ? "slower"
						   : compare_outcome_name(wall->outcome));
	jsonw_end_object(w);
}

void bench_json(struct jsonw *w, const struct bench_view *view)
{
	jsonw_open_array(w, "commands");
	for (uint32_t i = 0; i < view->command_count; i++) {
		jsonw_begin_object(w);
		bench_command_json(w, &view->commands[i]);
		rate_json(w, "ops_per_s", &view->commands[i], view->ops_per_run);
		rate_json(w, "bytes_per_s", &view->commands[i], view->bytes_per_run);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
	jsonw_put_text(w, "cache_state", view->cache_state ? view->cache_state : "warm");
	jsonw_put_text_or(w, "output_sha256", view->output_sha256,
		"the output was not compared, or differed");
	jsonw_put_text_or(w, "failure_stderr", view->failure_stderr,
		"no failed run ended the benchmark, or it printed nothing");
	jsonw_key(w, "comparisons"); /* indices in `commands` */
	jsonw_begin_array(w);
	for (uint32_t i = 0; i < view->ratio_count; i++)
		ratio_json(w, view, &view->ratios[i]);
	jsonw_end_array(w);
}
