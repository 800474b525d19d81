/* attest.c - see attest.h.  What the runs and the machine say by themselves.
 *
 * The questions are those of the honest gate: 1 written scenario, 2 same build, 3 API matched, 4
 * knobs identical, 5 realistic workload, 6 same fixture, reset per iteration, 7 symmetric warm-up,
 * 8 n >= 20 and >= 10 s, 9 quiet host, 10 envelope of three repeats, 11 three tiers, 12 losses
 * published, 13 apples to oranges flagged, 14 reproducible.  What is not known stays open. */
#include "analyze/attest.h"

#include <math.h>
#include <string.h>

#include "audit_parts.h"
#include "base/sha256.h"
#include "base/stats.h"
#include "base/str.h"
#include "code/binary.h"
#include "model/run.h"

enum { RUNS_LEAST = 20, REPEATS_LEAST = 3 };
#define TIME_LEAST_S 10.0
#define ENVELOPE_STABLE 0.05
#define ENVELOPE_LIMIT 0.10
#define TIER_SLOWER 1.25
#define TIER_FASTER 1.10

struct maker {
	const struct attest_facts *facts;
	struct arena *arena;
	struct str evidence; /* of the question that is being answered */
};

typedef enum attest_answer (*attest_question)(struct maker *make);

static bool found(const struct maker *make, const char *code)
{
	vec_foreach (const struct audit_finding, finding, &make->facts->audit->findings)
		if (str_equal(finding->rule->code, code))
			return true;
	return false;
}

/* The evidence of the first finding of these (NULL-terminated), joined. */
static bool tell_found(struct maker *make, const char *const *codes)
{
	for (; *codes; codes++)
		vec_foreach (const struct audit_finding, finding, &make->facts->audit->findings) {
			if (!str_equal(finding->rule->code, *codes))
				continue;
			str_addf(&make->evidence, "%s%s: %s", make->evidence.len ? "; " : "",
				*codes, finding->evidence);
			break;
		}
	return make->evidence.len > 0;
}

static bool is_import(const struct maker *make)
{
	return run_get_field(make->facts->input->run, "import", "kind", NULL) != NULL;
}

static enum attest_answer same_build(struct maker *make)
{
	static const char *const codes[] = {
		"debug-build", "sanitizer", "instrumented", "unequal-builds", NULL};
	const struct audit_view *audit = make->facts->audit;

	if (tell_found(make, codes))
		return ATTEST_FAIL;
	for (uint32_t i = 0; i < audit->command_count; i++) {
		const struct binary_facts *facts =
			make->facts->input->programs ? make->facts->input->programs[i] : NULL;

		if (!facts) {
			str_clear(&make->evidence);
			str_add(&make->evidence, "how the program was built is not known");
			return ATTEST_OPEN;
		}
		str_addf(&make->evidence, "%s%s: sha256 %.16s, %s%s%s", i ? "; " : "", facts->name,
			facts->sha256, facts->compiler ? facts->compiler : "compiler unknown",
			facts->optimisation ? " " : "",
			facts->optimisation ? facts->optimisation : "");
	}
	return audit->command_count ? ATTEST_PASS : ATTEST_OPEN;
}

/* Everything behind the program, as one hash. */
static void words_hash(const struct bench_command *command, char ret_hash[SHA256_TEXT])
{
	struct sha256 sha;

	sha256_init(&sha);
	for (char *const *word = command->argv + 1; *word; word++)
		sha256_add(&sha, *word, strlen(*word) + 1);
	sha256_text(&sha, ret_hash);
}

static enum attest_answer same_knobs(struct maker *make)
{
	const struct audit_view *audit = make->facts->audit;
	char first[SHA256_TEXT], other[SHA256_TEXT];

	if (!audit->command_count || is_import(make)) {
		str_add(&make->evidence, "an imported file does not describe its environment");
		return ATTEST_OPEN;
	}
	words_hash(audit->commands[0], first);
	for (uint32_t i = 1; i < audit->command_count; i++) {
		words_hash(audit->commands[i], other);
		if (!str_equal(first, other)) {
			str_add(&make->evidence, "the arguments of the programs differ");
			return ATTEST_OPEN;
		}
	}
	str_addf(&make->evidence, "same environment, same arguments for each program (%.16s)",
		first);
	return ATTEST_PASS;
}

