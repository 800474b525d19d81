/* profile_text.c - see profile_text.h.  Texts are the tests' own: what is wrong in them is not
 * found out here. */
#include "profile_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/run.h"

struct profile_text {
	struct run *run;
	struct map modules, functions, frames, locations, stacks;
	row_id event, thread;
	uint64_t period, step_ns, now_ns;
	uint32_t flags;
};

static row_id text_module(struct profile_text *t, const char *path)
{
	row_id id;

	if (map_get(&t->modules, path, strlen(path), &id))
		return id;
	id = run_add_module(t->run, &(struct module_row){run_intern(t->run, path), 0,
					    strcmp(path, "[kernel]") == 0 ? MODULE_KERNEL : 0});
	map_put(&t->modules, path, strlen(path), id);
	return id;
}

static row_id text_function(struct profile_text *t, const char *name, row_id module)
{
	struct {
		text_id name;
		row_id module;
	} key = {run_intern(t->run, name), module};
	char file[300];
	row_id id;

	if (map_get(&t->functions, &key, sizeof(key), &id))
		return id;
	snprintf(file, sizeof(file), "%s.c", run_text(t->run, t->run->modules.at[module - 1].path));
	id = run_add_function(t->run, &(struct function_row){.name = key.name,
					      .file = run_intern(t->run, file),
					      .module = module,
					      .line = 10});
	map_put(&t->functions, &key, sizeof(key), id);
	return id;
}

static row_id text_frame(struct profile_text *t, row_id function, row_id outer, uint32_t line)
{
	uint32_t key[] = {function, outer, line};
	row_id id;

	if (map_get(&t->frames, key, sizeof(key), &id))
		return id;
	id = run_add_frame(
		t->run, &(struct frame_row){.function = function,
				.outer = outer,
				.file = line ? t->run->functions.at[function - 1].file : 0,
				.line = line});
	map_put(&t->frames, key, sizeof(key), id);
	return id;
}

static row_id text_location(struct profile_text *t, row_id module, row_id frame)
{
	row_id key[] = {module, frame}, id;

	if (map_get(&t->locations, key, sizeof(key), &id))
		return id;
	id = run_add_location(
		t->run, &(struct location_row){module, 0x1000 + t->run->locations.count, frame, 0});
	map_put(&t->locations, key, sizeof(key), id);
	return id;
}

static row_id text_push(struct profile_text *t, row_id parent, row_id location)
{
	row_id key[] = {parent, location}, id;

	if (map_get(&t->stacks, key, sizeof(key), &id))
		return id;
	id = run_add_stack(t->run, &(struct stack_row){parent, location});
	map_put(&t->stacks, key, sizeof(key), id);
	return id;
}

/* A colon is a line only when a number follows it to the end: names hold colons. */
static uint32_t text_cut_line(char *frame)
{
	char *colon = strrchr(frame, ':');
	uint64_t line;

	if (!colon || str_to_u64(colon + 1, &line) < 0)
		return 0;
	*colon = '\0';
	return (uint32_t)line;
}

static row_id text_stack(struct profile_text *t, char *text)
{
	row_id stack = 0, frame = 0, module = 0;
	char *save = NULL;

	if (strcmp(text, "-") == 0)
		return 0;
	for (char *word = strtok_r(text, ";", &save); word; word = strtok_r(NULL, ";", &save)) {
		uint32_t line = text_cut_line(word);
		char *at = strchr(word, '@');
		bool inlined = *word == '+';

		if (at)
			*at = '\0';
		if (!inlined && module)
			stack = text_push(t, stack, text_location(t, module, frame));
		if (!inlined)
			module = text_module(t, at ? at + 1 : "prog");
		frame = strcmp(word, "?") == 0
				? 0
				: text_frame(t, text_function(t, word + inlined, module),
					  inlined ? frame : 0, line);
	}
	return text_push(t, stack, text_location(t, module, frame));
}

static void text_samples(struct profile_text *t, uint64_t count, char *text)
{
	row_id stack = text_stack(t, text);

	for (uint64_t i = 0; i < count; i++) {
		run_add_sample(t->run, &(struct sample_row){t->now_ns, t->period, t->event,
					       t->thread, stack, 0, t->flags});
		t->now_ns += t->step_ns;
	}
}

