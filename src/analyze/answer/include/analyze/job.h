/* job.h - one main job as it is shown: its phases, its files, and the check of a directory.
 *
 * The manifest's rows in words, so that render needs no model.
 * Pure.  Owns: everything is in the caller's arena; texts are the manifest's. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/round.h"
#include "base/arena.h"

struct directory_check;
struct manifest;

struct job_phase {
	const char *phase, *outcome, *command, *file, *reason, *fix;
	int status;		   /* -1: not started */
	double planned_s, seconds; /* NAN: none */
};

struct job_file {
	const char *path, *sha256;
	uint64_t bytes;
};

struct job_view {
	const char *run_id, *directory, *state, *target, *fingerprint, *output_sha256;
	double budget_s;
	double planned_s, seconds; /* what the plan said, what it took; NAN: no plan */
	const struct job_phase *phases;
	uint32_t phase_count;
	const struct job_file *files;
	uint32_t file_count;
	const struct round_view *round; /* NULL: not against another */
};

void job_view_make(const struct manifest *manifest, const char *directory, struct arena *arena,
	struct job_view *ret_view);

struct job_finding {
	const char *path, *fault, *detail;
};

enum job_check_result {
	JOB_CHECK_WHOLE,
	JOB_CHECK_CHANGED, /* or something is missing */
	JOB_CHECK_PARTIAL, /* unchanged, but its maker did not come to the end */
};

struct job_check_view {
	const char *directory, *state, *target, *run_id;
	enum job_check_result result;
	bool is_running; /* says the manifest; its maker may be dead */
	int64_t pid;
	uint32_t files, faults;
	const struct job_finding *findings;
	uint32_t finding_count;
	const struct job_phase *phases;
	uint32_t phase_count;
};

void job_check_view_make(const struct directory_check *check, const char *directory,
	struct arena *arena, struct job_check_view *ret_view);
