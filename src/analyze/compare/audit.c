/* audit.c - see audit.h.
 *
 * Every finding is one small function over a command or a file.  Failed runs are judged by
 * themselves and never used for the other numbers. */
#include "analyze/audit.h"

#include <math.h>
#include <stdarg.h>

#include "audit_parts.h"
#include "base/str.h"
#include "model/run.h"

void audit_add(struct audit_view *view, const char *code, const struct audit_file *file,
	const char *command, double number, const char *format, ...)
{
	const struct audit_rule *rule = audit_book_find(view->book, code);
	str_auto struct str text = {0};
	va_list args;

	if (!rule) /* a book of one's own may leave a rule out */
		return;
	va_start(args, format);
	str_addv(&text, format, args);
	va_end(args);
	if (text.len)
		str_flatten(text.at);
	vec_push(&view->findings, (struct audit_finding){
					  .rule = rule,
					  .file = file ? file->name : NULL,
					  .command = command,
					  .evidence = arena_str(view->arena, &text),
					  .number = number,
				  });
	view->counts[rule->severity]++;
}

double audit_limit(const struct audit_view *view, const char *code)
{
	const struct audit_rule *rule = audit_book_find(view->book, code);

	return rule ? rule->limit : (double)NAN;
}

double audit_total_s(const struct run *run, uint32_t index, const struct bench_command *command)
{
	str_auto struct str name = {0};
	uint64_t measured_ns;
	double total = 0;

	str_addf(&name, "measured_ns_of_command_%u", index + 1);
	if (run_get_quality(run, name.at, &measured_ns))
		return (double)measured_ns / 1e9;
	for (uint32_t i = 0; i < command->run_count; i++)
		if (command->marks[i].used)
			total += bench_measure_at(command, i, BENCH_WALL_NS) / 1e9;
	return total;
}

/* How many runs there are, and how long they took together. */
static void find_count(struct audit_view *view, const struct audit_file *file,
	const struct bench_command *command, double total_s)
{
	double count = command->used_count;

	if (!command->run_count)
		audit_add(view, "single-number", file, command->name, 0,
			"a mean without individual runs");
	else if (!command->used_count)
		audit_add(view, "no-results", file, command->name, 0, "none of %u runs is usable",
			command->run_count);
	else if (command->used_count == 1)
		audit_add(view, "single-number", file, command->name, 1, "1 run");
	else if (count < audit_limit(view, "tiny-n"))
		audit_add(
			view, "tiny-n", file, command->name, count, "%u runs", command->used_count);
	else if (count < audit_limit(view, "small-n"))
		audit_add(view, "small-n", file, command->name, count, "%u runs",
			command->used_count);
	if (command->used_count && total_s < audit_limit(view, "short-time"))
		audit_add(view, "short-time", file, command->name, total_s,
			"%u runs took %.3g s together", command->used_count, total_s);
}

static void find_failures(
	struct audit_view *view, const struct audit_file *file, const struct bench_command *command)
{
	uint32_t failed = command->failed_count;

	if (failed)
		audit_add(view, "failed-runs", file, command->name, failed,
			"%u of %u runs failed, the first is run %u", failed, command->run_count,
			command->failed ? command->failed->number : 0);
	if (command->timed_out_count)
		audit_add(view, "timed-out", file, command->name, command->timed_out_count,
			"%u of %u runs were stopped at the time limit", command->timed_out_count,
			command->run_count);
	if (command->leftover_count)
		audit_add(view, "leftovers", file, command->name, command->leftover_count,
			"%u of %u runs left processes behind", command->leftover_count,
			command->run_count);
}

/* What the shape and the order of the times show. */
static void find_shape(
	struct audit_view *view, const struct audit_file *file, const struct bench_command *command)
{
	const struct summary *wall = &command->wall;
	size_t far = wall->far + wall->extreme;

