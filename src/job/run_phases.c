/* run_phases.c - THE TABLE of phases.  A new source of evidence is one row here, its words, and one
 * kind in analyze/evidence.h.
 *
 * The plan is made once to be shown, and again before each phase with the time that is really left.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/label.h"
#include "code/binary.h"
#include "code/names.h"
#include "drive/causal_sites.h"
#include "job/code_look.h"
#include "job/status.h"
#include "run_job.h"
#include "source/pmu.h"

#define EXPERIMENT_SHARE 0.08
enum { EXPERIMENT_FUNCTIONS = 4, RATE_SHORT = 9973, SHORT_TASKS = 4 };

#define END_NS 1000000000ULL /* to join, write and hash what there is */

struct run_phase {
	const char *name;
	const char *file;
	enum evidence_kind kind;
	enum plan_kind plan;
	bool checks_output; /* its stdout is that of one run of the program */
	bool tells_events;
	/* Why it cannot be done here, with the way out; NULL: it can.  May be NULL itself. */
	const char *(*refused)(struct run_job *job, const char **ret_fix);
	/* The command, without the -o FILE and the program that follow it. */
	void (*words)(struct run_job *job, const struct plan_step *step, struct run_words *words);
	bool splits_one; /* bench does: see run_words_add_program() */
	bool has_no_program;
	/* The program with less to do that it takes; NULL: the whole.  May be NULL itself. */
	const struct run_variant *(*variant)(struct run_job *job);
};

static void baseline_words(
	struct run_job *job, const struct plan_step *step, struct run_words *words)
{
	run_words_add(words, "bench", "-n", arena_format(&job->arena, "%u", step->runs),
		"--time-limit", run_words_ms(job, step->limit_ns));
	if (*job->golden_sha256 && !job->output_varies)
		run_words_add(words, "--golden", directory_path(&job->directory, RUN_GOLDEN));
	if (job->input_path)
		run_words_add(words, "--input", job->input_path);
}

static void observed_words(
	struct run_job *job, const struct plan_step *step, struct run_words *words)
{
	(void)job;
	(void)step;
	run_words_add(words, "stat", "--proc");
}

static double fact_of(const struct run *run, const char *name)
{
	vec_foreach (const struct fact_row, fact, &run->facts)
		if (str_equal(run_text(run, fact->name), name))
			return fact->value;
	return (double)NAN;
}

/* Nearly every look at it found other threads.  One that lives shorter than the time between two
 * samples is never sampled: at 997 a second a program that starts a thread for each job of 0.6 ms
 * had all of them missing, 42 % of its CPU time. */
static bool tasks_are_short(struct run_job *job)
{
	struct err ignored = {0};
	const struct run *observed = run_phase_file(job, EVIDENCE_OBSERVED, &ignored);

	return observed && fact_of(observed, "threads_seen") >=
				   SHORT_TASKS * fmax(fact_of(observed, "threads_most"), 2);
}

static void profile_words(
	struct run_job *job, const struct plan_step *step, struct run_words *words)
{
	uint32_t rate_hz = tasks_are_short(job) ? RATE_SHORT : step->rate_hz;

	run_words_add(words, "record", "-F", arena_format(&job->arena, "%u", rate_hz));
}

static const struct run_variant *smaller_variant(struct run_job *job)
{
	return &job->variants[0];
}

static const struct run_variant *smallest_variant(struct run_job *job)
{
	return &job->variants[1];
}

static const char *variant_refused(const struct run_job *job, unsigned needed, const char **ret_fix)
{
	*ret_fix = "name a smaller run with --smaller CMD, or sizes with --sizes and {n}";
	return job->variant_count >= needed ? NULL
	       : job->variants_reason	    ? job->variants_reason
					    : "only one smaller input is known";
}

static const char *smaller_refused(struct run_job *job, const char **ret_fix)
{
	return variant_refused(job, 1, ret_fix);
}

static const char *smallest_refused(struct run_job *job, const char **ret_fix)
{
	return variant_refused(job, 2, ret_fix);
}

static void smaller_words(
	struct run_job *job, const struct plan_step *step, struct run_words *words)
{
	run_words_add(words, "record", "-F", arena_format(&job->arena, "%u", step->rate_hz));
}

/* "parse" or "parse+" when causal finds it in the program; NULL: it does not. */
static const char *site_of(struct run_job *job, struct causal_sites *sites, const char *function,
	bool with_callees, struct err *why)
{
	const char *text = arena_format(&job->arena, "%.*s%s", (int)names_bare_length(function),
		function, with_callees ? "+" : "");

	if (strchr(text, '@')) { /* what stands behind it would be read as a caller */
		err_set(why, ERR_USAGE, EINVAL,
			"functions with a symbol version (NAME@VERSION) cannot be tried");
		return NULL;
	}
	return causal_sites_add(sites, text, false, why) >= 0 ? text : NULL;
}