static enum attest_answer same_fixture(struct maker *make)
{
	const struct attest_facts *facts = make->facts;
	uint32_t first = 0;

	for (uint32_t i = 0; i < facts->fixture_count; i++) {
		const struct attest_fixture *one = &facts->fixtures[i];

		str_addf(&make->evidence, "%s%s %.16s", i ? "; " : "", one->path, one->sha256);
		if (facts->started_known && one->changed_since) {
			str_add(&make->evidence, " was written after the runs started");
			return ATTEST_FAIL;
		}
		first += one->command == 0;
	}
	if (!facts->fixture_count) {
		str_add(&make->evidence, "the command lines name no file");
		return ATTEST_OPEN;
	}
	/* Each command must name files of the same content, in the same order. */
	for (uint32_t i = 0; i < facts->fixture_count; i++) {
		uint32_t place = first ? i % first : 0;

		if (facts->fixture_count != first * facts->audit->command_count ||
			!str_equal(facts->fixtures[i].sha256, facts->fixtures[place].sha256)) {
			str_add(&make->evidence, "; the commands read other files");
			return ATTEST_OPEN;
		}
	}
	if (!facts->started_known)
		return ATTEST_OPEN;
	str_add(&make->evidence, "; unchanged since the runs started");
	return ATTEST_PASS;
}

static enum attest_answer symmetric_warmup(struct maker *make)
{
	static const char *const codes[] = {"warm-up", "blocked-order", NULL};
	const struct audit_view *audit = make->facts->audit;

	if (tell_found(make, codes))
		return ATTEST_FAIL;
	for (uint32_t i = 1; i < audit->command_count; i++)
		if (audit->commands[i]->warmup_count != audit->commands[0]->warmup_count) {
			str_addf(&make->evidence, "%u and %u warm-ups",
				audit->commands[0]->warmup_count, audit->commands[i]->warmup_count);
			return ATTEST_FAIL;
		}
	if (is_import(make)) {
		str_add(&make->evidence, "the file does not record warm-ups; the times are stable");
		return ATTEST_OPEN;
	}
	str_addf(&make->evidence, "%u warm-ups each, and the times are stable",
		audit->command_count ? audit->commands[0]->warmup_count : 0);
	return ATTEST_PASS;
}

static enum attest_answer enough_runs(struct maker *make)
{
	const struct audit_view *audit = make->facts->audit;
	bool enough = audit->command_count > 0;

	for (uint32_t i = 0; i < audit->command_count; i++) {
		double seconds = audit_total_s(make->facts->input->run, i, audit->commands[i]);

		enough &= audit->commands[i]->used_count >= RUNS_LEAST && seconds >= TIME_LEAST_S;
		str_addf(&make->evidence, "%s%u runs in %.3g s", i ? "; " : "",
			audit->commands[i]->used_count, seconds);
	}
	return enough ? ATTEST_PASS : ATTEST_FAIL;
}

static enum attest_answer quiet_host(struct maker *make)
{
	static const char *const codes[] = {
		"noisy-steal", "noisy-pressure", "noisy-host", "cpu-scaling", NULL};
	bool measured =
		run_get_field(make->facts->input->run, "noise", "load_per_cpu", NULL) != NULL;

	if (tell_found(make, codes))
		return ATTEST_FAIL;
	for (uint32_t i = 0; i < make->facts->audit->command_count; i++)
		measured |= !isnan(
			bench_wall_share(make->facts->audit->commands[i], BENCH_PRESSURE_NS));
	str_add(&make->evidence, measured ? "steal, pressure and load are within the limits"
					  : "none of it was measured");
	return measured ? ATTEST_PASS : ATTEST_OPEN;
}

/* One number of a command in one file: median or p95, of wall or CPU time. */
static double series_value(const struct bench_command *command, unsigned which)
{
	const struct summary *series = which < 2 ? &command->wall : &command->cpu;

	return !series->count ? (double)NAN
	       : which % 2    ? series->percentiles[SUMMARY_P95].value
			      : series->median;
}