	if (wall->variation > audit_limit(view, "wide-spread"))
		audit_add(view, "wide-spread", file, command->name, wall->variation,
			"the standard deviation is %.1f %% of the mean", wall->variation * 100);
	if (wall->warm_after)
		audit_add(view, command->warms_up ? "warm-up" : "drift", file, command->name,
			(double)wall->warm_after, "the first %zu of %zu runs differ from the rest",
			wall->warm_after, wall->count);
	if (wall->modes.found)
		audit_add(view, "two-modes", file, command->name, wall->modes.lower_share,
			"%.0f %% of the runs are below %.4g ms, the others above",
			wall->modes.lower_share * 100, wall->modes.at / 1e6);
	if (far)
		audit_add(view, "far-runs", file, command->name, (double)far,
			"%zu of %zu runs are beyond three robust deviations", far, wall->count);
}

static void find_percentiles(
	struct audit_view *view, const struct audit_file *file, const struct bench_command *command)
{
	const struct summary_percentile *best = NULL, *next = NULL;

	for (unsigned i = 0; i < SUMMARY_PERCENTILES && !next; i++) {
		if (command->wall.percentiles[i].worst_of_all)
			next = &command->wall.percentiles[i];
		else
			best = &command->wall.percentiles[i];
	}
	/* p99 takes 299 runs: who has them did what can be asked for. */
	if (!next || next->share > 0.99 || command->used_count < 2)
		return;
	audit_add(view, "percentiles", file, command->name, (double)command->wall.count,
		"p%g takes %llu runs, there are %zu: %s%.4g%s", next->share * 100,
		(unsigned long long)next->needed, command->wall.count, best ? "p" : "not even p",
		best ? best->share * 100 : 50.0,
		best ? " is the highest that can be estimated" : " can be estimated");
}

static void find_noise(
	struct audit_view *view, const struct audit_file *file, const struct bench_command *command)
{
	double steal = bench_wall_share(command, BENCH_STEAL_NS),
	       pressure = bench_wall_share(command, BENCH_PRESSURE_NS);

	if (steal > audit_limit(view, "noisy-steal"))
		audit_add(view, "noisy-steal", file, command->name, steal,
			"the host took %.1f %% of a CPU during the runs", steal * 100);
	if (pressure > audit_limit(view, "noisy-pressure"))
		audit_add(view, "noisy-pressure", file, command->name, pressure,
			"tasks waited for a CPU during %.0f %% of the runs' time", pressure * 100);
}

static void find_missing(
	struct audit_view *view, const struct audit_file *file, const struct bench_command *command)
{
	bool bounded = false;

	for (uint32_t i = 0; i < command->run_count; i++) {
		struct bench_run run = bench_run_at(command, i);

		bounded |= run.max_rss_bytes && !run.has_rss;
	}
	if (command->used_count && !command->cpu.count)
		audit_add(view, "no-cpu-time", file, command->name, (double)NAN,
			"no run has a CPU time");
	if (bounded)
		audit_add(view, "rss-running-maximum", file, command->name, (double)NAN,
			"the memory of the runs never falls");
}

/* hyperfine's estimate of the shell weighs on short times. */
static void find_shell(struct audit_view *view, const struct audit_file *file,
	const struct run *run, const struct bench_command *command)
{
	const char *kind = run_get_field(run, "import", "kind", NULL);
	double median_s = command->wall.median / 1e9;

	if (kind && str_equal(kind, "hyperfine-json") &&
		median_s < audit_limit(view, "shell-correction"))
		audit_add(view, "shell-correction", file, command->name, median_s,
			"the median is %.3g ms%s", median_s * 1e3,
			command->wall.min == 0 ? ", and a time was cut off at 0" : "");
}

/* Measured in blocks: as many changes of the command as there are commands, less one. */
static bool order_is_blocked(const struct run *run, const struct bench_view *bench)
{
	uint32_t changes = 0, last = 0, runs = 0;

	vec_foreach (const struct execution_packed, row, &run->executions) {
		if (!row->command || row->flags & EXECUTION_WARMUP)
			continue;
		changes += last && row->command != last;
		last = row->command;
		runs++;
	}
	return bench->blocked || (runs > bench->command_count && changes < bench->command_count);
}

static void find_order(
	struct audit_view *view, const struct audit_file *file, const struct run *run)
{
	if (file->bench.command_count < 2 || !run->executions.count ||
		!order_is_blocked(run, &file->bench))
		return;
	audit_add(view, "blocked-order", file, NULL, file->bench.command_count,
		file->bench.blocked ? "%u commands in an unknown order"
				    : "%u commands, one after another",
		file->bench.command_count);
}

