/* audit_parts.h - what the parts of the audit share: audit.c finds, audit_build.c looks at how the
 * programs and machines are made, audit_fairness.c says which claims are left. */
#pragma once

#include "analyze/audit.h"

/* Add a finding by the rule `code`.  `number` NAN: none.  The file is `file`'s, NULL: of all. */
void audit_add(struct audit_view *view, const char *code, const struct audit_file *file,
	const char *command, double number, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/* The limit of the rule `code`. */
double audit_limit(const struct audit_view *view, const char *code);

/* How long the used runs of command `index` of the run took together: what was really measured
 * where an execution stands for a part of it (Google Benchmark). */
double audit_total_s(const struct run *run, uint32_t index, const struct bench_command *command);

/* audit_build.c */
void audit_builds(
	struct audit_view *view, const struct audit_file *file, const struct audit_input *input);
void audit_machines(struct audit_view *view, const struct audit_input *inputs);
bool audit_machine_is_known(const struct run *run);

/* audit_fairness.c: steps, class and the sentence, once all findings are there. */
void audit_judge(struct audit_view *view);
