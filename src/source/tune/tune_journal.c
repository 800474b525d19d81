/* tune_journal.c - see tune_journal.h.
 *
 * Lines are folded in one pass; a map from path to its open entry keeps that linear.  Values are
 * checked here, so that whoever restores one writes a short printable text or nothing. */
#include "source/tune_journal.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
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
	return arena_copy(&journal->texts, text);
}

/* A path that is changed already gets another value of ours. */
static void intent_again(struct tune_journal *journal, struct tune_entry *open, const json_t *line)
{
	const char *old = keep(journal, member_text(line, "old"));
	uint64_t session = member_number(line, "session");

	if (!tune_entry_is_ours(open, old))
		open->old = old; /* or it is the same, and nothing happens */
	if (session != open->last_session) {
		open->last_session = session;
		open->outer = old;
	}
	open->before = old;
	open->written = keep(journal, member_text(line, "new"));
	open->confirmed = false;
}

static bool take_intent(
	struct tune_journal *journal, const json_t *line, const char *path, struct tune_entry *open)
{
	const char *knob = member_text(line, "knob"), *old = member_text(line, "old");
	const char *new = member_text(line, "new"), *by = member_text(line, "by");

	if (!knob || !old || !new)
		return false;
	if (open) {
		intent_again(journal, open, line);
		return true;
	}
	map_put(&journal->active, path, strlen(path), journal->entries.count);
	vec_push(&journal->entries, (struct tune_entry){
					    .path = keep(journal, path),
					    .knob = keep(journal, knob),
					    .old = keep(journal, old),
					    .written = keep(journal, new),
					    .by = by ? keep(journal, by) : NULL,
					    .outer = keep(journal, old),
					    .session = member_number(line, "session"),
					    .last_session = member_number(line, "session"),
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
	if (str_equal(event, "back")) {
		if (open)
			open->confirmed = false;
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

/* ,"check":"0123456789abcdef"} */
enum { CHECK_TAIL = 10 + 16 + 2 };

static void check_tail(const char *line, size_t len, char ret_tail[CHECK_TAIL + 1])
{
	snprintf(ret_tail, CHECK_TAIL + 1, ",\"check\":\"%016" PRIx64 "\"}", map_hash(line, len));
}

static bool check_holds(const char *line, size_t len)
{
	char tail[CHECK_TAIL + 1];

	if (len < CHECK_TAIL)
		return false;
	check_tail(line, len - CHECK_TAIL, tail);
	return memcmp(line + len - CHECK_TAIL, tail, CHECK_TAIL) == 0;
}

static bool take_line(struct tune_journal *journal, const char *text, size_t len)
{
	json_t *line;
	bool taken;

	if (!check_holds(text, len))
		return false;
	line = json_loadb(text, len, 0, NULL);
	taken = take_object(journal, line);
	json_decref(line);
	return taken;
}

void tune_journal_read(struct tune_journal *journal, const char *text, size_t len)
{
	const char *end = text + len;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));

		journal->torn = !newline;
		if (!newline)
			break;
		if (newline > text && !take_line(journal, text, (size_t)(newline - text)))
			journal->skipped++;
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
	str_auto struct str text = {0};
	struct jsonw w = {.out = &text, .compact = true};

	jsonw_begin_object(&w);
	jsonw_put_text(&w, "event", line->event);
	put_if(&w, "knob", line->knob);
	jsonw_put_text(&w, "path", line->path);
	put_if(&w, "old", line->old);
	put_if(&w, "new", line->new);
	put_if(&w, "how", line->how);
	put_if(&w, "by", line->by);
	jsonw_put_u64(&w, "session", line->session);
	jsonw_put_u64(&w, "pid", line->pid);
	jsonw_put_u64(&w, "time_ns", line->time_ns);
	jsonw_end_object(&w);
	tune_journal_seal(text.at, text.len, out);
}

void tune_journal_seal(const char *line, size_t len, struct str *out)
{
	char tail[CHECK_TAIL + 1];

	len -= len && line[len - 1] == '}';
	check_tail(line, len, tail);
	str_add_bytes(out, line, len);
	str_addf(out, "%s\n", tail);
}