static void find_parity(struct audit_view *view, const struct audit_file *file)
{
	const struct bench_command *tight = NULL, *wild = NULL;
	double ratio;

	for (uint32_t i = 0; i < file->bench.command_count; i++) {
		const struct bench_command *command = &file->bench.commands[i];

		if (!(command->wall.variation > 0) ||
			command->used_count < audit_limit(view, "tiny-n"))
			continue;
		if (!tight || command->wall.variation < tight->wall.variation)
			tight = command;
		if (!wild || command->wall.variation > wild->wall.variation)
			wild = command;
	}
	if (!tight || tight == wild)
		return;
	ratio = wild->wall.variation / tight->wall.variation;
	if (ratio > audit_limit(view, "spread-parity"))
		audit_add(view, "spread-parity", file, wild->name, ratio,
			"it varies by %.1f %%, %.1f times as much as the steadiest (%.1f %%)",
			wild->wall.variation * 100, ratio, tight->wall.variation * 100);
}

static void file_audit(
	struct audit_view *view, const struct audit_file *file, const struct audit_input *input)
{
	const struct bench_view *bench = &file->bench;

	if (!bench->command_count)
		audit_add(view, "no-results", file, NULL, 0, "it has no results");
	if (input->run->partial)
		audit_add(view, "interrupted", file, NULL, (double)NAN,
			"the file says that it is incomplete");
	for (uint32_t i = 0; i < bench->command_count; i++) {
		const struct bench_command *command = &bench->commands[i];

		find_count(view, file, command, audit_total_s(input->run, i, command));
		find_failures(view, file, command);
		find_shape(view, file, command);
		find_percentiles(view, file, command);
		find_noise(view, file, command);
		find_missing(view, file, command);
		find_shell(view, file, input->run, command);
		view->run_count += command->used_count;
	}
	find_order(view, file, input->run);
	find_parity(view, file);
	audit_builds(view, file, input);
}

/* Worst first, else as found: three passes keep the order. */
static void findings_sort(struct audit_view *view)
{
	struct audit_view sorted = {0};

	for (int severity = AUDIT_HIGH; severity >= AUDIT_LOW; severity--)
		vec_foreach (const struct audit_finding, finding, &view->findings)
			if ((int)finding->rule->severity == severity)
				vec_push(&sorted.findings, *finding);
	vec_done(&view->findings);
	view->findings.at = sorted.findings.at;
	view->findings.count = sorted.findings.count;
	view->findings.capacity = sorted.findings.capacity;
}

static void commands_collect(struct audit_view *view)
{
	uint32_t total = 0;

	for (uint32_t i = 0; i < view->file_count; i++)
		total += view->files[i].bench.command_count;
	view->commands = arena_take(view->arena, (total + 1) * sizeof(*view->commands));
	for (uint32_t i = 0; i < view->file_count; i++)
		for (uint32_t k = 0; k < view->files[i].bench.command_count; k++)
			view->commands[view->command_count++] = &view->files[i].bench.commands[k];
}

int audit_view_make(const struct audit_input *inputs, uint32_t count, const struct audit_book *book,
	struct arena *arena, struct audit_view *ret_view, struct err *err)
{
	struct audit_view view = {.book = book, .arena = arena, .file_count = count};
	int r = 0;

	view.files = arena_take(arena, (count + 1) * sizeof(*view.files));
	for (uint32_t i = 0; r >= 0 && i < count; i++) {
		struct audit_file *file = &view.files[i];
		const char *kind = run_get_field(inputs[i].run, "import", "kind", NULL);

		file->name = inputs[i].name;
		file->names_only = kind && str_equal(kind, "gbench-json");
		if (audit_machine_is_known(inputs[i].run))
			fingerprint_key(inputs[i].run, file->key);
		r = bench_view_make(inputs[i].run, false, arena, &file->bench, err);
		if (r >= 0)
			file_audit(&view, file, &inputs[i]);
	}
	if (r < 0) {
		audit_view_done(&view);
		return r;
	}
	commands_collect(&view);
	audit_machines(&view, inputs);
	findings_sort(&view);
	audit_judge(&view);
	*ret_view = view;
	return 0;
}

void audit_view_done(struct audit_view *view)
{
	vec_done(&view->findings);
}
