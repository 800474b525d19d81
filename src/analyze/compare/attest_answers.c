/* attest_answers.c - what a person answers: one word, or a file of `key=value` lines. */
#include <errno.h>
#include <string.h>

#include "analyze/attest.h"
#include "analyze/text_block.h"
#include "base/str.h"

enum { REASON_LONGEST = 1000 };

const char *attest_answer_name(enum attest_answer answer)
{
	static const char *const names[] = {[ATTEST_OPEN] = "open",
		[ATTEST_PASS] = "pass",
		[ATTEST_FAIL] = "fail",
		[ATTEST_WAIVE] = "waive"};

	return names[answer];
}

static void view_count(struct attest_view *view)
{
	view->passes = view->fails = view->waived = view->open = 0;
	for (unsigned i = 0; i < ATTEST_QUESTIONS; i++) {
		view->passes += view->items[i].answer == ATTEST_PASS;
		view->fails += view->items[i].answer == ATTEST_FAIL;
		view->waived += view->items[i].answer == ATTEST_WAIVE;
		view->open += view->items[i].answer == ATTEST_OPEN;
	}
}

static struct attest_item *item_find(struct attest_view *view, const char *key)
{
	for (unsigned i = 0; i < ATTEST_QUESTIONS; i++)
		if (str_equal(view->items[i].key, key))
			return &view->items[i];
	return NULL;
}

static int key_unknown(const struct attest_view *view, const char *key, struct err *err)
{
	const char *keys[ATTEST_QUESTIONS + 1] = {0};

	for (unsigned i = 0; i < ATTEST_QUESTIONS; i++)
		keys[i] = view->items[i].key;
	err_set(err, ERR_USAGE, EINVAL, "no question is named '%.40s'", key);
	return err_nearest(err, str_nearest(key, keys), "`assay attest --template` lists all keys");
}

/* pass, fail or waive:REASON. */
static bool answer_parse(const char *text, enum attest_answer *ret_answer, const char **ret_reason)
{
	*ret_reason = NULL;
	if (str_equal(text, "pass"))
		*ret_answer = ATTEST_PASS;
	else if (str_equal(text, "fail"))
		*ret_answer = ATTEST_FAIL;
	else if (str_starts(text, "waive:") && text[6 + strspn(text + 6, " \t")]) {
		*ret_answer = ATTEST_WAIVE;
		*ret_reason = text + 6 + strspn(text + 6, " \t");
	} else
		return false;
	return true;
}

int attest_take(struct attest_view *view, const char *key, const char *text, struct arena *arena,
	struct err *err)
{
	struct attest_item *item = item_find(view, key);
	enum attest_answer answer;
	const char *reason;

	if (!item)
		return key_unknown(view, key, err);
	if (!answer_parse(text, &answer, &reason)) {
		err_set(err, ERR_USAGE, EINVAL, "the answer to %s is '%.40s'", key, text);
		err_hint(err, "use pass, fail or waive:REASON");
		return -EINVAL;
	}
	if (item->by_tool && item->answer == ATTEST_FAIL && answer == ATTEST_PASS) {
		err_set(err, ERR_USAGE, EINVAL, "%s cannot be passed: %.300s", key, item->evidence);
		err_hint(err, "fix it, or say why it does not matter: %s=waive:REASON", key);
		return -EINVAL;
	}
	if (item->by_tool && item->answer == answer)
		return 0; /* the tool said so already, with evidence */
	item->answer = answer;
	item->by_tool = false;
	item->reason = reason ? arena_text(arena, reason, strnlen(reason, REASON_LONGEST)) : NULL;
	view_count(view);
	return 0;
}

const char *attest_open_keys(const struct attest_view *view, struct arena *arena)
{
	str_auto struct str text = {0};

	for (unsigned i = 0; i < ATTEST_QUESTIONS; i++)
		if (view->items[i].answer == ATTEST_OPEN)
			str_addf(&text, "%s%s", text.len ? ", " : "", view->items[i].key);
	return arena_str(arena, &text);
}

static int row_take(struct attest_view *view, const struct text_reader *reader, char *row)
{
	char *equals = strchr(row, '=');
	int r;

	if (equals) {
		*equals = '\0';
		return attest_take(
			view, str_trim(row), str_trim(equals + 1), reader->arena, reader->err);
	}
	r = text_refuse(reader, reader->line, "not an answer:", row);
	err_hint(reader->err, "write KEY=pass, KEY=fail or KEY=waive:REASON");
	return r;
}

int attest_take_all(struct attest_view *view, const char *text, size_t len, const char *name,
	struct arena *arena, struct err *err)
{
	struct text_reader reader = {arena, name, arena_text(arena, text, len), 0, err};
	char *row;
	int r = 0;

	if (memchr(text, '\0', len)) {
		err_set(err, ERR_USAGE, EINVAL, "%s is not text", name);
		err_hint(err, "`assay attest --template` prints a file of answers to fill in");
		return -EINVAL;
	}
	while (r >= 0 && (row = text_row_next(&reader)))
		r = row_take(view, &reader, row);
	if (r < 0 || !view->open)
		return r;
	err_set(err, ERR_USAGE, EINVAL, "%s does not answer: %s", name,
		attest_open_keys(view, arena));
	err_hint(err, "`assay attest --template FILE` prints what is left to answer");
	return -EINVAL;
}