static void text_flags(struct profile_text *t, const char *words)
{
	t->flags = (strstr(words, "truncated") ? SAMPLE_TRUNCATED : 0) |
		   (strstr(words, "broken") ? SAMPLE_BROKEN : 0) |
		   (strstr(words, "kernel") ? SAMPLE_KERNEL : 0);
}

/* The word up to the next `stop`, cut out of *rest. */
static char *text_word(char **rest, char stop)
{
	char *word = *rest, *end = strchr(word, stop);

	*rest = end ? end + 1 : word + strlen(word);
	if (end)
		*end = '\0';
	return word;
}

static uint64_t text_number(char **rest)
{
	return strtoull(text_word(rest, ' '), NULL, 10);
}

static text_id text_intern(struct profile_text *t, char **rest, char stop)
{
	return run_intern(t->run, text_word(rest, stop));
}

/* True when `word` was a line about the run, not about its samples. */
static bool text_fact(struct profile_text *t, const char *word, char *rest)
{
	struct run *run = t->run;
	char *name;

	if (strcmp(word, "command") == 0) {
		run->command = run_intern(run, rest);
	} else if (strcmp(word, "quality") == 0) {
		name = text_word(&rest, ' ');
		run_set_quality(run, name, text_number(&rest));
	} else if (strcmp(word, "execution") == 0) {
		struct execution_row row = {.wall_ns = text_number(&rest)};

		row.user_ns = text_number(&rest);
		run_add_execution(run, &row);
	} else if (strcmp(word, "field") == 0) {
		struct field_row row = {.group = text_intern(t, &rest, ' ')};

		row.name = text_intern(t, &rest, ' ');
		row.value = text_intern(t, &rest, '\n');
		run_add_field(run, &row);
	} else if (strcmp(word, "fact") == 0) {
		struct fact_row row = {.name = text_intern(t, &rest, ' ')};

		row.value = strtod(rest, NULL);
		run_add_fact(run, &row);
	} else if (strcmp(word, "note") == 0) {
		name = text_word(&rest, '|');
		word = text_word(&rest, '|');
		run_add_note(run, name, word, rest);
	} else if (strcmp(word, "partial") == 0) {
		run->partial = true;
	} else {
		return false;
	}
	return true;
}

/* A thread that was named before is the same one. */
static row_id text_thread(struct run *run, const struct thread_row *row)
{
	for (uint32_t i = 0; i < run->threads.count; i++)
		if (run->threads.at[i].pid == row->pid && run->threads.at[i].tid == row->tid)
			return i + 1;
	return run_add_thread(run, row);
}

static void text_line(struct profile_text *t, char *line)
{
	char *rest = line, *word = text_word(&rest, ' ');
	struct run *run = t->run;

	if (!*word || *word == '#' || text_fact(t, word, rest))
		return;
	if (strcmp(word, "event") == 0) {
		struct event_row row = {.name = text_intern(t, &rest, ' '), .scale = 1};

		row.unit = text_intern(t, &rest, ' ');
		t->event = run_add_event(run, &row);
	} else if (strcmp(word, "thread") == 0) {
		struct thread_row row = {.pid = (uint32_t)text_number(&rest)};

		row.tid = (uint32_t)text_number(&rest);
		row.name = run_intern(run, rest);
		t->thread = text_thread(run, &row);
	} else if (strcmp(word, "period") == 0) {
		t->period = text_number(&rest);
	} else if (strcmp(word, "step") == 0) {
		t->step_ns = text_number(&rest);
	} else if (strcmp(word, "flags") == 0) {
		text_flags(t, rest);
	} else {
		text_samples(t, strtoull(word, NULL, 10), rest);
	}
}

struct run *profile_text_run(const char *text)
{
	struct profile_text t = {
		.run = run_open(), .period = 1, .step_ns = 1000000, .now_ns = 1000000000};
	mem_auto char *copy = mem_copy_text(text, strlen(text));
	char *save = NULL;

	t.run->command = run_intern(t.run, "record");
	t.run->target = run_intern(t.run, "prog --fast");
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		text_line(&t, line);
	map_done(&t.modules);
	map_done(&t.functions);
	map_done(&t.frames);
	map_done(&t.locations);
	map_done(&t.stacks);
	return t.run;
}
