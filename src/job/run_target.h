/* run_target.h - what `assay run` learns of the program: where its time is, what it writes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/vec.h"

struct run_job;

/* What the program that was started starts itself, and the time is in; run_worker.c. */
struct run_worker {
	bool known;	     /* it was looked for */
	const char *path;    /* NULL: the time is in the program itself */
	const char *refused; /* why no experiment can be made on it; NULL: it can */
	const char *fix;
};

/* run_worker.c: look for it, once there is a profile. */
void run_worker_find(struct run_job *job);

/* What the program writes; run_written.c. */
struct run_written_file {
	const char *path, *copy;
	bool exists;	  /* after a whole run */
	struct stat kept; /* of the file when it was copied */
	uint32_t restored;
};

struct run_written {
	vec_of(struct run_written_file) files;
	bool kept;	     /* there are copies */
	bool torn;	     /* a phase stopped the program since the last whole run */
	const char *refused; /* why they are not put back; NULL: they are */
	const char *failed;  /* the first that could not be */
};

/* run_written.c: one look at the files of a phase; what to do after a run of the program, whole or
 * stopped; before the next phase; and at the end. */
void run_written_look(void *context, pid_t pid);
void run_written_after(struct run_job *job, bool whole);
void run_written_restore(struct run_job *job);
void run_written_end(struct run_job *job);
