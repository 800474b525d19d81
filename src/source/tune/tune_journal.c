/* tune_journal.c - see tune_journal.h.
 *
 * Lines are folded in one pass; a map from path to its open entry keeps that linear.  Values are
 * checked here, so that whoever restores one writes a short printable text or nothing. */
#include "drive/tune_journal.h"

#include <jansson.h>
#include <string.h>

#include "base/jsonw.h"

bool tune_text_is_plain(const char *text, size_t len)
{
	if (!len || len > TUNE_VALUE_LARGEST)
		return false;
	for (size_t i = 0; i < len; i++)
		if (text[i] < 0x20 || text[i] > 0x7e)
			return false;
	return true;
}

/* A member that is such a text, else NULL. */
static const char *member_text(const json_t *line, const char *key)
{
	const json_t *value = json_object_get(line, key);
	const char *text = json_string_value(value);

	return text && tune_text_is_plain(text, json_string_length(value)) ? text : NULL;
}

static uint64_t member_number(const json_t *line, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(line, key));

	return value > 0 ? (uint64_t)value : 0;
}

static const char *keep(struct tune_journal *journal, const char *text)
{
	return arena_text(&journal->texts, text, strlen(text));
}

static bool take_intent(
	struct tune_journal *journal, const json_t *line, const char *path, struct tune_entry *open)
{
	const char *knob = member_text(line, "knob"), *old = member_text(line, "old");
	const char *new = member_text(line, "new");

	if (!knob || !old || !new)
		return false;
	if (open) {
		open->before = str_equal(old, open->written) ? open->written : NULL;
		open->written = keep(journal, new);
		open->confirmed = false;
		return true;
	}
	map_put(&journal->active, path, strlen(path), journal->entries.count);
	vec_push(&journal->entries, (struct tune_entry){
					    .path = keep(journal, path),
					    .knob = keep(journal, knob),
					    .old = keep(journal, old),
					    .written = keep(journal, new),
					    .session = member_number(line, "session"),
					    .pid = member_number(line, "pid"),
					    .time_ns = member_number(line, "time_ns"),
					    .active = true,
				    });
	return true;
}

static bool take_object(struct tune_journal *journal, const json_t *line)
{
	const char *event = member_text(line, "event"), *path = member_text(line, "path");
	const char *new = member_text(line, "new");
	struct tune_entry *open;

	if (!event || !path)
		return false;
	open = tune_journal_find(journal, path);
	if (str_equal(event, "intent"))
		return take_intent(journal, line, path, open);
	if (str_equal(event, "closed")) {
		if (open)
			open->active = false;
		return true;
	}
	if (!str_equal(event, "done") || !new)
		return false;
	if (open) {
		open->written = keep(journal, new);
		open->before = NULL;
		open->confirmed = true;
	}
	return true;
}

void tune_journal_read(struct tune_journal *journal, const char *text, size_t len)
{
	const char *end = text + len;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		json_t *line;

		journal->torn = !newline;
		if (!newline)
			break;
		line = json_loadb(text, (size_t)(newline - text), 0, NULL);
		if (newline > text && !take_object(journal, line))
			journal->skipped++;
		json_decref(line);
		text = newline + 1;
	}
}

struct tune_entry *tune_journal_find(const struct tune_journal *journal, const char *path)
{
	uint32_t index;

	if (!map_get(&journal->active, path, strlen(path), &index) ||
		!journal->entries.at[index].active)
		return NULL;
	return &journal->entries.at[index];
}

bool tune_entry_is_ours(const struct tune_entry *entry, const char *now)
{
	return str_equal(now, entry->written) || (entry->before && str_equal(now, entry->before));
}

uint32_t tune_journal_count(const struct tune_journal *journal)
{
	uint32_t count = 0;

	vec_foreach (const struct tune_entry, entry, &journal->entries)
		count += entry->active;
	return count;
}

void tune_journal_done(struct tune_journal *journal)
{
	vec_done(&journal->entries);
	map_done(&journal->active);
	arena_done(&journal->texts);
	*journal = (struct tune_journal){0};
}

static void put_if(struct jsonw *w, const char *key, const char *text)
{
	if (text)
		jsonw_put_text(w, key, text);
}

void tune_journal_line(const struct tune_line *line, struct str *out)
{
	struct jsonw w = {.out = out, .compact = true};

	jsonw_begin_object(&w);
	jsonw_put_text(&w, "event", line->event);
	put_if(&w, "knob", line->knob);
	jsonw_put_text(&w, "path", line->path);
	put_if(&w, "old", line->old);
	put_if(&w, "new", line->new);
	put_if(&w, "how", line->how);
	jsonw_put_u64(&w, "session", line->session);
	jsonw_put_u64(&w, "pid", line->pid);
	jsonw_put_u64(&w, "time_ns", line->time_ns);
	jsonw_end_object(&w);
	str_add_char(out, '\n');
}
