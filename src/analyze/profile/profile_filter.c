/* profile_filter.c - see profile_filter.h.
 *
 * Each part of a filter becomes a table that a sample looks into (by thread, by stack), so the pass
 * over the samples compares numbers only. */
#include "analyze/profile_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/label.h"
#include "base/mem.h"
#include "base/str.h"
#include "profile_parts.h"
#include "row_set.h"

/* What a first pass over all samples tells, whatever the filter. */
struct survey {
	uint64_t start_ns;
	uint64_t *by_event; /* samples of each event */
	bool *weightless;   /* by event: one of them has no period */
};

static void survey_make(const struct run *run, struct survey *survey)
{
	size_t count = (size_t)run->events.count + 1;

	*survey = (struct survey){.start_ns = UINT64_MAX,
		.by_event = mem_new(count, sizeof(uint64_t)),
		.weightless = mem_new(count, sizeof(bool))};
	vec_foreach (const struct sample_row, sample, &run->samples) {
		if (sample->time_ns < survey->start_ns)
			survey->start_ns = sample->time_ns;
		survey->by_event[sample->event] += run_sample_count(run, sample);
		survey->weightless[sample->event] |= !sample->period;
	}
}

static void survey_done(struct survey *survey)
{
	free(survey->by_event);
	free(survey->weightless);
}
#define survey_auto __attribute__((cleanup(survey_done)))

struct sieve {
	row_id event;
	bool *threads; /* by id; NULL: all */
	bool *stacks;  /* by id; NULL: all */
	uint64_t from_ns, to_ns;
	enum profile_side side;
};

static void sieve_done(struct sieve *sieve)
{
	free(sieve->threads);
	free(sieve->stacks);
}
#define sieve_auto __attribute__((cleanup(sieve_done)))

/* The end of a refusal: the nearest of `count` texts as the hint, or the way to see them. */
static int refuse_name(
	const char *what, const char *text, const char **names, const char *hint, struct err *err)
{
	err_set(err, ERR_USAGE, EINVAL, "no %s in this run is named '%.200s'", what, text);
	return err_nearest(err, str_nearest(text, names), hint);
}

static int no_samples(const struct run *run, struct err *err)
{
	const char *command = run_text(run, run->command);

	err_set(err, ERR_USAGE, ENODATA, "this run has no samples%s%s%s",
		run->counts.count ? "; it has the counts of assay " : "",
		run->counts.count ? command : "", run->partial ? " (it is partial)" : "");
	err_hint(err, "record samples with assay record -o RUN -- PROGRAM");
	return -ENODATA;
}

static int event_choose(const struct run *run, const struct survey *survey, const char *text,
	struct sieve *sieve, struct err *err)
{
	mem_auto const char **names = mem_new((size_t)run->events.count + 1, sizeof(*names));
	uint32_t count = 0, starts = 0;
	row_id exact = 0, prefixed = 0, first = 0;

	for (row_id id = run->events.count; id; id--) {
		const char *name = run_text(run, run->events.at[id - 1].name);

		if (!survey->by_event[id])
			continue;
		first = id;
		names[count++] = name;
		exact = text && str_equal(name, text) ? id : exact;
		prefixed = text && str_starts(name, text) ? id : prefixed;
		starts += text && str_starts(name, text);
	}
	sieve->event = !text ? first : exact ? exact : prefixed; /* 0: of an unknown event */
	if (!text || exact || starts == 1)
		return 0;
	return refuse_name("sampled event", text, names,
		count ? names[0] : "the samples of this run have no event", err);
}

static int threads_choose(
	const struct run *run, const char *text, struct sieve *sieve, struct err *err)
{
	mem_auto const char **names = mem_new((size_t)run->threads.count + 1, sizeof(*names));
	uint64_t tid = 0;
	bool is_number = str_to_u64(text, &tid) == 0, any = false;

	sieve->threads = mem_new((size_t)run->threads.count + 1, sizeof(bool));
	for (uint32_t i = 0; i < run->threads.count; i++) {
		const struct thread_row *thread = &run->threads.at[i];
		const char *name = run_text(run, thread->name);

		names[i] = name;
		sieve->threads[i + 1] = str_equal(name, text) || (is_number && thread->tid == tid);
		any |= sieve->threads[i + 1];
	}
	return any ? 0
		   : refuse_name(
			     "thread", text, names, "assay report RUN --by thread lists them", err);
}