/* The place itself, or else what has most of its time below it.  False: neither is in the program
 * (but in a library, or in a child), and the answer will say so. */
static bool target_add(struct run_job *job, struct causal_sites *sites,
	const struct hotspot_target *target, struct run_words *words)
{
	struct evidence *evidence = &job->evidence;
	struct err why = {0}, ignored = {0};
	const char *text = site_of(job, sites, target->function, target->with_callees, &why);

	if (!text && target->inner)
		text = site_of(job, sites, target->inner, target->inner_with_callees, &ignored);
	if (text)
		run_words_add(words, "-f", text);
	else if (evidence->untried_count < EVIDENCE_UNTRIED)
		evidence->untried[evidence->untried_count++] = (struct evidence_untried){
			target->function, arena_copy(&job->arena, why.text)};
	return text;
}

/* The places that the answer may name, with what they call where the time is there: in the seconds
 * there are, experiments on each of their lines would leave all bounds open.  The hottest is named
 * first, so it is tried first; without any name causal looks for lines itself. */
static void causal_add_targets(struct run_job *job, struct run_words *words)
{
	struct err ignored = {0};
	struct evidence_piece piece = {
		.run = run_phase_file(job, EVIDENCE_PROFILE, &ignored), .path = ""};
	const char *name = job->worker.path ? job->worker.path : job->options.program[0];
	struct hotspot_target functions[EXPERIMENT_FUNCTIONS + EVIDENCE_UNTRIED];
	const char *program;
	const struct scope everything = {0};
	struct causal_sites *sites = NULL;
	uint32_t count, added = 0;

	job->evidence.untried_count = 0;
	job->evidence.follows = job->worker.path;
	if (!piece.run || binary_find(name, &job->arena, &program, &ignored) < 0 ||
		causal_sites_open(program, &everything, &sites, &ignored) < 0)
		return;
	count = hotspot_functions(&piece, code_look_take(piece.run, &job->arena), EXPERIMENT_SHARE,
		&job->arena, functions, EXPERIMENT_FUNCTIONS + EVIDENCE_UNTRIED);
	for (uint32_t i = 0; i < count && added < EXPERIMENT_FUNCTIONS; i++)
		added += target_add(job, sites, &functions[i], words);
	causal_sites_close(sites);
}

static const char *causal_refused(struct run_job *job, const char **ret_fix)
{
	run_worker_find(job);
	if (job->worker.refused)
		*ret_fix = job->worker.fix;
	return job->worker.refused;
}

static void causal_words(struct run_job *job, const struct plan_step *step, struct run_words *words)
{
	/* Two levels of each, so that bounds come within seconds: half of it, and all. */
	run_words_add(words, "causal", "--progress", "auto", "--speedup", "50", "--speedup", "100");
	if (job->worker.path)
		run_words_add(words, "--follow", job->worker.path);
	causal_add_targets(job, words);
	run_words_add(words, "--budget", run_words_ms(job, step->share_ns));
}

static const char *events_refused(struct run_job *job, const char **ret_fix)
{
	struct stat there;

	if (!run_step_find(job, "observed")) /* not yet: it is only known behind that phase */
		return NULL;
	if (stat(directory_path(&job->directory, RUN_EVENTS), &there) == 0 && there.st_size > 0)
		return NULL;
	*ret_fix = "log spans with assay.h, or any perf.profile lines to $ASSAY_EVENTS";
	return "the program logged no events";
}

static void events_words(struct run_job *job, const struct plan_step *step, struct run_words *words)
{
	(void)step;
	run_words_add(words, "import", directory_path(&job->directory, RUN_EVENTS));
}

/* In the order in which they run.  One sampler at a time: none measures another.  Simulation and
 * baseline come behind the experiments, because only these may end early (a program without a point
 * of progress: most): the two then get more time. */
#define PHASE(evidence, word, how)                                                                 \
	.kind = evidence, .name = word, .file = word ".assay", .plan = how
