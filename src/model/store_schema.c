/* store_schema.c - the tables of a run, column by column.
 *
 * The tables mirror struct run (model/run.h), with the same ids; only stacks are packed
 * (store_segment.c).  Texts are stored once, in `text`, and referred to by id: a sample row is
 * seven small integers (30 bytes in the file, measured over 1e6), and people get their texts back
 * through the views (store_views.c).  "None" is NULL, so joins and IS NULL mean what they say.
 * STRICT tables would be nice, but sqlite3 before 3.37 cannot open them. */
#include "store_schema.h"

#include <assert.h>
#include <string.h>

#include "execution.h"

#define COLUMN(type, member, kind)                                                                 \
	{                                                                                          \
#member, offsetof(struct type, member), kind, 0, 0                                 \
	}
#define LIMITED(type, member, kind, limit)                                                         \
	{                                                                                          \
#member, offsetof(struct type, member), kind, limit, 0                             \
	}

static const struct store_column note_columns[] = {
	COLUMN(note_row, code, STORE_TEXT),
	COLUMN(note_row, text, STORE_TEXT),
	COLUMN(note_row, hint, STORE_TEXT),
};

static const struct store_column field_columns[] = {
	{"\"group\"", offsetof(struct field_row, group), STORE_TEXT, 0, 0},
	COLUMN(field_row, name, STORE_TEXT),
	COLUMN(field_row, value, STORE_TEXT),
	LIMITED(field_row, state, STORE_ENUM, FIELD_STATES),
};

static const struct store_column capability_columns[] = {
	COLUMN(capability_row, name, STORE_TEXT),
	COLUMN(capability_row, reason, STORE_TEXT),
	COLUMN(capability_row, fix, STORE_TEXT),
	LIMITED(capability_row, status, STORE_ENUM, CAPABILITY_STATUSES),
};

static const struct store_column event_columns[] = {
	COLUMN(event_row, name, STORE_TEXT),
	COLUMN(event_row, unit, STORE_TEXT),
	COLUMN(event_row, core, STORE_TEXT),
	COLUMN(event_row, reason, STORE_TEXT),
	{"\"group\"", offsetof(struct event_row, group), STORE_U32, 0, 0},
	COLUMN(event_row, flags, STORE_U32),
	LIMITED(event_row, status, STORE_ENUM, EVENT_STATUSES),
	COLUMN(event_row, scale, STORE_REAL),
};

static const struct store_column command_columns[] = {
	COLUMN(command_row, argv, STORE_TEXT),
};

static const struct store_column execution_columns[] = {
	COLUMN(execution_row, start_ns, STORE_U64),
	COLUMN(execution_row, wall_ns, STORE_U64),
	COLUMN(execution_row, user_ns, STORE_U64),
	COLUMN(execution_row, system_ns, STORE_U64),
	COLUMN(execution_row, max_rss_bytes, STORE_U64),
	COLUMN(execution_row, rss_floor_bytes, STORE_U64),
	COLUMN(execution_row, minor_faults, STORE_U64),
	COLUMN(execution_row, major_faults, STORE_U64),
	COLUMN(execution_row, voluntary_switches, STORE_U64),
	COLUMN(execution_row, involuntary_switches, STORE_U64),
	COLUMN(execution_row, steal_ns, STORE_U64),
	COLUMN(execution_row, pressure_ns, STORE_U64),
	LIMITED(execution_row, command, STORE_ROW, STORE_COMMAND),
	COLUMN(execution_row, exit_status, STORE_I32),
	COLUMN(execution_row, signal, STORE_I32),
	COLUMN(execution_row, flags, STORE_U32),
	{"queue_ns", offsetof(struct execution_row, queue_ns), STORE_U64, 0, 5},
};

static const struct store_column count_columns[] = {
	LIMITED(count_row, event, STORE_ROW, STORE_EVENT),
	LIMITED(count_row, execution, STORE_LATE, STORE_EXECUTION), /* stored when it has ended */
	COLUMN(count_row, at_ns, STORE_U64),
	COLUMN(count_row, value, STORE_U64),
	COLUMN(count_row, enabled_ns, STORE_U64),
	COLUMN(count_row, running_ns, STORE_U64),
};

