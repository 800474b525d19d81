/* audit_fairness.c - which claims the numbers allow.
 *
 * Six levels build on each other: a claim needs its own level and all below.  What the file cannot
 * show is unknown, not granted: `assay attest` asks a person for it.  Words of the command line are
 * all that is known of a workload, so equal words behind equal programs count as the same. */
#include <math.h>
#include <string.h>

#include "audit_parts.h"
#include "base/str.h"
#include "model/run.h"

static bool has_finding(const struct audit_view *view, const char *code)
{
	vec_foreach (const struct audit_finding, finding, &view->findings)
		if (str_equal(finding->rule->code, code))
			return true;
	return false;
}

static bool words_equal(char *const *a, char *const *b)
{
	while (*a && *b && str_equal(*a, *b)) {
		a++;
		b++;
	}
	return !*a && !*b;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

struct likeness {
	bool all_ran, words, programs, whole, warmups;
	uint32_t warmup_count;
};

static struct likeness likeness_of(const struct audit_view *view)
{
	const struct bench_command *first = view->commands[0];
	struct likeness like = {true, true, true, true, true, first->warmup_count};

	for (uint32_t i = 0; i < view->command_count; i++) {
		const struct bench_command *command = view->commands[i];

		like.all_ran &= command->used_count > 0;
		like.words &= words_equal(first->argv + 1, command->argv + 1);
		like.programs &= str_equal(base_name(first->argv[0]), base_name(command->argv[0]));
		like.whole &= words_equal(first->argv, command->argv);
		like.warmups &= command->warmup_count == first->warmup_count;
	}
	for (uint32_t i = 0; i < view->file_count; i++)
		if (view->files[i].names_only)
			like.words = like.programs = like.whole = false;
	/* Two programs without a word say nothing about their work. */
	like.words &= first->argv[1] || like.programs;
	return like;
}

static void step_set(
	struct audit_view *view, unsigned level, enum audit_answer answer, const char *evidence)
{
	view->steps[level].answer = answer;
	view->steps[level].evidence = evidence;
}

static void step_caches(struct audit_view *view, const struct likeness *like)
{
	if (has_finding(view, "blocked-order") || has_finding(view, "separate-sessions"))
		step_set(view, 3, AUDIT_NO, "they were not interleaved");
	else if (!like->warmups)
		step_set(view, 3, AUDIT_NO, "they had different numbers of warm-ups");
	else if (has_finding(view, "warm-up"))
		step_set(view, 3, AUDIT_NO, "the first runs of a command were not stable");
	else
		step_set(view, 3, AUDIT_YES,
			arena_format(
				view->arena, "interleaved, %u warm-ups each", like->warmup_count));
}

static void step_machine(struct audit_view *view)
{
	if (has_finding(view, "mixed-machines"))
		step_set(view, 4, AUDIT_NO, "the machines or their settings differ");
	else if (has_finding(view, "no-machine"))
		step_set(view, 4, AUDIT_UNKNOWN, "a file does not say where it was measured");
	else if (view->file_count > 1 && has_finding(view, "unlike-machines"))
		step_set(view, 4, AUDIT_UNKNOWN, "the fingerprints differ in ways that may matter");
	else
		step_set(view, 4, AUDIT_YES, "all have the same fingerprint");
}

static void steps_make(struct audit_view *view)
{
	struct likeness like = likeness_of(view);

	for (unsigned i = 0; i < AUDIT_LEVELS && i < view->book->levels.count; i++)
		view->steps[i].level = &view->book->levels.at[i];
	step_set(view, 0, like.all_ran ? AUDIT_YES : AUDIT_NO,
		like.all_ran ? "each has successful runs" : "one has no successful run");
	step_set(view, 1, like.words ? AUDIT_YES : AUDIT_UNKNOWN,
		like.words ? "the same arguments"
			   : "their arguments differ, and the file does not say what they do");
	step_set(view, 2, like.programs ? AUDIT_YES : AUDIT_UNKNOWN,
		like.programs ? "programs of the same name"
			      : "different programs: a person must judge (assay attest)");
	step_caches(view, &like);
	step_machine(view);
	step_set(view, 5, like.whole ? AUDIT_YES : AUDIT_UNKNOWN,
		like.whole ? "the same command line"
			   : "the file does not contain their inputs (assay attest)");
	while (view->reached + 1 < AUDIT_LEVELS && view->steps[view->reached + 1].level &&
		view->steps[view->reached + 1].answer == AUDIT_YES)
		view->reached++;
}

static enum fingerprint_class class_of(const struct audit_view *view)
{
	if (has_finding(view, "mixed-machines") || has_finding(view, "unequal-builds") ||
		view->steps[0].answer == AUDIT_NO)
		return NOT_COMPARABLE;
	return view->reached >= 4 && !view->counts[AUDIT_HIGH] ? FULLY_COMPARABLE : ADVISORY;
}

static void supports_one(const struct bench_command *command, const char *where, struct str *out)
{
	const struct summary *wall = &command->wall;

	str_addf(out, "the median of %u runs of `%.80s` was %.4g ms", command->used_count,
		command->name, wall->median / 1e6);
	if (isfinite(wall->median_interval.lo) && isfinite(wall->median_interval.hi))
		str_addf(out, " (%.4g .. %.4g)", wall->median_interval.lo / 1e6,
			wall->median_interval.hi / 1e6);
	str_add(out, where);
}

static void supports_make(struct audit_view *view)
{
	str_auto struct str text = {0};

	if (!view->run_count)
		str_add(&text, "nothing: no run is usable");
	else if (!view->compares)
		supports_one(view->commands[0],
			has_finding(view, "no-machine") ? " on an unnamed machine"
							: " on the machine of its fingerprint",
			&text);
	else if (view->reached < 0)
		str_add(&text, "each command's numbers on their own");
	else
		str_addf(&text, "%s (%s)", view->steps[view->reached].level->claim,
			view->steps[view->reached].level->name);
	str_flatten(text.at);
	view->supports = arena_str(view->arena, &text);
}

/* What the findings take away, the worst first and each said once; then the level that is missing.
 */
static void lacks_make(struct audit_view *view)
{
	str_auto struct str text = {0};

	for (int severity = AUDIT_HIGH; severity >= AUDIT_LOW; severity--)
		vec_foreach (const struct audit_rule, rule, &view->book->rules) {
			/* Of the small ones only the claim that people make most. */
			bool small = severity == AUDIT_LOW && !str_equal(rule->code, "percentiles");

			if ((int)rule->severity != severity || small ||
				!has_finding(view, rule->code) ||
				(text.len && strstr(text.at, rule->denies)))
				continue;
			str_addf(&text, "%s%s", text.len ? "; " : "", rule->denies);
		}
	if (view->compares && view->reached + 1 < AUDIT_LEVELS &&
		view->steps[view->reached + 1].level)
		str_addf(&text, "%sthat %s (%s: %s)", text.len ? "; " : "",
			view->steps[view->reached + 1].level->claim,
			view->steps[view->reached + 1].level->name,
			view->steps[view->reached + 1].evidence);
	if (!text.len)
		str_add(&text, "other machines, builds and inputs");
	view->lacks = arena_str(view->arena, &text);
}

void audit_judge(struct audit_view *view)
{
	view->reached = -1;
	view->compares = view->command_count > 1;
	if (view->compares) {
		steps_make(view);
		view->class = class_of(view);
	}
	supports_make(view);
	lacks_make(view);
}