static const struct run_phase phases[RUN_PHASES] = {
	{PHASE(EVIDENCE_OBSERVED, "observed", PLAN_WHOLE), .checks_output = true,
		.tells_events = true, .words = observed_words},
	{PHASE(EVIDENCE_PROFILE, "profile", PLAN_WHOLE), .checks_output = true,
		.words = profile_words},
	{PHASE(EVIDENCE_SMALLER, "smaller", PLAN_PART), .refused = smaller_refused,
		.words = smaller_words, .variant = smaller_variant},
	{PHASE(EVIDENCE_SMALLEST, "smallest", PLAN_PART), .refused = smallest_refused,
		.words = smaller_words, .variant = smallest_variant},
	{PHASE(EVIDENCE_CAUSAL, "causal", PLAN_EXPERIMENT), .refused = causal_refused,
		.words = causal_words},
	{PHASE(EVIDENCE_COUNTERS, "counters", PLAN_SIMULATED), .checks_output = true,
		.refused = run_counters_refused, .words = run_counters_words},
	{PHASE(EVIDENCE_CALLS, "calls", PLAN_SIMULATED), .checks_output = true,
		.refused = run_calls_refused, .words = run_calls_words,
		.variant = run_calls_variant},
	{PHASE(EVIDENCE_BASELINE, "baseline", PLAN_REPEATED), .words = baseline_words,
		.splits_one = true},
	{PHASE(EVIDENCE_EVENTS, "events", PLAN_QUICK), .refused = events_refused,
		.words = events_words, .has_no_program = true},
};

/* ---- which ---- */

/* The phases of a list with commas between them, as bits. */
static int list_read(struct run_job *job, const char *option, const char *list, unsigned *ret_bits,
	struct err *err)
{
	char *at = arena_format(&job->arena, "%s", list), *name;

	for (*ret_bits = 0; (name = strsep(&at, ","));) {
		unsigned i = 0;

		while (i < RUN_PHASES && !str_equal(phases[i].name, name))
			i++;
		*ret_bits |= 1u << i;
		if (i < RUN_PHASES)
			continue;
		err_set(err, ERR_USAGE, EINVAL, "--%s: unknown phase '%s'", option, name);
		return err_hint(err,
			"phases: baseline, observed, profile, smaller, smallest, counters, calls, "
			"causal, events; separate them with commas");
	}
	return 0;
}

int run_phases_check(struct run_job *job, struct err *err)
{
	const struct run_options *o = &job->options;
	unsigned only = UINT_MAX, skip = 0;
	int r = o->phases ? list_read(job, "phase", o->phases, &only, err) : 0;

	if (r >= 0 && o->skip)
		r = list_read(job, "skip", o->skip, &skip, err);
	job->left_out = ~only | skip;
	return r;
}

static void wishes_make(struct run_job *job, struct plan_wish *wishes)
{
	for (unsigned i = 0; i < RUN_PHASES; i++) {
		const struct run_phase *phase = &phases[i];
		struct plan_wish *wish = &wishes[i];

		*wish = (struct plan_wish){
			.phase = phase->name, .kind = phase->plan, .fix = "", .done = job->done[i]};
		wish->slower = phase->kind == EVIDENCE_CALLS ? RUN_CALLS_SLOWER : 0;
		if (phase->variant && phase->variant(job))
			wish->run_ns = run_smaller_ns(job, phase->variant(job));
		/* A PMU counts a run at its own speed; simulated it takes tens of times as long. */
		if (phase->kind == EVIDENCE_COUNTERS && job->has_pmu)
			wish->kind = PLAN_WHOLE;
		if (job->left_out >> i & 1)
			wish->refused = "skipped on request";
		else if (phase->refused && !wish->done)
			wish->refused = phase->refused(job, &wish->fix);
	}
}

/* ---- the plan ---- */

double run_others_share(const struct run *observed)
{
	if (!observed)
		return (double)NAN;
	return (fact_of(observed, "busy_ns") - fact_of(observed, "on_cpu_ns")) /
	       fact_of(observed, "watched_ns") / fact_of(observed, "cpus_allowed");
}

static double others_share(struct run_job *job)
{
	struct err ignored = {0};
	const struct manifest_phase *row = run_step_find(job, "observed");

	return run_others_share(
		row && *row->file ? run_phase_file(job, EVIDENCE_OBSERVED, &ignored) : NULL);
}

static void plan_now(struct run_job *job, struct plan_step *ret_steps)
{
	struct plan_wish wishes[RUN_PHASES];
	struct plan_input input = {
		.run_ns = job->run_ns,
		.endless = job->endless,
		.cpus = job->cpus,
		.others_share = others_share(job),
		.budget_ns = job->budget_ns,
		.spent_ns = run_job_spent_ns(job),
		.runs_least = job->against_path ? COMPARE_RUNS_GOOD : 0,
	};

	wishes_make(job, wishes);
	plan_make(&input, wishes, RUN_PHASES, ret_steps);
}

