/* import_gbench.c - Google Benchmark's --benchmark_format=json as executions of commands.
 *
 *     {"context": {"date", "num_cpus", "mhz_per_cpu", "cpu_scaling_enabled", "load_avg": [...],
 *       "library_build_type": "release"},
 *      "benchmarks": [{"name", "run_name", "run_type": "iteration" | "aggregate", "repetitions",
 *       "repetition_index", "iterations", "real_time", "cpu_time", "time_unit": "ns",
 *       "items_per_second", ...}, ...]}
 *
 * Each repetition is one execution.  Its times are means over many iterations of often a few
 * nanoseconds, which whole nanoseconds cannot hold, so an execution here stands for 1,000
 * iterations, in every file alike.  A repetition is already a mean: its spread is not that of
 * single iterations.  Aggregates (mean, median, stddev, cv) are not runs; where a file holds
 * nothing else, the mean is kept as a property.  Counters become events. */
#include <math.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "import_runs.h"
#include "source/emit.h"
#include "wire/build.h"

enum { BENCHMARKS_MAX = 4096, COUNTERS_MAX = 64, ITERATIONS = 1000, COUNTER_PARTS = 1000000 };
#define COUNTER_LARGEST 1e13 /* times COUNTER_PARTS it still fits 64 bits */

struct gbench {
	struct runs_out out;
	struct map commands; /* name -> id */
	struct map events;   /* name of a counter -> id */
	uint32_t event_count;
	vec_of(double) measured_ns; /* of each command, all iterations of its repetitions */
};

