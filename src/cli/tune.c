/* tune.c - `assay tune plan|apply|run|revert|status`: quiet the machine, with consent and a way
 * back.
 *
 *     sudo assay tune run --only frequency -- ./bench
 *
 * Joins the table of knobs (analyze) with the machine (drive), asks, and shows.  Nothing is written
 * before every chosen group has its yes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/knob.h"
#include "base/io.h"
#include "cli.h"
#include "code/binary.h"
#include "drive/tune.h"
#include "model/run.h"
#include "render/tune.h"

struct tune_job {
	struct cli *cli;
	struct run *run; /* carries the warnings */
	struct knob_book book;
	vec_of(struct tune_knob) knobs;
	struct tune tune;
	struct knob_view view, reverted;
	struct arena arena;
};

static bool knob_is_asked(const struct cli *cli, const struct knob *knob)
{
	const char *name;

	for (unsigned i = 0; (name = cli_value_at(cli, "only", i)); i++)
		if (str_equal(name, knob->name) || str_equal(name, knob->group))
			return true;
	return !knob->only && !cli_has(cli, "only");
}

static int job_open(struct tune_job *job, struct err *err)
{
	/* Another tree of /sys and /proc, for tests. */
	const char *root = getenv("ASSAY_TUNE_ROOT"), *name;
	struct tune_options options = {.root = root ? root : ""};

	knob_book_load(&job->book);
	for (unsigned i = 0; (name = cli_value_at(job->cli, "only", i)); i++)
		if (knob_check_name(&job->book, name, err) < 0)
			return -EINVAL;
	vec_foreach (const struct knob, knob, &job->book.knobs)
		vec_push(&job->knobs, (struct tune_knob){.name = knob->name,
					      .pattern = knob->path,
					      .want = knob->want,
					      .offered = knob->offered});
	options.knobs = job->knobs.at;
	options.knob_count = job->knobs.count;
	return tune_open(&job->tune, &options, err);
}

static void job_done(struct tune_job *job)
{
	tune_close(&job->tune);
	vec_done(&job->view.rows);
	vec_done(&job->reverted.rows);
	vec_done(&job->knobs);
	knob_book_done(&job->book);
	run_close(job->run);
	arena_done(&job->arena);
}

/* The items of drive as rows.  Without --only a plan shows all, marked; others show what was asked.
 */
static void rows_take(struct tune_job *job, struct knob_view *view, bool asked_only)
{
	view->rows.count = 0;
	view->journal = job->tune.journal_path;
	view->void_changes = job->tune.void_changes;
	vec_foreach (const struct tune_item, item, &job->tune.items) {
		const struct knob *knob =
			item->knob < job->book.knobs.count ? &job->book.knobs.at[item->knob] : NULL;
		bool asked = !knob || knob_is_asked(job->cli, knob);

		if (!asked && (asked_only || cli_has(job->cli, "only")))
			continue;
		vec_push(&view->rows, (struct knob_row){
					      .knob = knob,
					      .path = item->path,
					      .now = item->now,
					      .old = item->old,
					      .want = item->want,
					      .state = tune_state_name(item->state),
					      .reason = item->reason,
					      .optional = !asked,
				      });
	}
}