/* How far the repeats drift from their median, as a fraction; NAN: not all of them know it. */
static double drift_of(const struct attest_facts *facts, uint32_t command, unsigned which)
{
	double values[64], sorted[64], median, drift = 0;
	uint32_t count = facts->repeat_count < 64 ? facts->repeat_count : 64;

	for (uint32_t i = 0; i < count; i++) {
		const struct bench_view *bench = &facts->repeats[i].bench;

		values[i] = command < bench->command_count
				    ? series_value(&bench->commands[command], which)
				    : (double)NAN;
		if (isnan(values[i]))
			return (double)NAN;
		sorted[i] = values[i];
	}
	stats_sort(sorted, count);
	median = stats_median_sorted(sorted, count);
	for (uint32_t i = 0; i < count; i++)
		drift = fmax(drift, median > 0 ? fabs(values[i] - median) / median : 0);
	return drift;
}

static bool repeats_match(const struct attest_facts *facts)
{
	for (uint32_t i = 1; i < facts->repeat_count; i++) {
		const struct bench_view *a = &facts->repeats[0].bench,
					*b = &facts->repeats[i].bench;

		if (a->command_count != b->command_count)
			return false;
		for (uint32_t k = 0; k < a->command_count; k++)
			if (!str_equal(a->commands[k].name, b->commands[k].name))
				return false;
		if (!str_equal(facts->repeats[0].key, facts->repeats[i].key))
			return false;
	}
	return true;
}

static enum attest_answer stable_envelope(struct maker *make)
{
	static const char *const names[] = {"wall median", "wall p95", "CPU median", "CPU p95"};
	const struct attest_facts *facts = make->facts;
	double worst = 0;

	if (facts->repeat_count < REPEATS_LEAST) {
		str_addf(&make->evidence, "%u of %d repeats: name the files of all of them",
			facts->repeat_count, REPEATS_LEAST);
		return ATTEST_FAIL;
	}
	if (!repeats_match(facts)) {
		str_add(&make->evidence, "the files are not repeats: commands or machines differ");
		return ATTEST_FAIL;
	}
	for (unsigned which = 0; which < 4; which++) {
		double drift = (double)NAN; /* fmax() passes over it */

		for (uint32_t k = 0; k < facts->repeats[0].bench.command_count; k++)
			drift = fmax(drift, drift_of(facts, k, which));
		str_addf(&make->evidence, "%s%s ", which ? ", " : "drift: ", names[which]);
		if (isnan(drift))
			str_add(&make->evidence, "not measured");
		else
			str_addf(&make->evidence, "%.1f %%", drift * 100);
		worst = fmax(worst, drift);
	}
	str_add(&make->evidence, worst <= ENVELOPE_STABLE  ? " (stable)"
				 : worst <= ENVELOPE_LIMIT ? " (noise)"
							   : " (beyond 10 %)");
	return worst <= ENVELOPE_LIMIT ? ATTEST_PASS : ATTEST_FAIL;
}

/* Where the first command stands against another one, on p95. */
static const char *tier_of(double ours, double theirs)
{
	return theirs >= ours * TIER_FASTER   ? "HealthyMargin"
	       : ours <= theirs * TIER_SLOWER ? "ParityToMargin"
					      : "BelowParity";
}

static enum attest_answer tiers(struct maker *make)
{
	const struct audit_view *audit = make->facts->audit;

	if (audit->command_count == 1) {
		str_add(&make->evidence, "one command: nothing to compare with");
		return ATTEST_PASS;
	}
	for (uint32_t i = 0; i < audit->command_count; i++)
		if (!audit->commands[i]->used_count) {
			str_add(&make->evidence, "a command has no usable run");
			return ATTEST_FAIL;
		}
	for (uint32_t i = 1; i < audit->command_count; i++) {
		const struct summary *ours = &audit->commands[0]->wall;
		const struct summary *theirs = &audit->commands[i]->wall;
		double a = ours->percentiles[SUMMARY_P95].value;
		double b = theirs->percentiles[SUMMARY_P95].value;

		str_addf(&make->evidence, "%s`%.40s` against `%.40s`: %s (%.3gx on p95%s)",
			i > 1 ? "; " : "", audit->commands[0]->name, audit->commands[i]->name,
			tier_of(a, b), b > 0 ? a / b : 0,
			ours->percentiles[SUMMARY_P95].worst_of_all
				? ", which is near the worst run"
				: "");
	}
	return audit->command_count ? ATTEST_PASS : ATTEST_FAIL;
}

