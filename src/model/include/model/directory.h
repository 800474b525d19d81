/* directory.h - the evidence directory: assay-out/RUN-ID/, its files, and whether they are whole.
 *
 * Does: make a directory that was not there before, keep its MANIFEST.json, hash its files, point
 * `latest` to it, verify it.  Never writes into a directory that exists.
 * Does not: know what is in the files, except that a *.assay must load.
 * Owns: a directory owns its texts.  Threads: one. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "model/manifest.h"

#define DIRECTORY_ROOT "assay-out"
#define DIRECTORY_LATEST "latest"

struct directory {
	struct arena texts;
	const char *path; /* of the directory itself */
	const char *root; /* where runs stand side by side; NULL: the user named the directory */
	const char *id;	  /* its last part */
};

/* Make it: below assay-out, named after the time (`now_ns`, CLOCK_REALTIME) and with a number when
 * that is taken; or `path`, which must not exist or must be empty.  ERR_OUTPUT, or ERR_USAGE when
 * there is something in it. */
int directory_create(
	struct directory *ret_directory, const char *path, uint64_t now_ns, struct err *err);
void directory_done(struct directory *directory);
#define directory_auto __attribute__((cleanup(directory_done)))

/* "DIR/NAME", in the directory's texts. */
const char *directory_path(struct directory *directory, const char *name);

/* Make a folder in it. */
int directory_add_folder(struct directory *directory, const char *name, struct err *err);

/* Write MANIFEST.json, whole or not at all. */
int directory_keep(struct directory *directory, const struct manifest *manifest, struct err *err);

/* Add to manifest->files every file of the directory but the manifest that is not among them yet:
 * hashed, by path.  What is done with is read once, however often this is called. */
int directory_hash(const struct directory *directory, struct manifest *manifest, struct err *err);

/* Let ROOT/latest be this one.  Nothing to do without a root. */
int directory_set_latest(const struct directory *directory, struct err *err);

/* The directory that a user means: "latest" is ROOT/latest.  ERR_USAGE when there is none.  The
 * text is in `arena`. */
int directory_resolve(
	const char *name, struct arena *arena, const char **ret_path, struct err *err);

/* Read the manifest of a directory. */
int directory_load(const char *path, struct manifest *ret_manifest, struct err *err);

enum directory_fault {
	DIRECTORY_MISSING,
	DIRECTORY_CHANGED,    /* other bytes than when it was made */
	DIRECTORY_UNREADABLE, /* a run file that does not load, or a file that cannot be opened */
	DIRECTORY_ADDED,      /* not in the manifest: told, and no fault of what is */
	DIRECTORY_FAULTS,
};

/* "missing", "changed", "unreadable", "added". */
const char *directory_fault_word(enum directory_fault fault);

struct directory_finding {
	enum directory_fault fault;
	const char *path;   /* in the directory */
	const char *detail; /* "" or one sentence */
};

struct directory_check {
	struct manifest manifest;
	vec_of(struct directory_finding) findings;
	uint32_t files, faults; /* looked at; findings other than ADDED */
};

/* Verify every file.  A negative errno only when there is no manifest to check against. */
int directory_check(const char *path, struct directory_check *ret_check, struct err *err);
void directory_check_done(struct directory_check *check);
#define directory_check_auto __attribute__((cleanup(directory_check_done)))
