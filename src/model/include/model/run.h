/* run.h - one run: everything that was measured, as flat append-only tables linked by ids.
 *
 * Does: hold the rows, intern the texts.  Does not: compute, read clocks, print.
 * Owns: all its rows and texts until run_close().  Ids are 1-based, 0 means "none"; row `id`
 * of a table is its at[id - 1].  A frozen run takes no more rows: analyze gets it const.
 * The same tables, with the same ids, are the SQLite file (store.h, docs/format.md).
 * Threads: one at a time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/rows.h"

struct run {
	struct run_texts *texts;
	vec_of(struct note_row) notes;
	vec_of(struct field_row) fields;
	vec_of(struct capability_row) capabilities;
	vec_of(struct event_row) events;
	vec_of(struct command_row) commands;
	vec_of(struct execution_packed) executions; /* run_execution() reads one */
	vec_of(struct count_row) counts;
	vec_of(struct quality_row) qualities;
	vec_of(struct causal_target_row) causal_targets;
	vec_of(struct progress_point_row) progress_points;
	vec_of(struct experiment_row) experiments;
	vec_of(struct visit_row) visits;
	vec_of(struct thread_row) threads;
	vec_of(struct module_row) modules;
	vec_of(struct function_row) functions;
	vec_of(struct frame_row) frames;
	vec_of(struct location_row) locations;
	vec_of(struct stack_row) stacks;
	vec_of(struct sample_row) samples;
	vec_of(struct branch_row) branches;
	vec_of(struct access_row) accesses;
	vec_of(struct place_row) places;
	vec_of(struct fact_row) facts;
	vec_of(struct span_row) spans;
	vec_of(struct claim_row) claims;
	text_id command;     /* the assay command that made it: "stat" */
	text_id target;	     /* the target's command line, for people */
	text_id fingerprint; /* key, 0 when the fingerprint was not taken */
	uint64_t started_ns; /* CLOCK_REALTIME */
	bool partial;	     /* interrupted, killed or still being written */
	bool frozen;
};

struct run *run_open(void);
void run_close(struct run *run);
void run_close_pointer(struct run **run);
#define run_auto __attribute__((cleanup(run_close_pointer)))

/* The id of this text, new or known; "" and NULL are 0. */
text_id run_intern(struct run *run, const char *text);

/* The text of an id; "" for 0 and for ids that do not exist.  Lives as long as the run. */
const char *run_text(const struct run *run, text_id id);

/* How many texts there are: ids 1..count. */
uint32_t run_text_count(const struct run *run);

/* Append one row; returns its id.  Not on a frozen run (asserted). */
row_id run_add_note(struct run *run, const char *code, const char *text, const char *hint);
row_id run_add_field(struct run *run, const struct field_row *row);
row_id run_add_capability(struct run *run, const struct capability_row *row);
row_id run_add_event(struct run *run, const struct event_row *row);
row_id run_add_command(struct run *run, const struct command_row *row);
row_id run_add_execution(struct run *run, const struct execution_row *row);
row_id run_add_count(struct run *run, const struct count_row *row);
row_id run_add_causal_target(struct run *run, const struct causal_target_row *row);
row_id run_add_progress_point(struct run *run, const struct progress_point_row *row);
row_id run_add_experiment(struct run *run, const struct experiment_row *row);
row_id run_add_visit(struct run *run, const struct visit_row *row);
row_id run_add_thread(struct run *run, const struct thread_row *row);
row_id run_add_module(struct run *run, const struct module_row *row);
row_id run_add_function(struct run *run, const struct function_row *row);
row_id run_add_frame(struct run *run, const struct frame_row *row);
row_id run_add_location(struct run *run, const struct location_row *row);
row_id run_add_stack(struct run *run, const struct stack_row *row);
row_id run_add_sample(struct run *run, const struct sample_row *row);
row_id run_add_branch(struct run *run, const struct branch_row *row);
row_id run_add_access(struct run *run, const struct access_row *row);
row_id run_add_place(struct run *run, const struct place_row *row);
row_id run_add_fact(struct run *run, const struct fact_row *row);
row_id run_add_span(struct run *run, const struct span_row *row);
row_id run_add_claim(struct run *run, const struct claim_row *row);

/* Execution `id`, in the units of its columns. */
struct execution_row run_execution(const struct run *run, row_id id);

/* Samples that a row of the table stands for: 1, or more where its source merged equal stacks. */
uint64_t run_sample_count(const struct run *run, const struct sample_row *sample);

/* Append the causal experiments of `more`, with its executions and notes.  Targets and points of
 * the same name are joined. */
void run_join_experiments(struct run *run, const struct run *more);

/* Set the property `name` of the measurement: added once, replaced later. */
void run_set_quality(struct run *run, const char *name, uint64_t value);

/* Its value; false when it was not measured. */
bool run_get_quality(const struct run *run, const char *name, uint64_t *ret_value);

/* A fact of the fingerprint; `fallback` when the run does not know it. */
const char *run_get_field(
	const struct run *run, const char *group, const char *name, const char *fallback);

/* Name a location: `frame` is its innermost frame. */
void run_name_location(struct run *run, row_id location, row_id frame);

/* Replace an event's row: its status is final only when the counting has ended. */
void run_set_event(struct run *run, row_id event, const struct event_row *row);

void run_freeze(struct run *run);
