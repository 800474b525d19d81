/* import_hyperfine.c - hyperfine's --export-json (1.15 to 1.20) as executions of commands.
 *
 *     {"results": [{"command", "mean", "stddev", "median", "user", "system", "min", "max",
 *       "times": [s, ...], "memory_usage_byte": [...], "exit_codes": [0, null, ...],
 *       "parameters": {"n": "10"}}, ...]}
 *
 * Wall time and exit code are known of each run, and nothing else: `user` and `system` are means
 * over the runs.  An exit code of null is a run that a signal ended.  `memory_usage_byte` (1.20)
 * comes from RUSAGE_CHILDREN, which never goes down: over the whole file it is a running maximum,
 * an upper bound of each run.  Where it does go down (assay's own export), it is the peak of each
 * run.  The commands were run one after the other. */
#include <string.h>

#include "base/str.h"
#include "import_runs.h"
#include "source/emit.h"

enum { RESULTS_MAX = 4096 };
#define SECOND_NS 1e9

static bool detect(struct import_text text, struct quota *quota)
{
	static const char *const keys[] = {"results", "command", "times", NULL};
	static const char *const means[] = {"results", "command", "mean", NULL};
	static const char *const empty[] = {"results", NULL};

	/* {"results": []} has no key that is hyperfine's alone, so only that much is accepted. */
	return runs_text_has(text, keys, quota) || runs_text_has(text, means, quota) ||
	       (text.len < 64 && runs_text_has(text, empty, quota));
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static json_t *result_at(const json_t *results, size_t i)
{
	return json_array_get(results, i);
}

/* Whether the memory of all runs of all results, in order, never falls. */
static bool memory_never_falls(const json_t *results)
{
	json_int_t highest = 0;

	for (size_t i = 0; i < json_array_size(results); i++) {
		const json_t *bytes = json_object_get(result_at(results, i), "memory_usage_byte");

		for (size_t k = 0; k < json_array_size(bytes); k++) {
			json_int_t value = json_integer_value(json_array_get(bytes, k));

			if (value < highest)
				return false;
			highest = value;
		}
	}
	return true;
}

static bool has_memory(const json_t *results)
{
	for (size_t i = 0; i < json_array_size(results); i++)
		if (json_array_size(json_object_get(result_at(results, i), "memory_usage_byte")))
			return true;
	return false;
}

/* Two results of the same name (-n NAME with -P) are told apart by their parameters. */
static bool name_is_shared(const json_t *results, size_t index)
{
	const char *name = text_of(result_at(results, index), "command");

	for (size_t i = 0; i < json_array_size(results) && i < RESULTS_MAX; i++)
		if (i != index && str_equal(text_of(result_at(results, i), "command"), name))
			return true;
	return false;
}

static void name_make(const json_t *results, size_t index, struct str *ret_name)
{
	json_t *result = result_at(results, index), *value;
	json_t *parameters = json_object_get(result, "parameters");
	const char *key;

	str_add(ret_name, text_of(result, "command"));
	if (!json_is_object(parameters) || !name_is_shared(results, index))
		return;
	json_object_foreach(parameters, key, value)
	{
		if (json_is_string(value))
			str_addf(ret_name, " [%s=%s]", key, json_string_value(value));
	}
}

/* Exit code and memory of run `i`, as far as they are there. */
static void run_describe(
	const json_t *result, size_t i, bool running_maximum, struct wire_execution *run)
{
	const json_t *code = json_array_get(json_object_get(result, "exit_codes"), i);
	const json_t *bytes = json_array_get(json_object_get(result, "memory_usage_byte"), i);

	run->flags = WIRE_EXECUTION_NO_USAGE;
	if (json_is_integer(code) && json_integer_value(code) >= INT32_MIN &&
		json_integer_value(code) <= INT32_MAX) {
		run->flags |= WIRE_EXECUTION_EXIT;
		run->exit_status = (int32_t)json_integer_value(code);
	} else if (code) {
		run->flags |= WIRE_EXECUTION_FAILED;
	}
	if (json_is_integer(bytes) && json_integer_value(bytes) > 0) {
		run->flags |= running_maximum ? WIRE_EXECUTION_RSS_BOUND : WIRE_EXECUTION_RSS;
		run->max_rss_bytes = (uint64_t)json_integer_value(bytes);
	}
}

static int result_read(
	struct runs_out *out, const json_t *result, uint32_t command, bool running_maximum)
{
	static const struct {
		const char *key, *quality;
	} means[] = {
		{"user", "mean_user_ns"}, {"system", "mean_system_ns"}, {"mean", "mean_wall_ns"}};
	const json_t *times = json_object_get(result, "times");
	int r = 0;

	for (size_t i = 0; r == 0 && i < json_array_size(times); i++) {
		struct wire_execution run = {.command = command};

		if (!runs_time(out, json_array_get(times, i), SECOND_NS, &run.wall_ns))
			continue;
		run_describe(result, i, running_maximum, &run);
		r = runs_execution(out, &run);
	}
	for (unsigned i = 0; r == 0 && i < sizeof(means) / sizeof(*means); i++) {
		const json_t *mean = json_object_get(result, means[i].key);

		if (json_is_number(mean))
			r = runs_quality(out, means[i].quality, command,
				json_number_value(mean) * SECOND_NS);
	}
	return r;
}

static int results_read(struct runs_out *out, const json_t *results)
{
	bool running_maximum = memory_never_falls(results);
	int r = 0;

	for (size_t i = 0; r == 0 && i < json_array_size(results); i++) {
		str_auto struct str name = {0};

		if (!json_is_object(result_at(results, i))) {
			out->report->skipped[IMPORT_MALFORMED]++;
			continue;
		}
		if (out->report->commands == RESULTS_MAX) {
			out->report->skipped[IMPORT_TOO_MANY]++;
			continue;
		}
		name_make(results, i, &name);
		r = runs_command(out, str_text(&name));
		if (r == 0)
			r = result_read(out, result_at(results, i), (uint32_t)out->report->commands,
				running_maximum);
	}
	if (r == 0 && has_memory(results) && running_maximum)
		r = emit_note(out->sink, "import-rss-running-maximum",
			"memory_usage_byte never falls: it is the maximum over all runs so far, "
			"not the peak of each run",
			"measure again with `assay bench`, which reads each run's own peak");
	return r;
}

static int read_hyperfine(
	struct import_text text, const struct wire_sink *sink, struct import_report *report)
{
	struct runs_out out = {sink, report};
	json_t *document = runs_load(text, report), *results;
	int r = runs_begin(&out, "hyperfine-json");

	if (r == 0 && document) {
		results = json_object_get(document, "results");
		if (json_is_array(results))
			r = results_read(&out, results);
		else
			import_damage(report, "its `results` is not a list");
	}
	json_decref(document);
	return r;
}

const struct import_format import_hyperfine = {
	"hyperfine-json", IMPORT_BENCHMARK, detect, read_hyperfine};
