/* metric.c - results from what was asked for.
 *
 * A ratio is only worth its name when both sides counted the same thing: the same core type and
 * the same mode (user, kernel, guest).  So a formula is tried once per scope, a pair of core type
 * and modifiers, and takes its inputs from that scope alone.  What the execution itself tells
 * (wall_ns, max_rss_bytes) has no mode and fits every scope of its core type.
 *
 * task-clock and cpu-clock count both modes whatever their modifiers say (6.18: task-clock:u equals
 * task-clock to the nanosecond), so they stand in the scope without modifiers: cycles:u divided by
 * task-clock:u is no clock rate, and is refused as mixed. */
#include "analyze/metric.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* An input with its name taken apart. */
struct given {
	const struct metric_input *input;
	const char *base, *modifiers, *core;
};

struct scope {
	const char *core, *modifiers;
};

struct computer {
	const struct metric_book *book;
	struct arena *arena;
	vec_of(struct given) givens;
	vec_of(struct scope) scopes; /* the first is the plain one: no core type, no modifiers */
};

static bool name_is_execution(const char *name)
{
	static const char *const names[] = {"wall_ns", "cpu_ns", "user_ns", "system_ns",
		"max_rss_bytes", "minor_faults", "major_faults", "voluntary_switches",
		"involuntary_switches"};
	const unsigned count = sizeof(names) / sizeof(*names);

	return str_index(names, count, name) < count;
}

/* Of the modifiers, only those that change what is counted, in one fixed order. */
static const char *modifiers_of(struct arena *arena, const char *text)
{
	char kept[6];
	unsigned len = 0;

	for (const char *c = "ukhGH"; *c; c++)
		if (strchr(text, *c))
			kept[len++] = *c;
	return arena_text(arena, kept, len);
}

/* "cycles:u" -> cycles, u; "cpu/cycles/u" -> cycles, u; "sched:sched_switch" and
 * "cpu/event=0x3c/" stay whole. */
static struct given given_make(struct arena *arena, const struct metric_input *input)
{
	const char *name = input->name, *slash = strchr(name, '/'), *last = strrchr(name, '/');
	const char *colon = strrchr(name, ':');
	struct given given = {input, name, "", input->core ? input->core : ""};

	if (slash && last > slash) {
		bool terms = memchr(slash, '=', (size_t)(last - slash)) != NULL;

		given.base = terms ? arena_text(arena, name, (size_t)(last - name) + 1)
				   : arena_text(arena, slash + 1, (size_t)(last - slash) - 1);
		given.modifiers = modifiers_of(arena, last);
	} else if (colon && colon[1] && !colon[1 + strspn(colon + 1, "ukhGHpPSDWeIb")]) {
		given.base = arena_text(arena, name, (size_t)(colon - name));
		given.modifiers = modifiers_of(arena, colon);
	}
	if (str_equal(given.base, "task-clock") || str_equal(given.base, "cpu-clock"))
		given.modifiers = "";
	return given;
}

static void computer_add_scope(struct computer *computer, const char *core, const char *modifiers)
{
	vec_foreach (const struct scope, scope, &computer->scopes)
		if (str_equal(scope->core, core) && str_equal(scope->modifiers, modifiers))
			return;
	vec_push(&computer->scopes, (struct scope){core, modifiers});
}

static struct computer computer_make(const struct metric_book *book,
	const struct metric_input *inputs, uint32_t count, struct arena *arena)
{
	struct computer computer = {.book = book, .arena = arena};

	computer_add_scope(&computer, "", "");
	for (uint32_t i = 0; i < count; i++) {
		struct given given = given_make(arena, &inputs[i]);

		vec_push(&computer.givens, given);
		computer_add_scope(&computer, given.core, given.modifiers);
	}
	return computer;
}

static void computer_done(struct computer *computer)
{
	vec_done(&computer->givens);
	vec_done(&computer->scopes);
}

/* Where a formula looks for an input: in one scope, or (NULL) in any. */
struct wish {
	const struct scope *scope;
	bool any_mode;
};

static bool wish_fits(const struct wish *wish, const struct given *given)
{
	if (!wish->scope)
		return true;
	return str_equal(given->core, wish->scope->core) &&
	       (wish->any_mode || str_equal(given->modifiers, wish->scope->modifiers));
}

