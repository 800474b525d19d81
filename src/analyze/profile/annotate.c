/* annotate.c - see annotate.h: the events, what is hot, what has to be said beside the numbers.
 *
 * Where samples are and what they cost is found in annotate_place.c and annotate_count.c. */
#include "analyze/annotate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/find_function.h"
#include "annotate_parts.h"
#include "base/str.h"
#include "base/words.h"
#include "code/listing.h"

/* Modifiers stand behind the last ':' or, for PMU/.../ events, behind the last '/'. */
bool annotate_is_precise(const char *event)
{
	const char *colon = strrchr(event, ':'), *slash = strrchr(event, '/');
	const char *modifiers = slash > colon ? slash : colon;
	unsigned asked = 0;

	if (str_starts(event, "ibs_op") || str_starts(event, "arm_spe"))
		return true;
	/* Clocks are timers: the kernel takes the modifier and cannot do better. */
	if (!modifiers || str_starts(event, "cpu-clock") || str_starts(event, "task-clock"))
		return false;
	if (modifiers[strspn(modifiers, ":/pPukhGHSDIWeb")])
		return false; /* a tracepoint, "sched:sched_switch" */
	for (; *modifiers; modifiers++)
		asked += *modifiers == 'p';
	return asked >= 2; /* :p promises a constant skid, :P whatever there is */
}

static bool event_is_wanted(const struct annotate_work *work, row_id id)
{
	const char *wanted = work->options->event;

	return !wanted || str_equal(run_text(work->run, work->run->events.at[id - 1].name), wanted);
}

static int no_event(const struct run *run, const char *wanted, struct err *err)
{
	mem_auto const char **words = mem_new(run->events.count + 1, sizeof(*words));

	for (uint32_t i = 0; i < run->events.count; i++)
		words[i] = run_text(run, run->events.at[i].name);
	if (wanted)
		err_set(err, ERR_USAGE, EINVAL, "this run has no samples of event '%s'", wanted);
	else
		err_set(err, ERR_USAGE, EINVAL, "this run has no samples");
	return err_nearest(err, wanted ? str_nearest(wanted, words) : NULL,
		"record some with `assay record -- PROGRAM`");
}

/* The events that have samples, in the order of the run. */
static int events_find(struct annotate_work *work, struct err *err)
{
	const struct run *run = work->run;
	struct annotate_view *view = work->view;
	mem_auto bool *unweighted = mem_new(run->events.count + 1, sizeof(*unweighted));

	work->columns = mem_new(run->events.count + 1, sizeof(*work->columns));
	vec_foreach (const struct sample_row, sample, &run->samples) {
		unweighted[sample->event] |= !sample->period;
		work->columns[sample->event] = sample->event ? 1 : 0;
	}
	view->events = arena_take(work->arena, (run->events.count + 1) * sizeof(*view->events));
	for (row_id id = 1; id <= run->events.count; id++) {
		const char *name = run_text(run, run->events.at[id - 1].name);

		if (!work->columns[id] || !event_is_wanted(work, id)) {
			work->columns[id] = 0;
			continue;
		}
		view->events[view->event_count] = (struct annotate_event){.id = id,
			.name = name,
			.precise = annotate_is_precise(name),
			.weighted = !unweighted[id]};
		work->columns[id] = ++view->event_count;
	}
	return view->event_count ? 0 : no_event(run, work->options->event, err);
}

static void functions_index(struct annotate_work *work, row_id module)
{
	for (row_id id = 1; id <= work->run->functions.count; id++) {
		const struct function_row *f = &work->run->functions.at[id - 1];

		if (f->addr && f->module == module)
			map_put(&work->function_at, &f->addr, sizeof(f->addr), id);
	}
}

/* The function of the run that begins at an address, NULL: none that was sampled. */
static const char *function_name_at(const struct annotate_work *work, uint64_t addr)
{
	row_id id;

	if (!map_get(&work->function_at, &addr, sizeof(addr), &id))
		return NULL;
	return run_text(work->run, work->run->functions.at[id - 1].name);
}

static void instructions_take(struct annotate_work *work)
{
	static const enum annotate_kind kinds[] = {[INSTRUCTION_PLAIN] = ANNOTATE_PLAIN,
		[INSTRUCTION_CALL] = ANNOTATE_CALL,
		[INSTRUCTION_JUMP] = ANNOTATE_JUMP,
		[INSTRUCTION_RETURN] = ANNOTATE_RETURN,
		[INSTRUCTION_BYTES] = ANNOTATE_BYTES};
	const struct listing *listing = work->options->listing;
	struct annotate_view *view = work->view;
	struct profile_cost *costs;

	functions_index(work, work->run->functions.at[work->options->function->best - 1].module);
	view->instruction_count = listing->instruction_count;
	view->instructions = arena_take(
		work->arena, (view->instruction_count + 1) * sizeof(*view->instructions));
	costs = arena_take(work->arena,
		(size_t)view->instruction_count * view->event_count * 2 * sizeof(*costs));
	for (uint32_t i = 0; i < view->instruction_count; i++, costs += 2 * view->event_count) {
		const struct instruction *from = &listing->instructions[i];

		view->instructions[i] = (struct annotate_instruction){
			.addr = from->addr,
			.size_bytes = from->size_bytes,
			.kind = kinds[from->kind],
			.text = from->text,
			.has_target = from->has_target,
			.target = from->target,
			.target_name = from->target_name,
			.self = costs,
			.below = costs + view->event_count,
		};
		if (from->has_target && !from->target_name)
			view->instructions[i].target_name = function_name_at(work, from->target);
	}
}