void run_phases_plan(struct run_job *job)
{
	struct plan_page *page = &job->result->plan;
	struct err ignored = {0};

	job->has_pmu = pmu_present(&ignored) > 0;
	plan_now(job, job->planned);
	for (unsigned i = 0; i < RUN_PHASES; i++)
		job->step_count += !job->planned[i].skipped;
	*page = (struct plan_page){
		.steps = job->planned,
		.count = RUN_PHASES,
		.run_s = (double)job->run_ns / 1e9,
		.budget_s = (double)job->budget_ns / 1e9,
		.spent_s = (double)run_job_spent_ns(job) / 1e9,
		.endless = job->endless,
	};
	page->expected_s =
		page->spent_s + (double)plan_expected_ns(job->planned, RUN_PHASES) / 1e9 + 1;
	job->manifest.planned_s = page->expected_s;
	if (job->options.show_plan)
		job->options.show_plan(job->options.context, page);
}

/* ---- one after the other ---- */

/* When a phase must stop: its own limit, and before the end of the budget. */
static uint64_t limit_of(
	const struct run_job *job, const struct run_phase *phase, const struct plan_step *step)
{
	uint64_t gone = run_job_spent_ns(job) + END_NS;
	uint64_t left = job->budget_ns > gone ? job->budget_ns - gone : 0;
	uint64_t most = left > END_NS ? left : END_NS, limit = step->limit_ns;

	if (phase->plan == PLAN_REPEATED || !limit) /* that one is of each run */
		return most;
	return limit < most ? limit : most;
}

void run_phase_words(
	struct run_job *job, unsigned i, const struct plan_step *plan, struct run_words *words)
{
	const struct run_phase *phase = &phases[i];
	const struct run_variant *variant = phase->variant ? phase->variant(job) : NULL;

	phase->words(job, plan, words);
	run_words_add(words, "-o", directory_path(&job->directory, phase->file));
	if (variant) {
		run_words_add(words, "--");
		run_words_put(words, (const char *const *)variant->program);
	} else if (!phase->has_no_program) {
		run_words_add_program(job, words, phase->splits_one);
	}
}

static int phase_do(struct run_job *job, unsigned i, const struct plan_step *plan, struct err *err)
{
	const struct run_phase *phase = &phases[i];
	const struct plan_step *shown = &job->planned[i];
	const struct run_variant *variant = phase->variant ? phase->variant(job) : NULL;
	struct run_step step = {
		.name = phase->name,
		.file = phase->file,
		.limit_ns = limit_of(job, phase, plan),
		.planned_s = shown->skipped ? 0 : (double)shown->expected_ns / 1e9,
		.watches = plan->watches && phase->plan != PLAN_EXPERIMENT,
		.takes_input = !phase->splits_one && !phase->has_no_program,
		.input_path = variant ? variant->input_path : NULL,
		.checks_output = phase->checks_output && !variant,
		.may_be_cut = phase->plan == PLAN_SIMULATED,
		.kind = phase->kind,
		.tells_events = phase->tells_events,
	};
	int r;

	job->step++;
	job->evidence.sizes[phase->kind] = !variant ? 0 : variant->size > 0 ? variant->size : -1;
	run_phase_words(job, i, plan, &step.words);
	run_written_restore(job);
	r = run_step_do(job, &step, err);
	if (!phase->has_no_program)
		run_written_after(job, r == PHASE_DONE && !run_step_was_cut(job, phase->kind));
	return r;
}

/* The baseline compares each output with the first; where that is never the same, it is told once
 * and no longer asked for. */
bool run_baseline_varies(struct run_job *job)
{
	struct err ignored = {0};
	const struct run *run = run_phase_file(job, EVIDENCE_BASELINE, &ignored);

	for (uint32_t i = 0; run && i < run->executions.count; i++)
		if (run->executions.at[i].flags & EXECUTION_WRONG_OUTPUT)
			return true;
	return false;
}

static int baseline_again(struct run_job *job, unsigned i, struct err *err)
{
	struct plan_step steps[RUN_PHASES];

	job->output_varies = true;
	job->manifest.output_sha256 = "";
	job->manifest.phases.count--; /* it is made again without the comparison */
	unlink(directory_path(&job->directory, phases[i].file));
	run_close(job->runs[EVIDENCE_BASELINE]);
	job->runs[EVIDENCE_BASELINE] = NULL;
	job->done[i] = false;
	plan_now(job, steps);
	job->done[i] = true;
	job->step--;
	if (steps[i].skipped) {
		run_step_skip(job, phases[i].name, steps[i].reason, steps[i].fix);
		return PHASE_SKIPPED;
	}
	return phase_do(job, i, &steps[i], err);
}