/* `best`, or an input called `name` that fits better: a known one is better than a missing one. */
static const struct given *given_better(const struct computer *computer, const char *name,
	const struct wish *wish, const struct given *best)
{
	vec_foreach (const struct given, given, &computer->givens) {
		if (best && best->input->known)
			break;
		/* perf writes the names of vendors in small letters, users in any. */
		if (strcasecmp(given->base, name) == 0 && wish_fits(wish, given) &&
			(!best || given->input->known))
			best = given;
	}
	return best;
}

/* The input for a name of a formula, by that name or an alias; NULL: never asked for.  A formula
 * that says cpu_ns means all of it, so a clock may stand in for it in every mode. */
static const struct given *given_find(
	const struct computer *computer, const char *name, const struct scope *scope)
{
	const struct wish wish = {scope, name_is_execution(name)};
	const struct given *best = given_better(computer, name, &wish, NULL);

	vec_foreach (const struct metric_alias, alias, &computer->book->aliases)
		if (str_equal(alias->name, name) &&
			(!alias->core || !scope || str_equal(alias->core, scope->core)))
			best = given_better(computer, alias->other, &wish, best);
	return best;
}

static bool limit_holds(const struct metric_limit *limit, double value)
{
	return limit->sign == '<' ? value < limit->number : value > limit->number;
}

/* Values for the names of a formula; false when one of them is not there or not known. */
static bool values_known(const struct computer *computer, const struct formula *formula,
	const struct scope *scope, double *values)
{
	for (uint32_t i = 0; i < formula->names_count; i++) {
		const struct given *given = given_find(computer, formula->names[i], scope);

		if (!given || !given->input->known)
			return false;
		values[i] = given->input->value;
	}
	return true;
}

static bool condition_holds(const struct computer *computer,
	const struct metric_condition *condition, const struct scope *scope)
{
	double values[FORMULA_STEPS], value;

	return !condition->limit.sign ||
	       (values_known(computer, &condition->formula, scope, values) &&
		       formula_value(&condition->formula, values, &value) == 0 &&
		       limit_holds(&condition->limit, value));
}

static enum metric_assessment assess(const struct computer *computer, const struct metric *metric,
	const struct scope *scope, double value)
{
	if (!metric->healthy.sign || !condition_holds(computer, &metric->when, scope))
		return METRIC_NONE;
	if (limit_holds(&metric->investigate, value))
		return METRIC_INVESTIGATE;
	return limit_holds(&metric->healthy, value) ? METRIC_HEALTHY : METRIC_WATCH;
}

/* Value, plausibility and assessment, once every input is known. */
static void row_fill(const struct computer *computer, const struct formula *formula,
	const struct scope *scope, const double *values, struct metric_result *row)
{
	const struct metric *metric = row->metric;
	int r = formula_value(formula, values, &row->value);

	if (!condition_holds(computer, &metric->needs, scope))
		row->reason = metric->needs_reason;
	else if (r == -EDOM)
		row->reason = "its denominator is 0";
	else if (r < 0)
		row->reason = "the result is not a number";
	else if (row->value < metric->low || row->value > metric->high) /* false against NAN */
		row->reason = arena_format(computer->arena,
			"the result is %.4g, outside %g to %g: a counter is broken, or the "
			"counters do not belong together",
			row->value, metric->low, metric->high);
	else
		row->known = true;
	if (row->known)
		row->assessment = assess(computer, metric, scope, row->value);
	else
		row->value = (double)NAN;
}

/* The row of one formula in one scope; false when an input was not asked for there. */
static bool row_compute(const struct computer *computer, const struct formula *formula,
	const struct scope *scope, struct metric_result *row)
{
	bool plain = scope == computer->scopes.at, execution = true;
	const struct given *missing = NULL;
	double values[FORMULA_STEPS];

	for (uint32_t i = 0; i < formula->names_count; i++) {
		const struct given *given = given_find(computer, formula->names[i], scope);

		if (!given)
			return false;
		execution &= name_is_execution(formula->names[i]);
		if (!given->input->known && !missing)
			missing = given;
		values[i] = given->input->value;
	}
	if (execution && !plain) /* has no mode: told once */
		return false;
	row->core = scope->core;
	row->modifiers = scope->modifiers;
	if (missing)
		row->reason = arena_format(computer->arena, "%s: %s", missing->input->name,
			missing->input->reason && *missing->input->reason ? missing->input->reason
									  : "not measured");
	else
		row_fill(computer, formula, scope, values, row);
	return true;
}