static const struct store_column quality_columns[] = {
	COLUMN(quality_row, name, STORE_TEXT),
	COLUMN(quality_row, value, STORE_U64),
};

static const struct store_column causal_target_columns[] = {
	COLUMN(causal_target_row, name, STORE_TEXT),
	COLUMN(causal_target_row, file, STORE_TEXT),
	COLUMN(causal_target_row, function, STORE_TEXT),
	COLUMN(causal_target_row, line, STORE_U32),
	LIMITED(causal_target_row, kind, STORE_ENUM, CAUSAL_TARGET_KINDS),
};

static const struct store_column progress_point_columns[] = {
	COLUMN(progress_point_row, name, STORE_TEXT),
	LIMITED(progress_point_row, kind, STORE_ENUM, PROGRESS_KINDS),
};

static const struct store_column experiment_columns[] = {
	LIMITED(experiment_row, target, STORE_ROW, STORE_CAUSAL_TARGET),
	LIMITED(experiment_row, execution, STORE_LATE, STORE_EXECUTION), /* stored when it ended */
	COLUMN(experiment_row, pair, STORE_U32),
	COLUMN(experiment_row, speedup_permille, STORE_U32),
	COLUMN(experiment_row, threads, STORE_U32),
	COLUMN(experiment_row, flags, STORE_U32),
	COLUMN(experiment_row, start_ns, STORE_U64),
	COLUMN(experiment_row, wall_ns, STORE_U64),
	COLUMN(experiment_row, virtual_ns, STORE_U64),
	COLUMN(experiment_row, owed_ns, STORE_U64),
	COLUMN(experiment_row, unpaid_ns, STORE_U64),
	COLUMN(experiment_row, samples, STORE_U64),
	COLUMN(experiment_row, hits, STORE_U64),
	COLUMN(experiment_row, hit_ns, STORE_U64),
	COLUMN(experiment_row, lost, STORE_U64),
	COLUMN(experiment_row, handed, STORE_U64),
	COLUMN(experiment_row, outside, STORE_U64),
	COLUMN(experiment_row, timer, STORE_U64),
	COLUMN(experiment_row, signals, STORE_U64),
	COLUMN(experiment_row, unheard, STORE_U64),
	COLUMN(experiment_row, paused_ns, STORE_U64),
	COLUMN(experiment_row, queued_ns, STORE_U64),
	COLUMN(experiment_row, ran_ns, STORE_U64),
};

static const struct store_column visit_columns[] = {
	LIMITED(visit_row, experiment, STORE_ROW, STORE_EXPERIMENT),
	LIMITED(visit_row, point, STORE_ROW, STORE_PROGRESS_POINT),
	COLUMN(visit_row, arrivals, STORE_U64),
	COLUMN(visit_row, departures, STORE_U64),
	COLUMN(visit_row, open_before, STORE_U64),
	COLUMN(visit_row, open_after, STORE_U64),
};

static const struct store_column thread_columns[] = {
	COLUMN(thread_row, pid, STORE_U32),
	COLUMN(thread_row, tid, STORE_U32),
	COLUMN(thread_row, name, STORE_TEXT),
};

static const struct store_column module_columns[] = {
	COLUMN(module_row, path, STORE_TEXT),
	COLUMN(module_row, build_id, STORE_TEXT),
	COLUMN(module_row, flags, STORE_U32),
};

static const struct store_column function_columns[] = {
	COLUMN(function_row, name, STORE_TEXT),
	COLUMN(function_row, file, STORE_TEXT),
	LIMITED(function_row, module, STORE_ROW, STORE_MODULE),
	COLUMN(function_row, line, STORE_U32),
	COLUMN(function_row, addr, STORE_U64),
	COLUMN(function_row, size_bytes, STORE_U64),
};

static const struct store_column frame_columns[] = {
	LIMITED(frame_row, function, STORE_ROW, STORE_FUNCTION),
	LIMITED(frame_row, outer, STORE_OLDER, STORE_FRAME),
	COLUMN(frame_row, file, STORE_TEXT),
	COLUMN(frame_row, line, STORE_U32),
};