static void note_states(struct tune_job *job, const struct knob_view *view)
{
	static const struct {
		const char *state, *code, *text, *hint;
	} notes[] = {
		{"failed", "tune-failed", "a setting could not be changed", "the row says why"},
		{"stuck", "tune-stuck", "a setting could not be brought back",
			"write its old value by hand, or try assay tune revert again"},
		{"left", "tune-left", "a setting was changed by someone else and left alone",
			"the row shows what it was before assay"},
	};

	for (unsigned i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		if (knob_view_count(view, notes[i].state))
			run_add_note(job->run, notes[i].code, notes[i].text, notes[i].hint);
	if (job->tune.journal.skipped)
		run_add_note(job->run, "tune-journal", "the journal has lines that are not assay's",
			job->tune.journal_path);
}

static int job_show(struct tune_job *job, struct err *err)
{
	struct cli *cli = job->cli;
	struct cli_page page = {.run = job->run, .to_stderr = cli->program != NULL};
	struct err ignored = {0};

	if (cli_has(cli, "json"))
		cli_take_fingerprint(job->run, &ignored);
	while (cli_page_next(cli, &page)) {
		if (page.json)
			tune_json(page.json, &job->view);
		else if (cli->mode == CLI_AGENT)
			tune_agent(page.paper, &job->view);
		else if (!cli->quiet)
			tune_text(page.paper, &job->view);
	}
	return cli_page_end(cli, &page, err);
}

/* The command line as a shell would read it again, with `before` it and `after` the action. */
static const char *command_again(struct tune_job *job, const char *before, const char *after)
{
	str_auto struct str text = {0};

	str_add(&text, before);
	for (char **word = job->cli->argv; *word; word++) {
		bool plain = **word && !(*word)[strspn(*word, "abcdefghijklmnopqrstuvwxyz"
							      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
							      "0123456789_./=:,@%+-")];

		str_addf(&text, "%s%s", text.len ? " " : "", plain ? "" : "'");
		for (const char *at = *word; *at; at++)
			str_add(&text, *at == '\'' ? "'\\''" : (char[]){*at, '\0'});
		str_add(&text, plain ? "" : "'");
		if (*word == job->cli->operands.at[0])
			str_add(&text, after);
	}
	return arena_format(&job->arena, "%s", str_text(&text));
}

static int need_root(struct tune_job *job, const char *path, struct err *err)
{
	err_set(err, ERR_UNAVAILABLE, EACCES, "only root may change %s", path);
	err_hint(err, "%s", command_again(job, "sudo", ""));
	return -EACCES;
}

/* Choose what was asked for and would change; how many, or that we may not. */
static int items_choose(struct tune_job *job, struct err *err)
{
	int count = 0;

	tune_look(&job->tune);
	vec_foreach (struct tune_item, item, &job->tune.items) {
		if (!knob_is_asked(job->cli, &job->book.knobs.at[item->knob]))
			continue;
		if (item->state == TUNE_DENIED && geteuid() != 0)
			return need_root(job, item->path, err);
		item->chosen = item->state == TUNE_CHANGE;
		count += item->chosen;
	}
	return count;
}

static uint32_t group_count(const struct tune_job *job, const char *group)
{
	uint32_t count = 0;

	vec_foreach (const struct tune_item, item, &job->tune.items)
		count += item->chosen && str_equal(job->book.knobs.at[item->knob].group, group);
	return count;
}

/* One question; only y or yes is a yes. */
static bool group_agreed(const char *group, uint32_t count)
{
	char answer[64] = "";
	ssize_t got;

	dprintf(STDERR_FILENO, "Change %u setting%s of the group %s? [y/N] ", count,
		count == 1 ? "" : "s", group);
	got = read(STDIN_FILENO, answer, sizeof(answer) - 1);
	if (got <= 0) {
		dprintf(STDERR_FILENO, "\n");
		return false;
	}
	return strcasecmp(str_trim(answer), "y") == 0 || strcasecmp(str_trim(answer), "yes") == 0;
}

static void plan_print(struct tune_job *job)
{
	str_auto struct str text = {0};
	struct paper paper = {.out = &text};

	rows_take(job, &job->view, true);
	tune_text(&paper, &job->view);
	(void)io_write_all(STDERR_FILENO, str_text(&text), text.len);
}

/* Ask for each group with something chosen.  Returns how many changes were agreed to. */
static int consent_ask(struct tune_job *job, struct err *err)
{
	const char *asked = NULL;
	bool agreed = false;
	int count = 0;

	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
		err_set(err, ERR_USAGE, EINVAL,
			"nothing is changed without a yes, and there is no terminal to ask at");
		err_hint(err, "look at `assay tune plan`, then agree with: %s",
			command_again(job, "", " --yes"));
		return -EINVAL;
	}
	plan_print(job);
	vec_foreach (const struct knob, knob, &job->book.knobs) {
		uint32_t changes = group_count(job, knob->group);

		if (!changes || (asked && str_equal(asked, knob->group)))
			continue;
		asked = knob->group;
		agreed = !cli_interrupted().count && group_agreed(asked, changes);
		vec_foreach (struct tune_item, item, &job->tune.items)
			if (str_equal(job->book.knobs.at[item->knob].group, asked))
				item->chosen = item->chosen && agreed;
		count += agreed ? (int)changes : 0;
	}
	return count;
}