/* Stacks whose innermost location is in the module. */
static int module_choose(
	const struct run *run, const char *text, struct sieve *sieve, struct err *err)
{
	mem_auto const char **names = mem_new((size_t)run->modules.count + 1, sizeof(*names));
	mem_auto bool *hit = mem_new((size_t)run->modules.count + 1, sizeof(*hit));
	bool any = false;

	for (uint32_t i = 0; i < run->modules.count; i++) {
		const char *path = run_text(run, run->modules.at[i].path);

		names[i] = label_base(path);
		hit[i + 1] = str_equal(path, text) || str_equal(names[i], text);
		any |= hit[i + 1];
	}
	if (!any)
		return refuse_name(
			"module", text, names, "assay report RUN --by module lists them", err);
	for (uint32_t i = 0; i < run->stacks.count; i++) {
		row_id location = run->stacks.at[i].location;

		sieve->stacks[i + 1] = location && hit[run->locations.at[location - 1].module];
	}
	return 0;
}

/* Stacks that the function is on: where it stands itself, or on the stack of the caller. */
static int function_choose(
	const struct run *run, const char *text, struct sieve *sieve, struct err *err)
{
	label_book_auto struct label_book book = {0};
	mem_auto bool *marks = NULL, *through = NULL;
	uint32_t labels[LABEL_INLINES_MAX];
	int r;

	label_book_init(&book, run, LABEL_FUNCTION);
	marks = mem_new((size_t)book.labels.count + 1, sizeof(*marks));
	r = label_book_find(&book, text, marks, err);
	if (r < 0)
		return r;
	through = mem_new((size_t)run->stacks.count + 1, sizeof(*through));
	for (uint32_t i = 0; i < run->stacks.count; i++) {
		const struct stack_row *stack = &run->stacks.at[i];
		unsigned count = label_book_at(&book, stack->location, labels);

		through[i + 1] = through[stack->parent];
		while (count)
			through[i + 1] |= marks[labels[--count]];
		sieve->stacks[i + 1] &= through[i + 1];
	}
	return 0;
}

static int sieve_make(const struct run *run, const struct profile_filter *filter,
	const struct survey *survey, struct sieve *sieve, struct err *err)
{
	int r = event_choose(run, survey, filter->event, sieve, err);

	sieve->from_ns = survey->start_ns + filter->from_ns;
	sieve->to_ns = filter->to_ns ? survey->start_ns + filter->to_ns : UINT64_MAX;
	sieve->side = filter->side;
	if (r >= 0 && filter->thread)
		r = threads_choose(run, filter->thread, sieve, err);
	if (filter->module || filter->function) {
		sieve->stacks = mem_new((size_t)run->stacks.count + 1, sizeof(bool));
		for (uint32_t i = 1; i <= run->stacks.count; i++)
			sieve->stacks[i] = true;
	}
	if (r >= 0 && filter->module)
		r = module_choose(run, filter->module, sieve, err);
	if (r >= 0 && filter->function)
		r = function_choose(run, filter->function, sieve, err);
	return r;
}

static bool sieve_passes(const struct sieve *sieve, const struct sample_row *sample)
{
	bool kernel = sample->flags & SAMPLE_KERNEL;

	return sample->event == sieve->event && sample->time_ns >= sieve->from_ns &&
	       sample->time_ns <= sieve->to_ns &&
	       (!sieve->threads || sieve->threads[sample->thread]) &&
	       (!sieve->stacks || sieve->stacks[sample->stack]) &&
	       (sieve->side == PROFILE_BOTH_SIDES || kernel == (sieve->side == PROFILE_KERNEL));
}

static void sample_take(const struct run *run, struct profile_samples *sums,
	const struct row_set *sampled, const struct sample_row *sample)
{
	uint64_t count = run_sample_count(run, sample);
	struct profile_cost cost = {count, sums->weighted ? sample->period : count};
	struct profile_cost *at = &sums->no_stack;

	if (sample->stack)
		at = &sums->stacks.at[row_set_rank(sampled, sample->stack)].cost;
	profile_cost_add(at, &cost);

	profile_cost_add(&sums->total, &cost);
	/* Of `count` samples that share the weight. */
	sums->weight_squares += (double)cost.weight * (double)cost.weight / (double)count;
	profile_cost_add(&sums->by_thread[sample->thread], &cost);
	sums->truncated += sample->flags & SAMPLE_TRUNCATED ? count : 0;
	sums->broken += sample->flags & SAMPLE_BROKEN ? count : 0;
	sums->kernel += sample->flags & SAMPLE_KERNEL ? count : 0;
	sums->first_ns = sample->time_ns < sums->first_ns ? sample->time_ns : sums->first_ns;
	sums->last_ns = sample->time_ns > sums->last_ns ? sample->time_ns : sums->last_ns;
}

static bool location_is_named(const struct run *run, row_id location)
{
	row_id frame = location ? run->locations.at[location - 1].frame : 0;
	row_id function = frame ? run->frames.at[frame - 1].function : 0;

	return function && run->functions.at[function - 1].name;
}