static bool detect(struct import_text text, struct quota *quota)
{
	static const char *const results[] = {"benchmarks", "real_time", NULL};
	static const char *const context[] = {"benchmarks", "context", "num_cpus", NULL};

	return runs_text_has(text, results, quota) || runs_text_has(text, context, quota);
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static double unit_ns(const json_t *benchmark)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	const char *name = text_of(benchmark, "time_unit");

	for (unsigned i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (str_equal(name, units[i].name))
			return units[i].ns;
	return *name ? (double)NAN : 1; /* the library's own default */
}

static const char *name_of(const json_t *benchmark)
{
	const char *name = text_of(benchmark, "run_name");

	return *name ? name : text_of(benchmark, "name");
}

/* Which aggregate it is ("mean", "BigO"); "" for a run.  Before 1.5 only the name told. */
static const char *aggregate_of(const json_t *benchmark)
{
	static const char *const names[] = {"mean", "median", "stddev", "cv", "BigO", "RMS", NULL};
	const char *type = text_of(benchmark, "run_type"), *name = text_of(benchmark, "name");
	const char *last = strrchr(name, '_');

	if (*type)
		return str_equal(type, "aggregate") ? text_of(benchmark, "aggregate_name") : "";
	for (unsigned i = 0; last && names[i]; i++)
		if (str_equal(last + 1, names[i]))
			return names[i];
	return "";
}

static bool is_aggregate(const json_t *benchmark)
{
	return *aggregate_of(benchmark) || str_equal(text_of(benchmark, "run_type"), "aggregate");
}

/* The name of an aggregate without its suffix, as its runs have it. */
static void base_name(const json_t *benchmark, struct str *ret_name)
{
	const char *name = name_of(benchmark), *last = strrchr(name, '_');

	str_add(ret_name, name);
	if (is_aggregate(benchmark) && !*text_of(benchmark, "run_name") && last) {
		str_clear(ret_name);
		str_add_bytes(ret_name, name, (size_t)(last - name));
	}
}

/* The id of the benchmark's command, which is emitted when it is new; 0: no name, or too many. */
static int command_of(struct gbench *in, const json_t *benchmark, uint32_t *ret_command)
{
	str_auto struct str name = {0}, shown = {0};
	int r;

	*ret_command = 0;
	base_name(benchmark, &name);
	if (!name.len) {
		in->out.report->skipped[IMPORT_MALFORMED]++;
		return 0;
	}
	if (map_get(&in->commands, name.at, name.len, ret_command))
		return 0;
	if (in->out.report->commands == BENCHMARKS_MAX) {
		in->out.report->skipped[IMPORT_TOO_MANY]++;
		return 0;
	}
	str_addf(&shown, "%s x%d", name.at, ITERATIONS);
	r = runs_command(&in->out, shown.at);
	*ret_command = (uint32_t)in->out.report->commands;
	vec_push(&in->measured_ns, 0.0);
	map_put(&in->commands, name.at, name.len, *ret_command);
	return r;
}

static bool is_counter(const char *key, const json_t *value)
{
	static const char *const known[] = {"family_index", "per_family_instance_index",
		"repetitions", "repetition_index", "threads", "iterations", "real_time", "cpu_time",
		"cpu_coefficient", "real_coefficient", "rms", NULL};

	for (const char *const *name = known; *name; name++)
		if (str_equal(key, *name))
			return false;
	return json_is_number(value);
}

static int event_of(struct gbench *in, const char *name, uint32_t *ret_event)
{
	union {
		struct wire_event event;
		unsigned char bytes[1024];
	} space;
	struct wire_builder b;

	if (map_get(&in->events, name, strlen(name), ret_event))
		return 0;
	*ret_event = 0;
	if (in->event_count == COUNTERS_MAX) {
		in->out.report->skipped[IMPORT_TOO_MANY]++;
		return 0;
	}
	*ret_event = ++in->event_count;
	map_put(&in->events, name, strlen(name), *ret_event);
	b = wire_begin(&space, sizeof(space), WIRE_EVENT, sizeof(space.event));
	space.event.event = *ret_event;
	space.event.flags = WIRE_EVENT_PRESCALED;
	space.event.scale = 1.0 / COUNTER_PARTS;
	wire_add_text(&b, &space.event.name, name);
	wire_add_text(&b, &space.event.unit, str_ends(name, "_per_second") ? "1/s" : "");
	return in->out.sink->take(in->out.sink->context, wire_end(&b));
}

static int counters_read(struct gbench *in, json_t *benchmark, uint64_t wall_ns)
{
	const char *key;
	json_t *value;
	int r = 0;

	json_object_foreach(benchmark, key, value)
	{
		double number = json_number_value(value);
		struct wire_count count = {
			.head = {WIRE_COUNT, sizeof(count)},
			.execution = (uint32_t)in->out.report->executions,
			.enabled_ns = wall_ns,
			.running_ns = wall_ns,
		};

		if (!*key || !is_counter(key, value))
			continue;
		if (!(number >= 0 && number <= COUNTER_LARGEST)) {
			in->out.report->skipped[IMPORT_RANGE]++;
			continue;
		}
		count.value = (uint64_t)llround(number * COUNTER_PARTS);
		r = event_of(in, key, &count.event);
		if (r == 0 && count.event)
			r = in->out.sink->take(in->out.sink->context, &count.head);
		if (r < 0)
			break;
	}
	return r;
}

/* Only a mean of runs that the file does not hold. */
static int aggregate_read(struct gbench *in, const json_t *benchmark, uint32_t command)
{
	const json_t *repetitions = json_object_get(benchmark, "repetitions");
	double mean_ns = json_number_value(json_object_get(benchmark, "real_time")) *
			 unit_ns(benchmark) * ITERATIONS;
	int r;

	in->out.report->skipped[IMPORT_METRIC]++;
	if (!str_equal(aggregate_of(benchmark), "mean"))
		return 0;
	r = runs_quality(&in->out, "mean_wall_ns", command, mean_ns);
	if (r == 0 && json_is_integer(repetitions))
		r = runs_quality(
			&in->out, "repetitions", command, (double)json_integer_value(repetitions));
	return r;
}

static int benchmark_read(struct gbench *in, json_t *benchmark)
{
	struct wire_execution run = {.flags = WIRE_EXECUTION_NO_USAGE};
	const json_t *cpu = json_object_get(benchmark, "cpu_time");
	double iterations = json_number_value(json_object_get(benchmark, "iterations"));
	double scale = unit_ns(benchmark) * ITERATIONS;
	int r = command_of(in, benchmark, &run.command);

	if (r < 0 || !run.command)
		return r;
	if (is_aggregate(benchmark))
		return aggregate_read(in, benchmark, run.command);
	if (json_is_true(json_object_get(benchmark, "skipped"))) {
		in->out.report->skipped[IMPORT_SAMPLE_EMPTY]++;
		return 0;
	}
	if (json_is_true(json_object_get(benchmark, "error_occurred"))) {
		run.flags |= WIRE_EXECUTION_FAILED;
		return runs_execution(&in->out, &run);
	}
	if (!runs_time(&in->out, json_object_get(benchmark, "real_time"), scale, &run.wall_ns))
		return 0;
	if (cpu && runs_time(&in->out, cpu, scale, &run.user_ns))
		run.flags |= WIRE_EXECUTION_CPU;
	if (iterations > 0)
		in->measured_ns.at[run.command - 1] +=
			(double)run.wall_ns / ITERATIONS * iterations;
	r = runs_execution(&in->out, &run);
	return r < 0 ? r : counters_read(in, benchmark, run.wall_ns);
}

/* What the context says about machine and build, under the names of our own fingerprint where it
 * is the same thing.  The host's name is not kept. */
static int context_read(struct gbench *in, const json_t *context)
{
	const json_t *cpus = json_object_get(context, "num_cpus");
	const json_t *scaling = json_object_get(context, "cpu_scaling_enabled");
	const json_t *load = json_array_get(json_object_get(context, "load_avg"), 0);
	const char *build = text_of(context, "library_build_type"),
		   *date = text_of(context, "date");
	str_auto struct str text = {0};
	const struct wire_sink *sink = in->out.sink;
	int r = 0;

	if (*build)
		r = emit_field(sink, "import", "library_build_type", WIRE_FIELD_VALUE, build);
	if (r == 0 && *date)
		r = emit_field(sink, "identity", "time_utc", WIRE_FIELD_VALUE, date);
	if (r == 0 && json_is_boolean(scaling))
		r = emit_field(sink, "import", "cpu_scaling_enabled", WIRE_FIELD_VALUE,
			json_is_true(scaling) ? "yes" : "no");
	if (r < 0 || !json_is_integer(cpus) || json_integer_value(cpus) < 1)
		return r;
	str_addf(&text, "%lld", (long long)json_integer_value(cpus));
	r = emit_field(sink, "cpu", "online", WIRE_FIELD_VALUE, text.at);
	if (r < 0 || !json_is_number(load))
		return r;
	str_clear(&text);
	str_addf(&text, "%.2f", json_number_value(load) / (double)json_integer_value(cpus));
	return emit_field(sink, "noise", "load_per_cpu", WIRE_FIELD_VALUE, text.at);
}

static int document_read(struct gbench *in, const json_t *document)
{
	const json_t *benchmarks = json_object_get(document, "benchmarks");
	int r = context_read(in, json_object_get(document, "context"));

	if (!json_is_array(benchmarks))
		import_damage(in->out.report, "its `benchmarks` is not a list");
	for (size_t i = 0; r == 0 && i < json_array_size(benchmarks); i++) {
		json_t *benchmark = json_array_get(benchmarks, i);

		if (json_is_object(benchmark))
			r = benchmark_read(in, benchmark);
		else
			in->out.report->skipped[IMPORT_MALFORMED]++;
	}
	for (uint32_t i = 0; r == 0 && i < in->measured_ns.count; i++)
		r = runs_quality(&in->out, "measured_ns", i + 1, in->measured_ns.at[i]);
	return r;
}

static int read_gbench(
	struct import_text text, const struct wire_sink *sink, struct import_report *report)
{
	struct gbench in = {.out = {sink, report}};
	json_t *document = runs_load(text, report);
	int r = runs_begin(&in.out, "gbench-json");

	if (r == 0 && document)
		r = document_read(&in, document);
	json_decref(document);
	map_done(&in.commands);
	map_done(&in.events);
	vec_done(&in.measured_ns);
	return r;
}

const struct import_format import_gbench = {"gbench-json", IMPORT_BENCHMARK, detect, read_gbench};
