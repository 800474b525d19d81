/* tune.c - `assay tune plan|apply|run|revert|status`: quiet the machine, with consent and a way
 * back.
 *
 *     sudo assay tune run --only frequency -- ./bench
 *     assay tune run --cpus 1 -- ./bench
 *
 * The actions; what they share is in tune_job.h.  Nothing is written before every chosen group has
 * its yes. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/io.h"
#include "code/binary.h"
#include "drive/tune_process.h"
#include "model/run.h"
#include "tune_job.h"

enum { SNAPSHOT_LARGEST = 64 << 20 };

/* The command that does what the plan says. */
static const char *plan_next(struct tune_job *job)
{
	str_auto struct str text = {0};

	str_addf(&text, "%sassay tune apply", geteuid() ? "sudo " : "");
	vec_foreach (const char *const, name, &job->names)
		str_addf(&text, " --only %s", *name);
	if (job->tune.options.cpus)
		str_addf(&text, " --cpus %s", job->tune.options.cpus);
	return arena_format(&job->arena, "%s", text.at);
}

/* The readings of the fingerprint that tell of others, and the processes that are busy.  What
 * cannot be read is not shown: a plan is about the knobs. */
static void noise_take(struct tune_job *job)
{
	struct knob_view *view = &job->view;
	struct err ignored = {0};

	job->machine = run_open();
	if (job_take_fingerprint(job->machine, &ignored) >= 0) {
		fingerprint_view_init(&job->fingerprint, job->machine);
		vec_foreach (const struct fingerprint_field, field, &job->fingerprint.fields)
			if (str_equal(field->group, "noise") && field->value)
				vec_push(
					&view->noise, (struct knob_noise){field->name, field->value,
							      field->rule->reason, field->loud});
	}
	if (tune_noise_look(job->tune.options.root, &job->noise, &ignored) < 0)
		return;
	view->busy_seconds = job->noise.seconds;
	if (job->noise.steal_share >= 0)
		vec_push(&view->noise,
			(struct knob_noise){"steal_now",
				arena_format(&job->arena, "%.0f %%", 100 * job->noise.steal_share),
				"the hypervisor takes time away now",
				job->noise.steal_share > 0.02});
	for (unsigned i = 0; i < job->noise.busy_count; i++)
		vec_push(&view->busy, (struct knob_busy){job->noise.busy[i].pid,
					      job->noise.busy[i].name, job->noise.busy[i].cpus});
	if (job->noise.irqbalance)
		run_add_note(job->run, "tune-irqbalance",
			"irqbalance runs: it moves interrupts to where it likes",
			"stop it for the measurement: `systemctl stop irqbalance`; assay does not");
}

static int plan_run(struct tune_job *job, struct err *err)
{
	int r;

	tune_look(&job->tune);
	tune_job_take_rows(job, &job->view, false);
	if (!cli_has(job->cli, "no-noise"))
		noise_take(job);
	if (knob_view_count(&job->view, "change") + knob_view_count(&job->view, "denied"))
		job->view.next = plan_next(job);
	r = tune_job_show(job, err);
	return r < 0 ? r : EXIT_DONE;
}

static int apply_run(struct tune_job *job, struct err *err)
{
	struct err late = {0};
	bool declined;
	int agreed = tune_job_agree(job, &declined, err), applied = 0, r;

	if (agreed < 0)
		return agreed;
	if (agreed > 0)
		applied = tune_lock(&job->tune, err);
	if (agreed > 0 && applied >= 0)
		applied = tune_apply(&job->tune, err);
	tune_job_take_rows(job, &job->view, true);
	tune_job_note_states(job, &job->view);
	if (agreed > 0)
		job->view.next = "assay tune revert";
	r = tune_job_show(job, applied < 0 ? &late : err);
	if (applied < 0 || r < 0)
		return applied < 0 ? applied : r;
	return knob_view_count(&job->view, "failed") + knob_view_count(&job->view, "denied")
		       ? EXIT_UNAVAILABLE
		       : EXIT_DONE;
}

static void run_applied(void *context)
{
	struct tune_job *job = context;

	tune_job_take_rows(job, &job->view, true);
}

/* What the program shall have for itself. */
static struct tune_process_options process_options(const struct tune_job *job)
{
	return (struct tune_process_options){
		.cpus = cli_value(job->cli, "cpus"),
		.no_aslr = cli_has(job->cli, "no-aslr"),
		.fifo = cli_has(job->cli, "fifo"),
		.awake = cli_has(job->cli, "awake"),
	};
}