static int by_addr(const void *key, const void *row)
{
	uint64_t addr = *(const uint64_t *)key;
	const struct annotate_instruction *instruction = row;

	return (addr > instruction->addr) - (addr < instruction->addr);
}

static struct annotate_instruction *jump_target(
	const struct annotate_view *view, const struct annotate_instruction *from)
{
	if (from->kind != ANNOTATE_JUMP || !from->has_target)
		return NULL;
	return bsearch(&from->target, view->instructions, view->instruction_count,
		sizeof(*view->instructions), by_addr);
}

/* Labels count in the order of addresses, as a reader meets them. */
static void jumps_label(struct annotate_view *view)
{
	uint32_t labels = 0;

	for (uint32_t i = 0; i < view->instruction_count; i++) {
		struct annotate_instruction *to = jump_target(view, &view->instructions[i]);

		if (to)
			to->label = 1;
	}
	for (uint32_t i = 0; i < view->instruction_count; i++)
		if (view->instructions[i].label)
			view->instructions[i].label = ++labels;
	for (uint32_t i = 0; i < view->instruction_count; i++) {
		struct annotate_instruction *from = &view->instructions[i];
		const struct annotate_instruction *to = jump_target(view, from);

		from->target_label = to ? to->label : 0;
		if (to)
			from->target_name = NULL; /* the label says more */
	}
}

