/* run.c - the tables are plain vectors: an id is an index plus one.  Only texts are looked up, so
 * only they have a hash table. */
#include "model/run.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"

struct run_texts {
	struct arena bytes;
	struct map ids;
	vec_of(const char *) at;
};

struct run *run_open(void)
{
	struct run *run = mem_new(1, sizeof(*run));

	run->texts = mem_new(1, sizeof(*run->texts));
	return run;
}

/* Where samples were taken, and what is known besides. */
static void tables_close(struct run *run)
{
	vec_done(&run->threads);
	vec_done(&run->modules);
	vec_done(&run->functions);
	vec_done(&run->frames);
	vec_done(&run->locations);
	vec_done(&run->stacks);
	vec_done(&run->samples);
	vec_done(&run->branches);
	vec_done(&run->accesses);
	vec_done(&run->places);
	vec_done(&run->facts);
	vec_done(&run->spans);
	vec_done(&run->claims);
}

void run_close(struct run *run)
{
	if (!run)
		return;
	arena_done(&run->texts->bytes);
	map_done(&run->texts->ids);
	vec_done(&run->texts->at);
	free(run->texts);
	vec_done(&run->notes);
	vec_done(&run->fields);
	vec_done(&run->capabilities);
	vec_done(&run->events);
	vec_done(&run->commands);
	vec_done(&run->executions);
	vec_done(&run->counts);
	vec_done(&run->qualities);
	vec_done(&run->causal_targets);
	vec_done(&run->progress_points);
	vec_done(&run->experiments);
	vec_done(&run->visits);
	tables_close(run);
	free(run);
}

void run_close_pointer(struct run **run)
{
	run_close(*run);
	*run = NULL;
}

text_id run_intern(struct run *run, const char *text)
{
	struct run_texts *texts = run->texts;
	size_t len = text ? strlen(text) : 0;
	uint32_t id;

	if (!len)
		return 0;
	if (map_get(&texts->ids, text, len, &id))
		return id;
	vec_push(&texts->at, arena_text(&texts->bytes, text, len));
	map_put(&texts->ids, text, len, texts->at.count);
	return texts->at.count;
}

const char *run_text(const struct run *run, text_id id)
{
	return id && id <= run->texts->at.count ? run->texts->at.at[id - 1] : "";
}

uint32_t run_text_count(const struct run *run)
{
	return run->texts->at.count;
}

row_id run_add_note(struct run *run, const char *code, const char *text, const char *hint)
{
	assert(!run->frozen);
	vec_push(&run->notes, (struct note_row){run_intern(run, code), run_intern(run, text),
				      run_intern(run, hint)});
	return run->notes.count;
}

#define RUN_ADD(singular, plural)                                                                  \
	row_id run_add_##singular(struct run *run, const struct singular##_row *row)               \
	{                                                                                          \
		assert(!run->frozen);                                                              \
		vec_push(&run->plural, *row);                                                      \
		return run->plural.count;                                                          \
	}

RUN_ADD(field, fields)
RUN_ADD(capability, capabilities)
RUN_ADD(event, events)
RUN_ADD(command, commands)
RUN_ADD(count, counts)
RUN_ADD(causal_target, causal_targets)
RUN_ADD(progress_point, progress_points)
RUN_ADD(experiment, experiments)
RUN_ADD(visit, visits)
RUN_ADD(thread, threads)
RUN_ADD(module, modules)
RUN_ADD(function, functions)
RUN_ADD(frame, frames)
RUN_ADD(location, locations)
RUN_ADD(stack, stacks)
RUN_ADD(sample, samples)
RUN_ADD(branch, branches)
RUN_ADD(access, accesses)
RUN_ADD(place, places)
RUN_ADD(fact, facts)
RUN_ADD(span, spans)
RUN_ADD(claim, claims)

/* There are a dozen of them: a search is cheaper than an index. */
void run_set_quality(struct run *run, const char *name, uint64_t value)
{
	text_id id = run_intern(run, name);

	assert(!run->frozen);
	vec_foreach (struct quality_row, row, &run->qualities)
		if (row->name == id) {
			row->value = value;
			return;
		}
	vec_push(&run->qualities, (struct quality_row){id, value});
}

bool run_get_quality(const struct run *run, const char *name, uint64_t *ret_value)
{
	vec_foreach (const struct quality_row, row, &run->qualities)
		if (strcmp(run_text(run, row->name), name) == 0) {
			*ret_value = row->value;
			return true;
		}
	return false;
}

const char *run_get_field(
	const struct run *run, const char *group, const char *name, const char *fallback)
{
	vec_foreach (const struct field_row, field, &run->fields)
		if (field->state == FIELD_VALUE &&
			strcmp(run_text(run, field->group), group) == 0 &&
			strcmp(run_text(run, field->name), name) == 0)
			return run_text(run, field->value);
	return fallback;
}

void run_name_location(struct run *run, row_id location, row_id frame)
{
	assert(!run->frozen && location >= 1 && location <= run->locations.count);
	run->locations.at[location - 1].frame = frame;
}

uint64_t run_sample_count(const struct run *run, const struct sample_row *sample)
{
	bool merged = sample->event && run->events.at[sample->event - 1].flags & EVENT_MERGED;

	return merged && sample->period ? sample->period : 1;
}

void run_set_event(struct run *run, row_id event, const struct event_row *row)
{
	assert(!run->frozen && event >= 1 && event <= run->events.count);
	run->events.at[event - 1] = *row;
}

void run_freeze(struct run *run)
{
	run->frozen = true;
}
