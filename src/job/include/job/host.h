/* host.h - what a job may ask of the command that started it.
 *
 * A job neither prints nor reads options: it gets what was asked for in a struct of its own, leaves
 * its result in one, and tells meanwhile what it does through its host.  A host of zeros is valid:
 * nothing is shown, nobody interrupts.
 * Owns: nothing.  Threads: one. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/interrupt.h"
#include "ingest/ingest.h"

struct jsonw;
struct run;

/* Where the numbers about the CPU come from. */
enum job_engine {
	ENGINE_AUTO, /* asked for: the PMU where it can be used, else the simulator */
	ENGINE_PMU,
	ENGINE_SIM,
};

struct job_host {
	const char *command; /* its name, for the run and for hints: "bench" */
	const char *target;  /* what it measures, in words for people; NULL: nothing */
	char **argv;	     /* the whole command line as typed, for documents and children */
	bool json_on_stdout; /* what the program prints goes to stderr then */
	void *context;	     /* of the two below */
	/* One line that replaces the one before; NULL clears it.  NULL itself: nobody looks. */
	void (*show_progress)(void *context, const char *text);
	/* One line that stays. */
	void (*tell)(void *context, const char *text);
	struct interrupt (*interrupted)(void);
};

void job_progress(const struct job_host *host, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void job_tell(const struct job_host *host, const char *text);
/* Ctrl-C and its friends since the start. */
struct interrupt job_interrupted(const struct job_host *host);

/* Note in `run` what measures what, and that it starts now. */
void job_begin_run(const struct job_host *host, struct run *run);

/* A JSON document, open inside "data": { }, and its end.  Its warnings are the notes of `run`,
 * which may be NULL. */
void job_begin_document(const struct job_host *host, const struct run *run, struct jsonw *w);
void job_end_document(struct jsonw *w);

/* Name what was seen, with progress; `naming` says where it is from. */
void job_name_run(const struct job_host *host, struct run *run, struct ingest_naming naming);

/* Load a run file.  One that was killed before its places were named gets the names now. */
int job_load_run(
	const struct job_host *host, const char *path, struct run **ret_run, struct err *err);

/* Take the fingerprint of this machine into `run` and set run->fingerprint, so that the envelope
 * carries its key.  A few milliseconds.  Not on a frozen run. */
int job_take_fingerprint(struct run *run, struct err *err);
/* The same, with the file system of a path (NULL: the working directory) described. */
int job_take_fingerprint_of(struct run *run, const char *storage_path, struct err *err);
