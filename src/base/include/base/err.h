/* err.h - one failure: what failed on what, and the way out.
 *
 * A fallible function returns 0 or a positive result, or a negative errno, and fills the `struct
 * err` its caller keeps on the stack.  The deepest place that knows the facts writes the sentence;
 * callers pass it up untouched.  Nothing here prints.  Threads: one err per caller. */
#pragma once

#include <stdarg.h>
#include <stddef.h>

/* Whose fault it is; cli turns it into the exit status. */
enum err_kind {
	ERR_USAGE = 0,	 /* wrong usage, or an input file that cannot be understood */
	ERR_TARGET,	 /* the target program could not run or failed */
	ERR_UNAVAILABLE, /* not available or not permitted on this machine */
	ERR_OUTPUT,	 /* the result could not be written */
	ERR_INTERRUPTED, /* the user stopped it, and nothing is left of it */
};

struct err {
	enum err_kind kind;
	int code;	/* positive errno, 0 while nothing failed */
	char text[512]; /* one sentence, no newline, no final full stop */
	char hint[512]; /* the way out, or empty */
};

/* Record the failure and return -code, so that `return err_set(...)` reads well. */
int err_set(struct err *err, enum err_kind kind, int code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Add the way out to a failure already recorded, and return its -code. */
int err_hint(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The way out of a name that is not known: the nearest one, or (NULL) another text. */
int err_nearest(struct err *err, const char *nearest, const char *otherwise);

/* Wrong usage, -EINVAL, in two texts as they are. */
int err_refuse(struct err *err, const char *text, const char *hint);

/* Plain words for an errno: "no such file or directory".  Rare ones are the libc's, with its
 * capital letter. */
const char *err_words(int code);