/* How many changes were chosen and agreed to; 0: none is needed or none is wanted. */
static int items_agree(struct tune_job *job, bool *ret_declined, struct err *err)
{
	int wanted = items_choose(job, err), agreed = wanted;

	if (wanted > 0 && !cli_has(job->cli, "yes"))
		agreed = consent_ask(job, err);
	*ret_declined = wanted > 0 && agreed == 0;
	return agreed;
}

/* The command that does what the plan says. */
static const char *plan_next(struct tune_job *job)
{
	str_auto struct str text = {0};
	const char *name;

	str_addf(&text, "%sassay tune apply", geteuid() ? "sudo " : "");
	for (unsigned i = 0; (name = cli_value_at(job->cli, "only", i)); i++)
		str_addf(&text, " --only %s", name);
	return arena_format(&job->arena, "%s", text.at);
}

static int plan_run(struct tune_job *job, struct err *err)
{
	int r;

	tune_look(&job->tune);
	rows_take(job, &job->view, false);
	if (knob_view_count(&job->view, "change") + knob_view_count(&job->view, "denied"))
		job->view.next = plan_next(job);
	r = job_show(job, err);
	return r < 0 ? r : EXIT_DONE;
}

static int apply_run(struct tune_job *job, struct err *err)
{
	struct err late = {0};
	bool declined;
	int agreed = items_agree(job, &declined, err), applied = 0, r;

	if (agreed < 0)
		return agreed;
	if (agreed > 0)
		applied = tune_lock(&job->tune, err);
	if (agreed > 0 && applied >= 0)
		applied = tune_apply(&job->tune, err);
	rows_take(job, &job->view, true);
	note_states(job, &job->view);
	if (agreed > 0)
		job->view.next = "assay tune revert";
	r = job_show(job, applied < 0 ? &late : err);
	if (applied < 0 || r < 0)
		return applied < 0 ? applied : r;
	return knob_view_count(&job->view, "failed") + knob_view_count(&job->view, "denied")
		       ? EXIT_UNAVAILABLE
		       : EXIT_DONE;
}

static void run_applied(void *context)
{
	struct tune_job *job = context;

	rows_take(job, &job->view, true);
}

static int run_status(const struct tune_job *job, const struct execution *execution)
{
	const struct spawner_result *result = &execution->result;

	if (execution->stopped)
		return EXIT_INTERRUPTED;
	if (job->cli->target_status)
		return result->signal ? 128 + result->signal : result->exit_status;
	if (result->signal || result->exit_status)
		return EXIT_TARGET;
	return knob_view_count(&job->reverted, "stuck") ? EXIT_UNAVAILABLE : EXIT_DONE;
}

/* The spawner is forked before the lock is taken and the guardian's pipe made: it must have
 * neither, because it may outlive us. */
static int run_program(struct tune_job *job, struct execution *execution, struct err *err)
{
	struct execution_options options = {
		.argv = job->cli->program,
		.stdout_to_stderr = job->cli->mode == CLI_JSON,
		.interrupted = cli_interrupted,
	};
	bool declined;
	int agreed, r = binary_find(job->cli->program[0], &job->arena, &options.path, err);

	agreed = r < 0 ? r : items_agree(job, &declined, err);
	if (agreed < 0)
		return agreed;
	if (declined) {
		err_set(err, ERR_USAGE, ECANCELED, "no change was agreed to: %s was not run",
			job->cli->program[0]);
		err_hint(err, "run it without assay tune");
		return -ECANCELED;
	}
	r = execution_open(&options, execution, err);
	if (r >= 0 && agreed > 0)
		r = tune_lock(&job->tune, err);
	return r < 0 ? r : tune_run(&job->tune, execution, run_applied, job, err);
}

static int run_run(struct tune_job *job, struct err *err)
{
	struct execution execution = {.watched = -1};
	struct err late = {0};
	int r, shown = 0;

	if (!job->cli->program) {
		err_set(err, ERR_USAGE, EINVAL, "assay tune run was given no program to run");
		err_hint(err, "assay tune run -- PROGRAM ARGS...");
		return -EINVAL;
	}
	r = run_program(job, &execution, err);
	if (job->view.rows.count && job->view.journal && execution.options.path) {
		job->reverted.action = "revert";
		rows_take(job, &job->reverted, false);
		job->view.reverted = &job->reverted;
		job->view.ran = r >= 0 && execution.number;
		job->view.exit_status = execution.result.exit_status;
		job->view.signal = execution.result.signal;
		note_states(job, &job->view);
		note_states(job, &job->reverted);
		job->run->partial = execution.stopped;
		shown = job_show(job, r < 0 ? &late : err);
	}
	if (r >= 0)
		r = shown < 0 ? shown : run_status(job, &execution);
	execution_close(&execution);
	return r;
}

