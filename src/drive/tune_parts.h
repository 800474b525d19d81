/* tune_parts.h - what the files of tune share: one knob's file, and the journal's file. */
#pragma once

#include "drive/tune.h"

/* The path below the root, for open(). */
const char *tune_full_path(struct tune *tune, const char *path);

/* The value of a file: its first line, or the word in [brackets].  0 or negative errno; -EINVAL
 * when a journal could not hold it.  `ret_line` may be NULL. */
int tune_value_read(
	struct tune *tune, const char *path, const char **ret_value, const char **ret_line);

/* 0 or negative errno; what the kernel made of it is only known by reading. */
int tune_value_write(struct tune *tune, const char *path, const char *value);

/* Set now, want, state and reason of an item from its file; returns the state. */
enum tune_state tune_item_look(struct tune *tune, struct tune_item *item);

/* Push an item for each file that matches the knob, or one that is absent. */
void tune_knob_expand(struct tune *tune, uint32_t knob);

/* The knob of that name whose pattern the path fits, UINT32_MAX: none. */
uint32_t tune_knob_of(const struct tune *tune, const char *name, const char *path);

/* What an entry tells, in texts of our own: the journal may be read anew. */
struct tune_item tune_item_of(struct tune *tune, const struct tune_entry *entry);

/* Read the journal of this boot anew; without one it is empty. */
int tune_journal_load(struct tune *tune, struct err *err);

/* Compose a line; session, pid and time are filled in. */
void tune_journal_add(struct tune *tune, struct tune_line line, struct str *text);

/* Append lines whole or not at all.  kill -9 does not lose them; `synced`: neither would a power
 * cut, and a disk that is full says so now. */
int tune_journal_write(struct tune *tune, const struct str *text, bool synced, struct err *err);

/* One line, not waited for. */
int tune_journal_append(struct tune *tune, struct tune_line line, struct err *err);

/* Remove the journals of earlier boots, and this one's when nothing is changed any more. */
void tune_journal_tidy(struct tune *tune);