static const struct store_column location_columns[] = {
	LIMITED(location_row, module, STORE_ROW, STORE_MODULE),
	COLUMN(location_row, addr, STORE_U64),
	LIMITED(location_row, frame, STORE_ROW, STORE_FRAME),
	COLUMN(location_row, flags, STORE_U32),
};

static const struct store_column stack_columns[] = {
	LIMITED(stack_row, parent, STORE_OLDER, STORE_STACK),
	LIMITED(stack_row, location, STORE_ROW, STORE_LOCATION),
};

static const struct store_column sample_columns[] = {
	COLUMN(sample_row, time_ns, STORE_U64),
	COLUMN(sample_row, period, STORE_U64),
	LIMITED(sample_row, event, STORE_ROW, STORE_EVENT),
	LIMITED(sample_row, thread, STORE_ROW, STORE_THREAD),
	LIMITED(sample_row, stack, STORE_ROW, STORE_STACK),
	COLUMN(sample_row, cpu, STORE_U32),
	COLUMN(sample_row, flags, STORE_U32),
};

static const struct store_column branch_columns[] = {
	LIMITED(branch_row, sample, STORE_ROW, STORE_SAMPLE),
	{"\"from\"", offsetof(struct branch_row, from), STORE_ROW, STORE_LOCATION, 0},
	{"\"to\"", offsetof(struct branch_row, to), STORE_ROW, STORE_LOCATION, 0},
	COLUMN(branch_row, cycles, STORE_U32),
	COLUMN(branch_row, flags, STORE_U32),
};

static const struct store_column access_columns[] = {
	LIMITED(access_row, sample, STORE_ROW, STORE_SAMPLE),
	COLUMN(access_row, addr, STORE_U64),
	COLUMN(access_row, weight, STORE_U64),
	COLUMN(access_row, data_source, STORE_U64),
};

static const struct store_column place_columns[] = {
	LIMITED(place_row, event, STORE_ROW, STORE_EVENT),
	COLUMN(place_row, function, STORE_TEXT),
	COLUMN(place_row, file, STORE_TEXT),
	COLUMN(place_row, line, STORE_U32),
	COLUMN(place_row, value, STORE_U64),
};

static const struct store_column fact_columns[] = {
	COLUMN(fact_row, name, STORE_TEXT),
	COLUMN(fact_row, unit, STORE_TEXT),
	COLUMN(fact_row, witness, STORE_TEXT),
	COLUMN(fact_row, reason, STORE_TEXT),
	LIMITED(fact_row, execution, STORE_LATE, STORE_EXECUTION), /* stored when it has ended */
	COLUMN(fact_row, value, STORE_REAL),
};

static const struct store_column span_columns[] = {
	COLUMN(span_row, name, STORE_TEXT),
	COLUMN(span_row, category, STORE_TEXT),
	COLUMN(span_row, evidence, STORE_TEXT),
	COLUMN(span_row, count, STORE_U64),
	COLUMN(span_row, total_ns, STORE_REAL),
	COLUMN(span_row, p50_ns, STORE_REAL),
	COLUMN(span_row, p95_ns, STORE_REAL),
	COLUMN(span_row, p99_ns, STORE_REAL),
	COLUMN(span_row, p999_ns, STORE_REAL),
	COLUMN(span_row, max_ns, STORE_REAL),
};

static const struct store_column claim_columns[] = {
	COLUMN(claim_row, name, STORE_TEXT),
	COLUMN(claim_row, verdict, STORE_TEXT),
	COLUMN(claim_row, evidence, STORE_TEXT),
};