static int revert_run(struct tune_job *job, struct err *err)
{
	struct err late = {0};
	int reverted = tune_status(&job->tune, err), r;

	if (reverted < 0)
		return reverted;
	if (job->tune.items.count || job->tune.void_changes) {
		reverted = tune_lock(&job->tune, err);
		if (reverted == -EACCES || reverted == -EPERM)
			return need_root(job, job->tune.journal_path, err);
		if (reverted < 0)
			return reverted;
		reverted = tune_revert(&job->tune, false, err);
	}
	rows_take(job, &job->view, false);
	note_states(job, &job->view);
	r = job_show(job, reverted < 0 ? &late : err);
	if (reverted < 0 || r < 0)
		return reverted < 0 ? reverted : r;
	return knob_view_count(&job->view, "stuck") ? EXIT_UNAVAILABLE : EXIT_DONE;
}

static int status_run(struct tune_job *job, struct err *err)
{
	int r = tune_status(&job->tune, err);

	if (r < 0)
		return r;
	rows_take(job, &job->view, false);
	if (job->view.rows.count)
		job->view.next = geteuid() ? "sudo assay tune revert" : "assay tune revert";
	note_states(job, &job->view);
	r = job_show(job, err);
	return r < 0 ? r : EXIT_DONE;
}

static const struct {
	const char *name;
	int (*run)(struct tune_job *job, struct err *err);
} actions[] = {
	{"plan", plan_run},
	{"apply", apply_run},
	{"run", run_run},
	{"revert", revert_run},
	{"status", status_run},
};

static int tune_command_run(struct cli *cli, struct err *err)
{
	struct tune_job job = {
		.cli = cli,
		.run = run_open(),
		.tune = {.folder = -1, .file = -1},
		.view = {.action = cli->operands.at[0]},
	};
	int r = -EINVAL;

	err_set(err, ERR_USAGE, EINVAL, "assay tune does not know what to do with '%s'",
		cli->operands.at[0]);
	err_hint(err, "it is one of plan, apply, run, revert, status");
	for (unsigned i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (str_equal(actions[i].name, cli->operands.at[0])) {
			*err = (struct err){0};
			r = job_open(&job, err);
			if (r >= 0)
				r = actions[i].run(&job, err);
		}
	job_done(&job);
	return r;
}

static const struct option_spec options[] = {
	{"only", 0, "NAME", false, NULL,
		"only this knob or group; more than one --only adds up (default: all but smt, "
		"profiling and io)"},
	{"yes", 'y', NULL, false, NULL, "agree to what `assay tune plan` shows, without questions"},
	{"target-status", 0, NULL, false, NULL, "run: exit with the program's own status"},
	{0},
};

const struct command tune_command = {
	.name = "tune",
	.summary = "quiet the machine, with consent and a way back",
	.usage = "plan|apply|run|revert|status [--only NAME] [--yes] [-- PROGRAM ARGS...]",
	.examples = (const char *const[]){"assay tune plan",
		"what would be changed and why; changes nothing", "assay tune run --yes -- ./bench",
		"tuned while it runs, then as it was before", "assay tune apply --only frequency",
		"asks, changes, keeps the old values", "assay tune revert",
		"brings the old values back, also after a crash", NULL},
	.details =
		"The old value of each setting is on disk before it is changed, so that revert "
		"restores it even after kill -9. A setting that somebody else has changed since is "
		"left alone. run starts a guardian process that reverts when assay dies. Nothing "
		"survives a reboot. Exit status 5 when the program of run failed (see "
		"--target-status), 6 when a setting could not be changed or brought back, or only "
		"root may change it.",
	.options = options,
	.program = PROGRAM_OPTIONAL,
	.operands_min = 1,
	.operands_max = 1,
	.run = tune_command_run,
};