static int by_place(const void *a, const void *b)
{
	const struct annotate_line *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

static void lines_take(struct annotate_work *work)
{
	struct annotate_view *view = work->view;

	view->line_count = work->lines.count;
	view->lines =
		arena_keep(work->arena, work->lines.at, work->lines.count * sizeof(*view->lines));
	qsort(view->lines, view->line_count, sizeof(*view->lines), by_place);
	view->file_count = work->files.count;
	view->files =
		arena_keep(work->arena, work->files.at, work->files.count * sizeof(*view->files));
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : (double)NAN;
}

double annotate_self_share(const struct annotate_event *event, const struct profile_cost *cost)
{
	return share(cost->weight, event->self.weight);
}

double annotate_total_share(const struct annotate_event *event, const struct profile_cost *cost)
{
	return share(cost->weight, event->total.weight);
}

double annotate_run_share(const struct annotate_event *event, const struct profile_cost *cost)
{
	return share(cost->weight, event->run.weight);
}

/* How hot a place is: its largest share in any event, own or below. */
static double heat_of(const struct annotate_view *view, const struct profile_cost *self,
	const struct profile_cost *below)
{
	double heat = 0;

	for (uint32_t e = 0; e < view->event_count; e++) {
		heat = fmax(heat, annotate_self_share(&view->events[e], &self[e]));
		heat = fmax(heat, annotate_total_share(&view->events[e], &below[e]));
	}
	return heat;
}

struct heat {
	double value;
	uint32_t index;
};

/* Equal ones stay in the order of their places. */
static int hotter_first(const void *a, const void *b)
{
	const struct heat *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return (x->index > y->index) - (x->index < y->index);
}

static uint32_t heats_count(const struct heat *heats, uint32_t count, uint32_t wanted)
{
	uint32_t hot = 0;

	while (hot < count && heats[hot].value > 0 && (!wanted || hot < wanted))
		hot++;
	return hot;
}

static void lines_rank(struct annotate_work *work)
{
	struct annotate_view *view = work->view;
	mem_auto struct heat *heats = mem_new(view->line_count + 1, sizeof(*heats));
	uint32_t hot;

	for (uint32_t i = 0; i < view->line_count; i++)
		heats[i] =
			(struct heat){heat_of(view, view->lines[i].self, view->lines[i].below), i};
	qsort(heats, view->line_count, sizeof(*heats), hotter_first);
	hot = heats_count(heats, view->line_count, work->options->hot_rows);
	view->ranking = arena_take(work->arena, (view->line_count + 1) * sizeof(uint32_t));
	for (uint32_t i = 0; i < view->line_count; i++) {
		view->ranking[i] = heats[i].index;
		view->lines[heats[i].index].hot = i < hot;
	}
}

static void instructions_rank(struct annotate_work *work)
{
	struct annotate_view *view = work->view;
	mem_auto struct heat *heats = mem_new(view->instruction_count + 1, sizeof(*heats));
	uint32_t warm = 0, hot;

	for (uint32_t i = 0; i < view->instruction_count; i++) {
		const struct annotate_instruction *row = &view->instructions[i];
		double heat = heat_of(view, row->self, row->below);

		if (heat > 0)
			heats[warm++] = (struct heat){heat, i};
	}
	qsort(heats, warm, sizeof(*heats), hotter_first);
	hot = heats_count(heats, warm, work->options->hot_rows);
	for (uint32_t i = 0; i < hot; i++)
		view->instructions[heats[i].index].hot = true;
}

static void note_add(
	struct annotate_view *view, const char *code, const char *text, const char *hint)
{
	if (view->note_count < sizeof(view->notes) / sizeof(*view->notes))
		view->notes[view->note_count++] = (struct annotate_note){code, text, hint};
}

/* Without a place of its own it has no instructions; those are in its hosts. */
static void inlined_only_say(struct annotate_work *work)
{
	const char *host;

	if (!work->view->inlined_only || !work->host)
		return;
	host = run_text(work->run, work->run->functions.at[work->host - 1].name);
	work->view->missing = arena_format(work->arena,
		"it has no code of its own: it was inlined, for example into %s", host);
	work->view->missing_hint = arena_format(work->arena, "assay annotate %s %s",
		word_quoted(work->options->run_path, work->arena), word_quoted(host, work->arena));
}

enum { CUT_WORTH_SAYING = 100 }; /* one sample in so many */

static void notes_make(struct annotate_work *work)
{
	struct annotate_view *view = work->view;
	bool precise = true;

	for (uint32_t e = 0; e < view->event_count; e++)
		precise &= view->events[e].precise;
	if (!precise)
		note_add(view, "skid",
			"samples land on or shortly after the instruction that took the time; "
			"trust lines more than single instructions",
			"events with :pp are exact where the PMU supports it: assay record -e "
			"cycles:pp");
	if (work->cut_samples * CUT_WORTH_SAYING > work->samples)
		note_add(view, "cut_stacks",
			arena_format(work->arena,
				"%llu of %llu stacks are incomplete: totals may be larger than "
				"shown",
				(unsigned long long)work->cut_samples,
				(unsigned long long)work->samples),
			"");
	if (work->copy_samples)
		note_add(view, "inlined_elsewhere",
			arena_format(work->arena,
				"%llu samples are in copies inlined into other functions; these "
				"numbers exclude them",
				(unsigned long long)work->copy_samples),
			"annotate the functions it was inlined into");
}

/* Where more time is spent below one call than here, the called function is the next to look at. */
static void next_choose(struct annotate_work *work)
{
	struct annotate_view *view = work->view;
	const char *path = word_quoted(work->options->run_path, work->arena);
	const struct annotate_instruction *call = NULL;

	for (uint32_t i = 0; i < view->instruction_count; i++) {
		const struct annotate_instruction *row = &view->instructions[i];
		bool more = row->below[0].weight > (call ? call->below[0].weight : 0);

		if (more && row->has_target && function_name_at(work, row->target))
			call = row;
	}
	if (call && call->below[0].weight > view->events[0].self.weight &&
		call->target != view->addr)
		view->next = arena_format(work->arena, "assay annotate %s %s", path,
			word_quoted(function_name_at(work, call->target), work->arena));
	else
		view->next = arena_format(work->arena, "assay report %s --callers %s", path,
			word_quoted(view->function, work->arena));
}

static void view_begin(struct annotate_work *work)
{
	const struct run *run = work->run;
	const struct listing *listing = work->options->listing;
	const struct function_row *f = &run->functions.at[work->options->function->best - 1];
	struct annotate_view *view = work->view;
	size_t bytes = view->event_count * sizeof(struct profile_cost);

	view->function = run_text(run, f->name);
	view->module = f->module ? run_text(run, run->modules.at[f->module - 1].path) : "[unknown]";
	view->file = run_text(run, f->file);
	view->line = f->line;
	view->addr = f->addr;
	view->size_bytes = f->size_bytes;
	view->outside = arena_take(work->arena, bytes);
	view->inlined = arena_take(work->arena, bytes);
	view->missing = listing ? listing->missing : "only lines were requested";
	view->missing_hint = listing && listing->hint ? listing->hint : "";
	if (listing && !listing->missing)
		instructions_take(work);
	jumps_label(view);
}

int annotate_make(const struct run *run, const struct annotate_options *options,
	struct arena *arena, struct annotate_view *ret_view, struct err *err)
{
	struct annotate_work work = {
		.run = run, .options = options, .arena = arena, .view = ret_view};
	int r;

	*ret_view = (struct annotate_view){0};
	r = events_find(&work, err);
	if (r >= 0) {
		view_begin(&work);
		annotate_find_places(&work);
		annotate_count(&work);
		lines_take(&work);
		lines_rank(&work);
		instructions_rank(&work);
		inlined_only_say(&work);
		notes_make(&work);
		next_choose(&work);
	}
	free(work.columns);
	free(work.places);
	vec_done(&work.lines);
	vec_done(&work.files);
	map_done(&work.file_index);
	map_done(&work.line_index);
	map_done(&work.function_at);
	return r;
}
