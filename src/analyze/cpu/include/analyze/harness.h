/* harness.h - a hot-loop harness: the text of data/harness with its names filled in.
 *
 * Pure: writes no file.  Owns: everything is in the caller's arena. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

enum harness_lang { HARNESS_C, HARNESS_RUST };

enum { HARNESS_STEPS = 4 };

struct harness_step {
	const char *command; /* the subcommand it needs, "" for none */
	const char *line;    /* as typed */
	const char *does;
};

struct harness_view {
	const char *name;
	const char *lang; /* "c", "rust" */
	const char *path; /* where it goes */
	const char *text;
	const char *build;			  /* one command line */
	struct harness_step steps[HARNESS_STEPS]; /* what to do then */
};

/* "NAME.c" or "NAME.rs". */
const char *harness_file(const char *name, enum harness_lang lang, struct arena *arena);

/* NAME must be an identifier of C and Rust; -EINVAL otherwise. */
int harness_name_check(const char *name, struct err *err);

/* `path` is where the text will be written. */
void harness_make(const char *name, enum harness_lang lang, const char *path, struct arena *arena,
	struct harness_view *ret_view);