int run_phases_do(struct run_job *job, struct err *err)
{
	int r = 0;

	for (unsigned i = 0; r >= 0 && i < RUN_PHASES; i++) {
		struct plan_step steps[RUN_PHASES];

		if (job->stopped || job_interrupted(job->host).count) {
			job->stopped = true;
			run_step_skip(job, phases[i].name, "stopped by the user", "");
			continue;
		}
		if (job->unwritten.code) {
			run_step_skip(job, phases[i].name,
				"the result of an earlier phase could not be written",
				job->unwritten.hint);
			continue;
		}
		plan_now(job, steps);
		job->done[i] = true;
		if (steps[i].skipped) {
			run_step_skip(job, phases[i].name, steps[i].reason, steps[i].fix);
			continue;
		}
		r = phase_do(job, i, &steps[i], err);
		if (phases[i].kind == EVIDENCE_BASELINE && r == PHASE_FAILED &&
			run_baseline_varies(job))
			r = baseline_again(job, i, err);
		if (r >= 0)
			r = run_job_keep(job, err);
	}
	run_written_end(job);
	return r;
}

/* ---- what they left ---- */

const struct run *run_phase_file(struct run_job *job, enum evidence_kind kind, struct err *err)
{
	const struct run_phase *phase = phases;

	while (phase->kind != kind)
		phase++;
	if (!job->runs[kind])
		(void)job_load_run(job->host, directory_path(&job->directory, phase->file),
			&job->runs[kind], err);
	return job->runs[kind];
}

/* Notes that say why there was no experiment, the best reason last. */
static unsigned note_weight(const char *code)
{
	static const char *const codes[] = {"target-failed", "not-followed", "progress-not-found",
		"no-progress", "probe-distorts", "target-crashed", "signal-taken", "sandboxed",
		"ended-by-assay"};

	for (unsigned i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (str_equal(code, codes[i]))
			return i + 1;
	return 0;
}

/* Experiments that came to nothing: the file says why. */
static void reason_of_notes(struct run_job *job, struct manifest_phase *row)
{
	bool nothing = row->status == EXIT_INCONCLUSIVE || row->status == EXIT_TARGET;
	struct err ignored = {0};
	const struct run *run = nothing ? run_phase_file(job, EVIDENCE_CAUSAL, &ignored) : NULL;
	unsigned best = 0;

	if (!run)
		return;
	row->reason = "no experiment was complete";
	row->fix = "name a progress point with assay causal --progress FUNCTION";
	vec_foreach (const struct note_row, note, &run->notes) {
		const char *text = run_text(run, note->text), *hint = run_text(run, note->hint);
		unsigned weight = note_weight(run_text(run, note->code));

		if (weight <= best)
			continue;
		best = weight;
		row->reason = arena_copy(&job->arena, text);
		row->fix = arena_copy(&job->arena, hint);
	}
}

/* What makes the shares of the answer wrong is told with it. */
static void profile_doubts(struct run_job *job, const struct run *profile)
{
	vec_foreach (const struct note_row, note, &profile->notes)
		if (str_equal(run_text(profile, note->code), "short-lived-tasks"))
			run_add_note(job->front, "short-lived-tasks", run_text(profile, note->text),
				"shares are of what was sampled; see assay record -a");
}

void run_phases_load(struct run_job *job)
{
	for (unsigned i = 0; i < RUN_PHASES; i++) {
		const struct run_phase *phase = &phases[i];
		struct evidence_piece *piece = &job->evidence.piece[phase->kind];
		struct manifest_phase *row = run_step_find(job, phase->name);
		struct err why = {0};
		bool made = row && (row->outcome == PHASE_DONE || row->outcome == PHASE_WATCHED ||
					   row->outcome == PHASE_INTERRUPTED);

		*piece = (struct evidence_piece){.path = phase->file,
			.reason = "the run ended before this phase",
			.fix = ""};
		if (made)
			piece->run = run_phase_file(job, phase->kind, &why);
		if (piece->run) {
			piece->reason = "";
			if (phase->kind == EVIDENCE_PROFILE)
				profile_doubts(job, piece->run);
			continue;
		}
		if (!row)
			continue;
		if (made && !*row->reason)
			row->reason = arena_copy(&job->arena, why.text);
		if (phase->kind == EVIDENCE_CAUSAL) {
			reason_of_notes(job, row);
			job->evidence.no_experiments = row->outcome == PHASE_FAILED;
		}
		piece->reason = row->reason;
		piece->fix = row->fix;
	}
}
