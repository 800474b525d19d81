/* cpu_table.c - the numbers of a table: helper values first, then the nodes, parents before their
 * children, each from what stands before it.  Names are looked up as texts: a table has some dozen
 * of each, and is computed once per report. */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "cpu_parts.h"

struct computed {
	const struct cpu_table *table;
	const double *counts;
	unsigned width;
	double values[CPU_VALUES];
	uint32_t values_count;
	const double *nodes;
	uint32_t nodes_count;
};

const struct cpu_set *cpu_table_set(const struct cpu_table *table, const char *name)
{
	for (uint32_t i = 0; i < table->sets_count; i++)
		if (str_equal(table->sets[i].name, name))
			return &table->sets[i];
	return NULL;
}

const struct cpu_event *cpu_table_event(const struct cpu_table *table, const char *name)
{
	for (uint32_t i = 0; i < table->events_count; i++)
		if (strcasecmp(table->events[i].name, name) == 0)
			return &table->events[i];
	return NULL;
}

const struct cpu_node *cpu_table_node(const struct cpu_table *table, const char *name)
{
	for (uint32_t i = 0; i < table->nodes_count; i++)
		if (str_equal(table->nodes[i].value.name, name))
			return &table->nodes[i];
	return NULL;
}

static double name_value(const struct computed *computed, const char *name)
{
	const struct cpu_table *table = computed->table;

	if (str_equal(name, "width"))
		return computed->width ? computed->width : (double)NAN;
	for (uint32_t i = 0; i < computed->values_count; i++)
		if (str_equal(table->values[i].name, name))
			return computed->values[i];
	for (uint32_t i = 0; i < computed->nodes_count; i++)
		if (str_equal(table->nodes[i].value.name, name))
			return computed->nodes[i];
	for (uint32_t i = 0; i < table->events_count; i++)
		if (str_equal(table->events[i].name, name))
			return computed->counts[i];
	return (double)NAN;
}

static double formula_compute(const struct computed *computed, const struct formula *formula)
{
	double inputs[FORMULA_STEPS], result;

	for (uint32_t i = 0; i < formula->names_count; i++) {
		inputs[i] = name_value(computed, formula->names[i]);
		if (isnan(inputs[i]))
			return (double)NAN;
	}
	return formula_value(formula, inputs, &result) < 0 ? (double)NAN : result;
}

static double value_compute(const struct computed *computed, const struct cpu_value *value)
{
	double result = (double)NAN;

	for (unsigned i = 0; isnan(result) && i < value->alternatives_count; i++)
		result = formula_compute(computed, &value->alternatives[i]);
	return result;
}

void cpu_table_compute(
	const struct cpu_table *table, const double *counts, unsigned width, double *ret_values)
{
	struct computed computed = {.table = table,
		.counts = counts,
		.width = width ? width : table->width,
		.nodes = ret_values};

	for (uint32_t i = 0; i < table->values_count; i++) {
		computed.values[i] = value_compute(&computed, &table->values[i]);
		computed.values_count = i + 1;
	}
	for (uint32_t i = 0; i < table->nodes_count; i++) {
		ret_values[i] = value_compute(&computed, &table->nodes[i].value);
		computed.nodes_count = i + 1;
	}
}

static const struct cpu_event *value_missing(
	const struct cpu_table *table, const struct cpu_value *value, const double *counts);

/* The first event behind a name that was not counted; a helper or a node is followed. */
static const struct cpu_event *name_missing(
	const struct cpu_table *table, const char *name, const double *counts)
{
	for (uint32_t i = 0; i < table->values_count; i++)
		if (str_equal(table->values[i].name, name))
			return value_missing(table, &table->values[i], counts);
	for (uint32_t i = 0; i < table->nodes_count; i++)
		if (str_equal(table->nodes[i].value.name, name))
			return value_missing(table, &table->nodes[i].value, counts);
	for (uint32_t i = 0; i < table->events_count; i++)
		if (str_equal(table->events[i].name, name))
			return isnan(counts[i]) ? &table->events[i] : NULL;
	return NULL;
}

/* Names only ever point to what stands before them in the file, so this ends. */
static const struct cpu_event *value_missing(
	const struct cpu_table *table, const struct cpu_value *value, const double *counts)
{
	const struct cpu_event *missing = NULL;

	for (unsigned a = 0; a < value->alternatives_count; a++) {
		const struct formula *formula = &value->alternatives[a];

		missing = NULL;
		for (uint32_t i = 0; !missing && i < formula->names_count; i++)
			missing = name_missing(table, formula->names[i], counts);
		if (!missing)
			return NULL;
	}
	return missing;
}

const struct cpu_event *cpu_node_missing(
	const struct cpu_table *table, const struct cpu_node *node, const double *counts)
{
	return value_missing(table, &node->value, counts);
}