/* Every input was asked for, but not in one scope: name two that do not go together. */
static bool row_mixed(
	const struct computer *computer, const struct formula *formula, struct metric_result *row)
{
	const struct given *first = NULL, *other = NULL;

	for (uint32_t i = 0; i < formula->names_count; i++) {
		const struct given *given = given_find(computer, formula->names[i], NULL);

		if (!given)
			return false;
		if (name_is_execution(formula->names[i]))
			continue;
		if (!first)
			first = given;
		else if ((!str_equal(given->core, first->core) ||
				 !str_equal(given->modifiers, first->modifiers)))
			other = given;
	}
	if (!first || !other)
		return false;
	row->reason = arena_format(computer->arena,
		"%s and %s count different %s and cannot be mixed", first->input->name,
		other->input->name, str_equal(first->core, other->core) ? "modes" : "cores");
	return true;
}

/* One formula in every scope; whether any row has a value. */
static bool rows_compute(const struct computer *computer, const struct formula *formula,
	const struct metric_result *empty, struct metric_results *results)
{
	bool known = false;

	vec_foreach (const struct scope, scope, &computer->scopes) {
		struct metric_result row = *empty;

		if (empty->metric->core && !str_equal(empty->metric->core, scope->core))
			continue;
		if (!row_compute(computer, formula, scope, &row))
			continue;
		vec_push(&results->rows, row);
		known |= row.known;
	}
	return known;
}

/* The first formula with a value wins; without one, the first that can say what is missing. */
static void computer_run(const struct computer *computer, const struct metric *metric,
	struct metric_results *results)
{
	const struct metric_result empty = {
		.metric = metric, .core = "", .modifiers = "", .reason = "", .value = (double)NAN};
	struct metric_result mixed = empty;
	struct metric_results best = {0};
	bool known = false;

	for (unsigned f = 0; f < metric->formulas_count && !known; f++) {
		struct metric_results rows = {0};

		known = rows_compute(computer, &metric->formulas[f], &empty, &rows);
		if (known || !best.rows.count) {
			struct metric_results worse = best;

			best = rows;
			rows = worse;
		}
		metric_results_done(&rows);
	}
	for (unsigned f = 0; f < metric->formulas_count && !best.rows.count; f++)
		if (row_mixed(computer, &metric->formulas[f], &mixed))
			vec_push(&best.rows, mixed);
	vec_foreach (const struct metric_result, row, &best.rows)
		vec_push(&results->rows, *row);
	metric_results_done(&best);
}

void metric_compute(const struct metric_book *book, const struct metric *metric,
	const struct metric_input *inputs, uint32_t count, struct arena *arena,
	struct metric_results *results)
{
	struct computer computer = computer_make(book, inputs, count, arena);

	computer_run(&computer, metric, results);
	computer_done(&computer);
}

void metric_compute_all(const struct metric_book *book, const struct metric_input *inputs,
	uint32_t count, struct arena *arena, struct metric_results *results)
{
	struct computer computer = computer_make(book, inputs, count, arena);

	vec_foreach (const struct metric, metric, &book->metrics)
		computer_run(&computer, metric, results);
	computer_done(&computer);
}

void metric_results_done(struct metric_results *results)
{
	vec_done(&results->rows);
}

void metric_events(const struct metric *metric, struct str *out)
{
	const struct formula *formula = &metric->formulas[0];
	str_auto struct str events = {0};
	unsigned count = 0;

	for (uint32_t i = 0; i < formula->names_count; i++) {
		if (name_is_execution(formula->names[i]))
			continue;
		str_addf(&events, "%s%s", count++ ? "," : "", formula->names[i]);
	}
	str_addf(out, count > 1 ? "{%s}" : "%s", str_text(&events));
}

enum metric_assessment metric_assess(const struct metric *metric, double value)
{
	if (!metric->healthy.sign || isnan(value) || value < metric->low || value > metric->high)
		return METRIC_NONE;
	if (limit_holds(&metric->investigate, value))
		return METRIC_INVESTIGATE;
	return limit_holds(&metric->healthy, value) ? METRIC_HEALTHY : METRIC_WATCH;
}

const char *metric_assessment_word(enum metric_assessment assessment)
{
	static const char *const words[] = {[METRIC_NONE] = "none",
		[METRIC_HEALTHY] = "healthy",
		[METRIC_WATCH] = "watch",
		[METRIC_INVESTIGATE] = "investigate"};

	return words[assessment];
}