static void process_notes(struct tune_job *job)
{
	char text[32] = "";

	if (getpriority(PRIO_PROCESS, 0) != 0 &&
		io_read_line("/proc/sys/kernel/sched_autogroup_enabled", text, sizeof(text)) > 0 &&
		str_equal(text, "1"))
		run_add_note(job->run, "tune-autogroup",
			"nice has no effect against programs of other sessions: "
			"kernel.sched_autogroup_enabled is 1",
			"write the nice value to /proc/PID/autogroup, or --only autogroup");
	if (cli_has(job->cli, "fifo") &&
		io_read_line("/proc/sys/kernel/sched_rt_runtime_us", text, sizeof(text)) > 0 &&
		!str_equal(text, "-1"))
		run_add_note(job->run, "tune-fifo",
			arena_format(&job->arena,
				"a real-time program that never sleeps is stopped after %s us of "
				"each period (kernel.sched_rt_runtime_us)",
				text),
			"that keeps the machine alive; leave it, and do not trust the slowest runs");
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

/* The spawner is forked before the lock is taken, the guardian's pipe made and the processors held
 * awake: it must have none of these, because it may outlive us. */
static int run_program(struct tune_job *job, struct execution *execution,
	struct tune_process *ret_process, struct err *err)
{
	struct execution_options options = {
		.argv = job->cli->program,
		.stdout_to_stderr = job->cli->mode == CLI_JSON,
		.interrupted = cli_interrupted,
	};
	struct tune_process_options process = process_options(job);
	bool declined;
	int agreed, r = binary_find(job->cli->program[0], &job->arena, &options.path, err);

	agreed = r < 0 ? r : tune_job_agree(job, &declined, err);
	if (agreed < 0)
		return agreed;
	if (declined) {
		err_set(err, ERR_USAGE, ECANCELED, "no change was agreed to: %s was not run",
			job->cli->program[0]);
		err_hint(err, "run it without assay tune");
		return -ECANCELED;
	}
	r = tune_process_begin(&process, ret_process, err);
	if (r < 0)
		return r;
	r = execution_open(&options, execution, err);
	tune_process_restore(ret_process);
	if (r >= 0)
		r = tune_process_hold(ret_process, err);
	if (r >= 0 && agreed > 0)
		r = tune_lock(&job->tune, err);
	return r < 0 ? r : tune_run(&job->tune, execution, run_applied, job, err);
}

static int run_run(struct tune_job *job, struct err *err)
{
	struct execution execution = {.watched = -1};
	struct tune_process process = {.latency = -1};
	struct err late = {0};
	int r, shown = 0;

	if (!job->cli->program) {
		err_set(err, ERR_USAGE, EINVAL, "assay tune run was given no program to run");
		err_hint(err, "assay tune run -- PROGRAM ARGS...");
		return -EINVAL;
	}
	process_notes(job);
	r = run_program(job, &execution, &process, err);
	tune_process_close(&process);
	if (job->view.journal && execution.options.path) {
		job->reverted.action = "revert";
		tune_job_take_rows(job, &job->reverted, false);
		job->view.reverted = &job->reverted;
		job->view.process = (struct knob_process){process.options.cpus,
			process.options.no_aslr, process.options.fifo, process.options.awake};
		job->view.ran = r >= 0 && execution.number;
		job->view.exit_status = execution.result.exit_status;
		job->view.signal = execution.result.signal;
		tune_job_note_states(job, &job->view);
		tune_job_note_states(job, &job->reverted);
		job->run->partial = execution.stopped;
		shown = tune_job_show(job, r < 0 ? &late : err);
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

	if (reverted >= 0 && job->names.count) {
		err_set(err, ERR_USAGE, EINVAL,
			"assay tune revert brings everything back, not single knobs");
		err_hint(err, "write assay tune revert, and apply again what shall stay");
		return -EINVAL;
	}
	if (reverted < 0)
		return reverted;
	if (job->tune.items.count || job->tune.void_changes) {
		reverted = tune_lock(&job->tune, err);
		if (reverted == -EACCES || reverted == -EPERM)
			return tune_job_need_root(job, job->tune.journal_path, err);
		if (reverted < 0)
			return reverted;
		reverted = tune_revert(&job->tune, false, err);
	}
	tune_job_take_rows(job, &job->view, false);
	tune_job_note_states(job, &job->view);
	r = tune_job_show(job, reverted < 0 ? &late : err);
	if (reverted < 0 || r < 0)
		return reverted < 0 ? reverted : r;
	return knob_view_count(&job->view, "stuck") ? EXIT_UNAVAILABLE : EXIT_DONE;
}

/* Every knob as it is: those that only mean something beside --cpus are no state to expect. */
static int snapshot_run(struct tune_job *job, struct err *err)
{
	uint32_t kept = 0;
	int r = cli_output_as_json(job->cli, err);

	if (r < 0)
		return r;
	tune_look(&job->tune);
	tune_job_take_rows(job, &job->view, job->names.count > 0);
	vec_foreach (const struct knob_row, row, &job->view.rows)
		if (job->names.count || *row->knob->want != '!')
			job->view.rows.at[kept++] = *row;
	job->view.rows.count = kept;
	job->view.snapshot = true;
	r = tune_job_show(job, err);
	return r < 0 ? r : EXIT_DONE;
}

static int expect_run(struct tune_job *job, const char *path, struct err *err)
{
	str_auto struct str text = {0};
	int r = io_read(path, SNAPSHOT_LARGEST, &text, err);

	if (r >= 0)
		r = tune_snapshot_read(&job->expected, str_text(&text), text.len, path, err);
	if (r < 0)
		return r;
	tune_expect(&job->tune, &job->expected);
	tune_job_take_rows(job, &job->view, job->names.count > 0);
	job->view.expected = path;
	r = tune_job_show(job, err);
	if (r < 0)
		return r;
	return knob_view_count(&job->view, "differs") ? EXIT_REGRESSION : EXIT_DONE;
}

static int status_run(struct tune_job *job, struct err *err)
{
	const char *expected = cli_value(job->cli, "expect");
	int r = tune_status(&job->tune, err);

	if (r < 0)
		return r;
	job->view.journal_id = tune_journal_id(&job->tune);
	if (cli_has(job->cli, "snapshot"))
		return snapshot_run(job, err);
	if (expected)
		return expect_run(job, expected, err);
	tune_job_take_rows(job, &job->view, false);
	if (job->view.rows.count)
		job->view.next = geteuid() ? "sudo assay tune revert" : "assay tune revert";
	tune_job_note_states(job, &job->view);
	r = tune_job_show(job, err);
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
		.private = !cli_has(cli, "only") && !cli_has(cli, "yes") &&
			   str_equal(cli->operands.at[0], "run") &&
			   (cli_has(cli, "cpus") || cli_has(cli, "no-aslr") ||
				   cli_has(cli, "fifo") || cli_has(cli, "awake")),
	};
	int r = -EINVAL;

	err_set(err, ERR_USAGE, EINVAL, "assay tune does not know what to do with '%s'",
		cli->operands.at[0]);
	err_hint(err, "it is one of plan, apply, run, revert, status");
	for (unsigned i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (str_equal(actions[i].name, cli->operands.at[0])) {
			*err = (struct err){0};
			r = tune_job_open(&job, err);
			if (r >= 0)
				r = actions[i].run(&job, err);
		}
	tune_job_done(&job);
	return r;
}

static const struct option_spec options[] = {
	{"only", 0, "NAME,...", false, NULL,
		"only these knobs or groups; more than one --only adds up (default: frequency, "
		"quiet and memory)"},
	{"yes", 'y', "GROUP,...", true, NULL,
		"agree to what `assay tune plan` shows, without questions; with groups: to these, "
		"and only these are changed"},
	{"cpus", 0, "LIST", false, NULL,
		"run: the program runs on these processors only; the group irq keeps interrupts "
		"off them"},
	{"no-aslr", 0, NULL, false, NULL, "run: the same addresses in each run of the program"},
	{"fifo", 0, NULL, false, NULL,
		"run: real-time priority for the program (SCHED_FIFO 1); root"},
	{"awake", 0, NULL, false, NULL,
		"run: no deep idle states while it runs (/dev/cpu_dma_latency); root"},
	{"no-noise", 0, NULL, false, NULL, "plan: do not look at what else is going on"},
	{"snapshot", 0, NULL, false, NULL,
		"status: what every knob says, not only what is changed"},
	{"output", 'o', "FILE", false, NULL, "status --snapshot: write the JSON document to FILE"},
	{"expect", 0, "FILE", false, NULL,
		"status: compare with a snapshot; exit status 1 when something differs"},
	{"target-status", 0, NULL, false, NULL, "run: exit with the program's own status"},
	{0},
};

const struct command tune_command = {
	.name = "tune",
	.summary = "quiet the machine, with consent and a way back",
	.usage = "plan|apply|run|revert|status [--only NAME,...] [--yes[=GROUP,...]] [-- PROGRAM "
		 "ARGS...]",
	.examples = (const char *const[]){"assay tune plan",
		"what would be changed and why; changes nothing", "assay tune run --yes -- ./bench",
		"tuned while it runs, then as it was before", "assay tune apply --only frequency",
		"asks, changes, keeps the old values", "assay tune revert",
		"brings the old values back, also after a crash",
		"assay tune run --cpus 1 -- ./bench",
		"pinned to one processor; changes nothing else",
		"assay tune status --expect tuning.json",
		"exit status 1 when the machine is not set as it was", NULL},
	.details =
		"The old value of each setting is on disk before it is changed, so that revert "
		"restores it even after kill -9. A setting that somebody else has changed since is "
		"left alone. run starts a guardian process that reverts when assay dies. Nothing "
		"survives a reboot. Exit status 5 when the program of run failed (see "
		"--target-status), 1 when --expect finds a difference, 6 when a setting could not be changed or brought back, or only "
		"root may change it.",
	.options = options,
	.program = PROGRAM_OPTIONAL,
	.operands_min = 1,
	.operands_max = 1,
	.run = tune_command_run,
};