static enum attest_answer reproducible(struct maker *make)
{
	const struct attest_facts *facts = make->facts;
	const struct run *run = facts->input->run;
	struct str *out = &make->evidence;

	if (run->partial)
		str_add(out, "the file is incomplete; ");
	if (found(make, "no-machine"))
		str_add(out, "the machine is unknown; ");
	if (facts->git_is_foreign)
		str_addf(out,
			"the repository belongs to user %u, so git was not asked (run assay as "
			"that user); ",
			facts->git_owner);
	else if (!facts->git_commit)
		str_add(out, "no git commit; ");
	else if (!facts->git_known || facts->git_dirty)
		str_addf(out, "the working tree at %.12s %s; ", facts->git_commit,
			facts->git_known ? "has changes" : "could not be checked");
	if (out->len) {
		str_add(out, "command lines are recorded");
		return ATTEST_FAIL;
	}
	str_addf(out, "command lines, fingerprint and commit %.12s (no changes) are recorded",
		facts->git_commit);
	return ATTEST_PASS;
}

static const struct {
	const char *key, *question;
	attest_question ask; /* NULL: only a person knows */
} questions[ATTEST_QUESTIONS] = {
	{"scenario", "Is the scenario written down: what is measured, why, and with which budget?",
		NULL},
	{"same-build", "Were all programs built the same way, and as they are shipped?",
		same_build},
	{"same-api", "Do the commands use the same class of API for the work?", NULL},
	{"same-knobs", "Are all settings the same except the one in question?", same_knobs},
	{"realistic-workload", "Is the workload like real use, in size and mix?", NULL},
	{"same-fixture", "Does every run start from the same data, reset each time?", same_fixture},
	{"symmetric-warmup", "Did every command get the same warm-up, and was it enough?",
		symmetric_warmup},
	{"enough-runs", "Does each command have at least 20 runs and 10 s?", enough_runs},
	{"quiet-host", "Was the machine quiet during the runs?", quiet_host},
	{"stable-envelope", "Do three repeats on this machine agree within 10 %?", stable_envelope},
	{"tiers", "Does the result say where the first command is: ahead, equal or behind?", tiers},
	{"losses-published", "Are the cases it loses published beside those it wins?", NULL},
	{"mismatches-flagged", "Is every difference between the commands disclosed?", NULL},
	{"reproducible", "Can someone else repeat it from what is recorded?", reproducible},
};

void attest_view_make(
	const struct attest_facts *facts, struct arena *arena, struct attest_view *ret_view)
{
	*ret_view = (struct attest_view){0};
	for (unsigned i = 0; i < ATTEST_QUESTIONS; i++) {
		struct maker make = {.facts = facts, .arena = arena};
		struct attest_item *item = &ret_view->items[i];

		item->key = questions[i].key;
		item->question = questions[i].question;
		if (facts && questions[i].ask)
			item->answer = questions[i].ask(&make);
		item->by_tool = item->answer != ATTEST_OPEN;
		if (make.evidence.len)
			str_flatten(make.evidence.at); /* it goes into files of lines */
		item->evidence = arena_text(arena, str_text(&make.evidence), make.evidence.len);
		ret_view->passes += item->answer == ATTEST_PASS;
		ret_view->fails += item->answer == ATTEST_FAIL;
		ret_view->open += item->answer == ATTEST_OPEN;
		str_done(&make.evidence);
	}
}

void attest_fingerprint_hash(const struct run *run, char ret_hash[SHA256_TEXT])
{
	static const char *const states[] = {"=", " absent", " denied"};
	str_auto struct str text = {0};
	struct sha256 sha;

	vec_foreach (const struct field_row, field, &run->fields)
		str_addf(&text, "%s.%s%s%s\n", run_text(run, field->group),
			run_text(run, field->name), states[field->state],
			run_text(run, field->value));
	sha256_init(&sha);
	sha256_add(&sha, str_text(&text), text.len);
	sha256_text(&sha, ret_hash);
}