/* Events whose period is a time; their unit is not always filled in by importers. */
static const char *weight_unit(const char *name, const char *unit)
{
	static const char *const clocks[] = {"cpu-clock", "task-clock"};

	for (unsigned i = 0; i < sizeof(clocks) / sizeof(*clocks); i++)
		if (str_starts(name, clocks[i]))
			return "ns";
	return *unit ? unit : profile_event_is_told(name) ? name : "events";
}

static void samples_describe(const struct run *run, const struct survey *survey, row_id event,
	struct profile_samples *sums)
{
	static const struct event_row none;
	const struct event_row *row = event ? &run->events.at[event - 1] : &none;

	sums->event = event;
	sums->name = run_text(run, row->name);
	sums->weighted = !survey->weightless[event];
	sums->merged = sums->weighted && row->flags & EVENT_MERGED;
	sums->unit = sums->weighted && !sums->merged
			     ? weight_unit(sums->name, run_text(run, row->unit))
			     : "samples";
}

/* The stacks of the samples that pass, each once. */
static void stacks_list(const struct run *run, const struct sieve *sieve, struct row_set *sampled,
	struct profile_samples *sums)
{
	vec_foreach (const struct sample_row, sample, &run->samples)
		if (sample->stack && sieve_passes(sieve, sample))
			row_set_add(sampled, sample->stack);
	row_set_count(sampled);
	for (uint32_t word = 0; word < sampled->words; word++)
		for (uint64_t bits = sampled->bits[word]; bits; bits &= bits - 1)
			vec_push(&sums->stacks,
				(struct profile_stack){
					.stack = word * 64 + (uint32_t)__builtin_ctzll(bits)});
}

int profile_samples_take(const struct run *run, const struct profile_filter *filter,
	struct profile_samples *ret_samples, struct err *err)
{
	survey_auto struct survey survey = {0};
	sieve_auto struct sieve sieve = {0};
	row_set_auto struct row_set sampled = {0};
	struct profile_samples sums = {.first_ns = UINT64_MAX};
	int r;

	if (!run->samples.count)
		return no_samples(run, err);
	survey_make(run, &survey);
	r = sieve_make(run, filter, &survey, &sieve, err);
	if (r < 0)
		return r;
	samples_describe(run, &survey, sieve.event, &sums);
	sums.by_event = survey.by_event;
	survey.by_event = NULL;
	sums.by_thread = mem_new((size_t)run->threads.count + 1, sizeof(*sums.by_thread));
	row_set_init(&sampled, run->stacks.count);
	stacks_list(run, &sieve, &sampled, &sums);
	vec_foreach (const struct sample_row, sample, &run->samples)
		if (sieve_passes(&sieve, sample))
			sample_take(run, &sums, &sampled, sample);
	sums.unnamed = sums.no_stack.samples;
	vec_foreach (const struct profile_stack, at, &sums.stacks)
		if (!location_is_named(run, run->stacks.at[at->stack - 1].location))
			sums.unnamed += at->cost.samples;
	if (!sums.total.samples)
		sums.first_ns = 0;
	*ret_samples = sums;
	return 0;
}

void profile_samples_done(struct profile_samples *samples)
{
	vec_done(&samples->stacks);
	free(samples->by_thread);
	free(samples->by_event);
	samples->by_thread = NULL;
	samples->by_event = NULL;
}

int profile_filter_mark(const struct run *run, const struct profile_filter *filter, bool *ret_marks,
	struct err *err)
{
	survey_auto struct survey survey = {0};
	sieve_auto struct sieve sieve = {0};
	int r;

	if (!run->samples.count)
		return no_samples(run, err);
	survey_make(run, &survey);
	r = sieve_make(run, filter, &survey, &sieve, err);
	for (uint32_t i = 0; r >= 0 && i < run->samples.count; i++)
		ret_marks[i] = sieve_passes(&sieve, &run->samples.at[i]);
	return r;
}

int profile_filter_time(struct profile_filter *filter, const char *text, struct err *err)
{
	const char *dots = strstr(text, "..");
	mem_auto char *from = dots ? mem_copy_text(text, (size_t)(dots - text)) : NULL;
	uint64_t from_ns = 0, to_ns = 0;

	if (!dots || (*from && str_to_duration(from, &from_ns) < 0) ||
		(dots[2] && (str_to_duration(dots + 2, &to_ns) < 0 || to_ns <= from_ns))) {
		err_set(err, ERR_USAGE, EINVAL, "invalid --time '%.100s'", text);
		err_hint(err, "write two times since the start: 2s..5s, ..500ms or 1m..");
		return -EINVAL;
	}
	filter->from_ns = from_ns;
	filter->to_ns = to_ns;
	return 0;
}
