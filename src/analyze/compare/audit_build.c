/* audit_build.c - what the audit knows about builds and machines.
 *
 * The programs are looked at as they are now, by the caller; an imported file tells the build type
 * of its benchmark library at most.  A run has a machine when the fingerprint was taken: the few
 * facts that Google Benchmark writes are no fingerprint. */
#include <math.h>

#include "analyze/target.h"
#include "audit_parts.h"
#include "base/str.h"
#include "code/binary.h"
#include "model/run.h"

bool audit_machine_is_known(const struct run *run)
{
	return run_get_field(run, "cpu", "model", NULL) &&
	       run_get_field(run, "kernel", "release", NULL);
}

static bool has_same(const struct run *a, const struct run *b, const char *name)
{
	const char *of_a = run_get_field(a, "identity", name, NULL);
	const char *of_b = run_get_field(b, "identity", name, NULL);

	return of_a && of_b && str_equal(of_a, of_b);
}

/* Containers share the boot of their host and have names of their own. */
bool audit_is_same_machine(const struct run *a, const struct run *b)
{
	if (run_get_field(a, "identity", "machine_id_hash", NULL) ||
		run_get_field(b, "identity", "machine_id_hash", NULL))
		return has_same(a, b, "machine_id_hash");
	return has_same(a, b, "boot_id") && has_same(a, b, "hostname_hash");
}

static bool is_some(const char *text)
{
	return text && *text && !str_equal(text, "none");
}

static void find_program(struct audit_view *view, const struct audit_file *file,
	const char *command, const struct binary_facts *facts)
{
	if (target_is_unoptimised(facts->optimisation))
		audit_add(view, "debug-build", file, command, (double)NAN, "%s: %s%s", facts->name,
			facts->optimisation,
			facts->optimisation_evidence == EVIDENCE_CODE ? " judging by its code"
								      : "");
	if (is_some(facts->sanitizers))
		audit_add(view, "sanitizer", file, command, (double)NAN, "%s: %s", facts->name,
			facts->sanitizers);
	if (is_some(facts->instruments))
		audit_add(view, "instrumented", file, command, (double)NAN, "%s: %s", facts->name,
			facts->instruments);
	if (facts->lto == BINARY_NO)
		audit_add(view, "lto-off", file, command, (double)NAN, "%s: built without LTO",
			facts->name);
}

/* Two programs whose recorded switches differ in what makes code fast. */
static void find_asymmetry(
	struct audit_view *view, const struct audit_file *file, const struct audit_input *input)
{
	const struct binary_facts *first = NULL;

	for (uint32_t i = 0; i < file->bench.command_count; i++) {
		const struct binary_facts *facts = input->programs[i];
		bool other_level, other_lto;

		if (!facts)
			continue;
		if (!first) {
			first = facts;
			continue;
		}
		other_level = first->optimisation && facts->optimisation &&
			      first->optimisation_evidence == EVIDENCE_PRODUCER &&
			      facts->optimisation_evidence == EVIDENCE_PRODUCER &&
			      !str_equal(first->optimisation, facts->optimisation);
		other_lto = (first->lto == BINARY_YES && facts->lto == BINARY_NO) ||
			    (first->lto == BINARY_NO && facts->lto == BINARY_YES);
		if (other_level || other_lto)
			audit_add(view, "unequal-builds", file, file->bench.commands[i].name,
				(double)NAN, "%s: %s%s, %s: %s%s", first->name,
				first->optimisation ? first->optimisation : "level unknown",
				first->lto == BINARY_YES ? " with LTO" : "", facts->name,
				facts->optimisation ? facts->optimisation : "level unknown",
				facts->lto == BINARY_YES ? " with LTO" : "");
	}
}

void audit_builds(
	struct audit_view *view, const struct audit_file *file, const struct audit_input *input)
{
	const char *library = run_get_field(input->run, "import", "library_build_type", NULL);
	const char *scaling = run_get_field(input->run, "import", "cpu_scaling_enabled", NULL);
	bool unknown = false;

	if (library && str_equal(library, "debug"))
		audit_add(view, "debug-build", file, NULL, (double)NAN,
			"library_build_type is debug");
	if (scaling && str_equal(scaling, "yes"))
		audit_add(view, "cpu-scaling", file, NULL, (double)NAN,
			"cpu_scaling_enabled is true");
	for (uint32_t i = 0; i < file->bench.command_count; i++) {
		if (input->programs && input->programs[i])
			find_program(view, file, file->bench.commands[i].name, input->programs[i]);
		else
			unknown = true;
	}
	if (input->programs)
		find_asymmetry(view, file, input);
	if (unknown)
		audit_add(view, "build-unknown", file, NULL, (double)NAN,
			"the build of at least one program is unknown");
}

static void find_machine(
	struct audit_view *view, const struct audit_file *file, const struct run *run)
{
	fingerprint_view_auto struct fingerprint_view facts;
	str_auto struct str loud = {0};

	if (!audit_machine_is_known(run))
		audit_add(view, "no-machine", file, NULL, (double)NAN, "it has no fingerprint");
	fingerprint_view_init(&facts, run);
	vec_foreach (const struct fingerprint_field, field, &facts.fields)
		if (field->loud)
			str_addf(&loud, "%s%s.%s %s", loud.len ? ", " : "", field->group,
				field->name, field->value);
	if (loud.len)
		audit_add(view, "noisy-host", file, NULL, (double)NAN, "%s", str_text(&loud));
}

/* Each file against the first one that has a fingerprint. */
static void find_mixture(struct audit_view *view, const struct audit_input *inputs)
{
	uint32_t first = view->file_count;

	for (uint32_t i = 0; i < view->file_count; i++) {
		fingerprint_comparison_auto struct fingerprint_comparison comparison = {0};

		if (!*view->files[i].key)
			continue;
		if (first == view->file_count) {
			first = i;
			continue;
		}
		fingerprint_compare(&comparison, inputs[first].run, inputs[i].run);
		if (comparison.class == FULLY_COMPARABLE)
			continue;
		audit_add(view,
			comparison.class == NOT_COMPARABLE ? "mixed-machines" : "unlike-machines",
			&view->files[i], NULL,
			comparison.counts[comparison.class == NOT_COMPARABLE ? FINGERPRINT_BLOCK
									     : FINGERPRINT_WARN],
			"against %s: %u blocking and %u other differences, the first is %s",
			view->files[first].name, comparison.counts[FINGERPRINT_BLOCK],
			comparison.counts[FINGERPRINT_WARN],
			comparison.differences.count ? comparison.differences.at[0].field : "");
	}
}

void audit_machines(struct audit_view *view, const struct audit_input *inputs)
{
	for (uint32_t i = 0; i < view->file_count; i++)
		find_machine(view, &view->files[i], inputs[i].run);
	find_mixture(view, inputs);
	if (view->file_count > 1)
		audit_add(view, "separate-sessions", NULL, NULL, view->file_count,
			"%u files, each measured separately", view->file_count);
}