#define TABLE_SINCE(singular, plural, since)                                                       \
	{                                                                                          \
#singular, offsetof(struct run, plural), sizeof(struct singular##_row),            \
			singular##_columns,                                                        \
			sizeof(singular##_columns) / sizeof(*singular##_columns), since, 0, false  \
	}

#define TABLE(singular, plural) TABLE_SINCE(singular, plural, 1)

const struct store_table store_tables[STORE_TABLES] = {
	[STORE_NOTE] = TABLE(note, notes),
	[STORE_FIELD] = TABLE(field, fields),
	[STORE_CAPABILITY] = TABLE(capability, capabilities),
	[STORE_EVENT] = TABLE(event, events),
	[STORE_COMMAND] = TABLE(command, commands),
	[STORE_EXECUTION] = {"execution", offsetof(struct run, executions),
		sizeof(struct execution_row), execution_columns,
		sizeof(execution_columns) / sizeof(*execution_columns), 1, 0, true},
	[STORE_COUNT] = TABLE(count, counts),
	[STORE_QUALITY] = TABLE(quality, qualities),
	[STORE_CAUSAL_TARGET] = TABLE_SINCE(causal_target, causal_targets, 2),
	[STORE_PROGRESS_POINT] = TABLE_SINCE(progress_point, progress_points, 2),
	[STORE_EXPERIMENT] = TABLE_SINCE(experiment, experiments, 2),
	[STORE_VISIT] = TABLE_SINCE(visit, visits, 2),
	[STORE_THREAD] = TABLE(thread, threads),
	[STORE_MODULE] = TABLE(module, modules),
	[STORE_FUNCTION] = TABLE(function, functions),
	[STORE_FRAME] = TABLE(frame, frames),
	[STORE_LOCATION] = TABLE(location, locations),
	[STORE_STACK] = {"stack", offsetof(struct run, stacks), sizeof(struct stack_row),
		stack_columns, sizeof(stack_columns) / sizeof(*stack_columns), 1,
		STORE_SEGMENTS_SINCE - 1, false},
	[STORE_SAMPLE] = TABLE(sample, samples),
	[STORE_BRANCH] = TABLE(branch, branches),
	[STORE_ACCESS] = TABLE(access, accesses),
	[STORE_PLACE] = TABLE_SINCE(place, places, 3),
	[STORE_FACT] = TABLE_SINCE(fact, facts, 3),
	[STORE_SPAN] = TABLE_SINCE(span, spans, 3),
	[STORE_CLAIM] = TABLE_SINCE(claim, claims, 3),
};

const char store_create_text[] = "CREATE TABLE text(id INTEGER PRIMARY KEY, text TEXT NOT NULL)";
const char store_create_meta[] = "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID";

static_assert(sizeof(((struct run *)0)->notes) == sizeof(struct store_rows), "a vec_of()");
static_assert(sizeof(enum event_status) == sizeof(uint32_t), "members are read as 32 bits");

struct store_rows store_rows_of(const struct run *run, const struct store_table *table)
{
	struct store_rows rows;

	memcpy(&rows, (const unsigned char *)run + table->rows, sizeof(rows));
	return rows;
}

const void *store_get_row(const struct run *run, const struct store_table *table, row_id id,
	struct execution_row *scratch)
{
	if (!table->packed)
		return store_rows_of(run, table).at + (size_t)(id - 1) * table->row_size;
	*scratch = run_execution(run, id);
	return scratch;
}

const char *store_put_packed(struct run *run, const struct execution_row *row, uint64_t *saturated)
{
	if (row->command > EXECUTION_COMMANDS_MAX)
		return "command";
	if (row->flags > EXECUTION_FLAGS_MAX)
		return "flags";
	vec_push(&run->executions, execution_pack(row, saturated));
	return NULL;
}

static void column_sql(const struct store_column *column, int schema, struct str *sql)
{
	const struct store_table *other = &store_tables[column->limit];

	str_addf(sql, ", %s ", column->name);
	switch ((enum store_kind)column->kind) {
	case STORE_U32:
	case STORE_I32:
	case STORE_U64:
	case STORE_BOOL:
	case STORE_ENUM:
		str_add(sql, "INTEGER NOT NULL");
		break;
	case STORE_REAL:
		str_add(sql, "REAL");
		break;
	case STORE_TEXT:
		str_add(sql, "INTEGER REFERENCES text");
		break;
	case STORE_ROW:
	case STORE_LATE:
	case STORE_OLDER:
		str_add(sql, "INTEGER");
		if (!other->until || schema <= other->until)
			str_addf(sql, " REFERENCES %s", other->name);
		break;
	}
}

void store_create_sql(const struct store_table *table, int schema, struct str *sql)
{
	str_addf(sql, "CREATE TABLE %s(id INTEGER PRIMARY KEY", table->name);
	for (unsigned i = 0; i < table->column_count; i++)
		if (table->columns[i].since <= schema)
			column_sql(&table->columns[i], schema, sql);
	str_add_char(sql, ')');
}
