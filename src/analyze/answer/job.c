/* job.c - see job.h.  Rows into words. */
#include "analyze/job.h"

#include "model/directory.h"

static struct job_phase *phases_make(const struct manifest *manifest, struct arena *arena)
{
	uint32_t count = manifest->phases.count;
	struct job_phase *phases = arena_take(arena, (count + 1) * sizeof(*phases));

	for (uint32_t i = 0; i < count; i++) {
		const struct manifest_phase *from = &manifest->phases.at[i];

		phases[i] = (struct job_phase){
			.phase = from->name,
			.outcome = phase_outcome_word(from->outcome),
			.command = from->command,
			.file = from->file,
			.reason = from->reason,
			.fix = from->fix,
			.status = from->status,
			.planned_s = from->planned_s,
			.seconds = from->seconds,
		};
	}
	return phases;
}

void job_view_make(const struct manifest *manifest, const char *directory, struct arena *arena,
	struct job_view *ret_view)
{
	struct job_file *files = arena_take(arena, (manifest->files.count + 1) * sizeof(*files));

	*ret_view = (struct job_view){
		.run_id = manifest->run_id,
		.directory = directory,
		.state = manifest_state_word(manifest->state),
		.target = manifest->target,
		.fingerprint = manifest->fingerprint,
		.output_sha256 = manifest->output_sha256,
		.budget_s = (double)manifest->budget_ns / 1e9,
		.planned_s = manifest->planned_s,
		.seconds = manifest->seconds,
		.phases = phases_make(manifest, arena),
		.phase_count = manifest->phases.count,
		.files = files,
		.file_count = manifest->files.count,
	};
	for (uint32_t i = 0; i < manifest->files.count; i++) {
		const struct manifest_file *from = &manifest->files.at[i];

		files[i] = (struct job_file){from->path, from->sha256, from->bytes};
	}
}

void job_check_view_make(const struct directory_check *check, const char *directory,
	struct arena *arena, struct job_check_view *ret_view)
{
	const struct manifest *manifest = &check->manifest;
	struct job_finding *findings =
		arena_take(arena, (check->findings.count + 1) * sizeof(*findings));

	for (uint32_t i = 0; i < check->findings.count; i++) {
		const struct directory_finding *from = &check->findings.at[i];

		findings[i] = (struct job_finding){
			from->path, directory_fault_word(from->fault), from->detail};
	}
	*ret_view = (struct job_check_view){
		.directory = directory,
		.state = manifest_state_word(manifest->state),
		.target = manifest->target,
		.run_id = manifest->run_id,
		.result = check->faults				 ? JOB_CHECK_CHANGED
			  : manifest->state != MANIFEST_COMPLETE ? JOB_CHECK_PARTIAL
								 : JOB_CHECK_WHOLE,
		.is_running = manifest->state == MANIFEST_RUNNING,
		.pid = manifest->pid,
		.files = check->files,
		.faults = check->faults,
		.findings = findings,
		.finding_count = check->findings.count,
		.phases = phases_make(manifest, arena),
		.phase_count = manifest->phases.count,
	};
}
