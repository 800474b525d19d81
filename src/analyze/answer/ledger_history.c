/* ledger_history.c - see ledger_history.h.
 *
 * The lines of one run stand together in the file, because they are appended with one write; lines
 * that do not are still joined by run and target. */
#include "analyze/ledger_history.h"

#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "model/ledger.h"

/* ---- one run as rows ---- */

static void numbers_make(
	const struct ledger_row *row, struct arena *arena, struct ledger_entry *entry)
{
	struct ledger_number *numbers;
	uint32_t most = 0;

	for (uint32_t i = 0; i < row->witness_count; i++)
		most += row->witnesses[i].signal_count;
	numbers = arena_take(arena, (most + 1) * sizeof(*numbers));
	for (uint32_t i = 0; i < row->witness_count; i++)
		for (uint32_t j = 0; j < row->witnesses[i].signal_count; j++) {
			const struct signal *signal = row->witnesses[i].signals[j];
			uint32_t k = 0;

			while (k < entry->number_count &&
				strcmp(numbers[k].name, signal->name) != 0)
				k++;
			if (k == entry->number_count)
				numbers[entry->number_count++] =
					(struct ledger_number){signal->name, signal->value};
		}
	entry->numbers = numbers;
}

void ledger_entries_make(const struct ledger_view *view, const struct ledger_entry *run,
	struct arena *arena, struct ledger_entry **ret_entries, uint32_t *ret_count)
{
	struct ledger_entry *entries = arena_take(arena, (view->count + 1) * sizeof(*entries));

	for (uint32_t i = 0; i < view->count; i++) {
		const struct ledger_row *row = &view->rows[i];

		entries[i] = (struct ledger_entry){
			.time_ns = run->time_ns,
			.run_id = run->run_id,
			.fingerprint = run->fingerprint ? run->fingerprint : "",
			.target = run->target,
			.hypothesis = row->name,
			.verdict = hypothesis_verdict_word(row->verdict),
			.why = row->why,
			.share = row->share,
			.noisy = row->noisy,
		};
		numbers_make(row, arena, &entries[i]);
	}
	*ret_entries = entries;
	*ret_count = view->count;
}

/* ---- runs out of the file ---- */

static bool is_of(const struct ledger_run *run, const struct ledger_entry *entry)
{
	return strcmp(run->run_id, entry->run_id) == 0 && strcmp(run->target, entry->target) == 0;
}

struct runs {
	vec_of(struct ledger_run) rows; /* oldest first */
};

/* Names of the runs, and how many steps each has. */
static void runs_find(const struct ledger *ledger, struct runs *runs)
{
	vec_foreach (const struct ledger_entry, entry, &ledger->rows) {
		struct ledger_run *run = NULL;

		/* Backwards: it is nearly always the last one. */
		for (uint32_t i = runs->rows.count; i-- && !run;)
			if (is_of(&runs->rows.at[i], entry))
				run = &runs->rows.at[i];
		if (!run) {
			vec_push(&runs->rows, (struct ledger_run){.run_id = entry->run_id,
						      .target = entry->target,
						      .fingerprint = entry->fingerprint,
						      .time_ns = entry->time_ns});
			run = &runs->rows.at[runs->rows.count - 1];
		}
		run->step_count++;
	}
}

static const struct ledger_entry *entry_find(
	const struct ledger *ledger, const struct ledger_run *run, const char *hypothesis)
{
	const struct ledger_entry *found = NULL;

	vec_foreach (const struct ledger_entry, entry, &ledger->rows)
		if (is_of(run, entry) && strcmp(entry->hypothesis, hypothesis) == 0)
			found = entry;
	return found;
}

static void inputs_take(
	const struct ledger_entry *entry, struct arena *arena, struct ledger_step *step)
{
	struct ledger_input *inputs =
		arena_take(arena, (entry->number_count + 1) * sizeof(*inputs));

	for (uint32_t i = 0; i < entry->number_count; i++)
		inputs[i] = (struct ledger_input){entry->numbers[i].name, entry->numbers[i].value};
	step->inputs = inputs;
	step->input_count = entry->number_count;
}

static void steps_make(const struct ledger *ledger, const struct ledger_run *before,
	struct arena *arena, struct ledger_run *run)
{
	run->steps = arena_take(arena, (run->step_count + 1) * sizeof(*run->steps));
	run->step_count = 0;
	if (before) {
		run->before = before->run_id;
		run->same_machine =
			*run->fingerprint && strcmp(run->fingerprint, before->fingerprint) == 0;
	}
	vec_foreach (const struct ledger_entry, entry, &ledger->rows) {
		struct ledger_step *step = &run->steps[run->step_count];
		const struct ledger_entry *old;

		if (!is_of(run, entry))
			continue;
		old = before ? entry_find(ledger, before, entry->hypothesis) : NULL;
		*step = (struct ledger_step){
			.hypothesis = entry->hypothesis,
			.verdict = entry->verdict,
			.why = entry->why,
			.share = entry->share,
			.noisy = entry->noisy,
			.before = old ? old->verdict : NULL,
			.changed = "",
		};
		inputs_take(entry, arena, step);
		if (before && !old)
			step->changed = "new";
		else if (old && strcmp(old->verdict, entry->verdict) != 0)
			step->changed = arena_format(arena, "was %s", old->verdict);
		run->changed_count += *step->changed != '\0';
		run->step_count++;
	}
}

static bool is_wanted(const struct ledger_run *run, const struct ledger_query *query)
{
	return (!query->target || strstr(run->target, query->target)) &&
	       (!query->run_id || strcmp(run->run_id, query->run_id) == 0);
}

void ledger_history_make(const struct ledger *ledger, const struct ledger_query *query,
	struct arena *arena, struct ledger_history *ret_history)
{
	struct runs runs = {0};
	struct ledger_history history = {.skipped = ledger->skipped};

	runs_find(ledger, &runs);
	history.runs = arena_take(arena, (runs.rows.count + 1) * sizeof(*history.runs));
	for (uint32_t i = runs.rows.count; i--;) {
		struct ledger_run run = runs.rows.at[i];
		const struct ledger_run *before = NULL;

		if (!is_wanted(&run, query) || (query->last && history.count == query->last))
			continue;
		for (uint32_t j = i; j-- && !before;)
			if (strcmp(runs.rows.at[j].target, run.target) == 0)
				before = &runs.rows.at[j];
		steps_make(ledger, before, arena, &run);
		history.runs[history.count++] = run;
	}
	vec_done(&runs.rows);
	*ret_history = history;
}
