/* tune_actions.c - see tune.h: plan, apply, run, revert, status. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/io.h"
#include "code/binary.h"
#include "model/run.h"
#include "tune_parts.h"

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
				"the hypervisor is taking CPU time now",
				job->noise.steal_share > 0.02});
	for (unsigned i = 0; i < job->noise.busy_count; i++)
		vec_push(&view->busy, (struct knob_busy){job->noise.busy[i].pid,
					      job->noise.busy[i].name, job->noise.busy[i].cpus});
	if (job->noise.irqbalance)
		run_add_note(job->run, "tune-irqbalance",
			"irqbalance is running and moves interrupts around",
			"stop it for the measurement: `systemctl stop irqbalance`; assay does not");
}

static int plan_act(struct tune_job *job, struct err *err)
{
	(void)err;
	tune_look(&job->tune);
	tune_job_take_rows(job, &job->view, false);
	if (!job->options.no_noise)
		noise_take(job);
	if (knob_view_count(&job->view, "change") + knob_view_count(&job->view, "denied"))
		job->view.next = plan_next(job);
	return TUNE_JOB_DONE;
}

static int apply_act(struct tune_job *job, struct err *err)
{
	bool declined;
	int agreed = tune_agree(job, &declined, err), applied = 0;

	if (agreed < 0)
		return agreed;
	if (agreed > 0)
		applied = tune_lock(&job->tune, err);
	if (agreed > 0 && applied >= 0)
		applied = tune_apply(&job->tune, err);
	tune_job_take_rows(job, &job->view, true);
	tune_note_states(job, &job->view);
	job->has_view = true;
	if (agreed > 0)
		job->view.next = "assay tune revert";
	if (applied < 0)
		return applied;
	return knob_view_count(&job->view, "failed") + knob_view_count(&job->view, "denied")
		       ? TUNE_JOB_PARTLY
		       : TUNE_JOB_DONE;
}

static void run_applied(void *context)
{
	struct tune_job *job = context;

	tune_job_take_rows(job, &job->view, true);
}

static void process_notes(struct tune_job *job)
{
	char text[32] = "";

	if (getpriority(PRIO_PROCESS, 0) != 0 &&
		io_read_line("/proc/sys/kernel/sched_autogroup_enabled", text, sizeof(text)) > 0 &&
		str_equal(text, "1"))
		run_add_note(job->run, "tune-autogroup",
			"nice has no effect on programs of other sessions: "
			"kernel.sched_autogroup_enabled is 1",
			"write the nice value to /proc/PID/autogroup, or use --only autogroup");
	if (job->options.process.fifo &&
		io_read_line("/proc/sys/kernel/sched_rt_runtime_us", text, sizeof(text)) > 0 &&
		!str_equal(text, "-1"))
		run_add_note(job->run, "tune-fifo",
			arena_format(&job->arena,
				"a real-time program that never sleeps is stopped after %s us of "
				"each period (kernel.sched_rt_runtime_us)",
				text),
			"this keeps the machine responsive; leave it, and do not trust the slowest "
			"runs");
}

/* The spawner is forked before the lock is taken, the guardian's pipe made and the processors held
 * awake: it must have none of these, because it may outlive us. */
static int run_program(struct tune_job *job, struct execution *execution,
	struct tune_process *ret_process, struct err *err)
{
	struct execution_options options = {
		.argv = job->options.program,
		.stdout_to_stderr = job->host->json_on_stdout,
		.interrupted = job->host->interrupted,
	};
	bool declined;
	int agreed, r = binary_find(job->options.program[0], &job->arena, &options.path, err);

	agreed = r < 0 ? r : tune_agree(job, &declined, err);
	if (agreed < 0)
		return agreed;
	if (declined) {
		err_set(err, ERR_USAGE, ECANCELED, "no change was agreed to, so %s did not run",
			job->options.program[0]);
		return err_hint(err, "run it without assay tune");
	}
	r = tune_process_begin(&job->options.process, ret_process, err);
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

static int run_act(struct tune_job *job, struct err *err)
{
	struct execution execution = {.watched = -1};
	struct tune_process process = {.latency = -1};
	struct knob_view *view = &job->view;
	int r;

	if (!job->options.program)
		return err_refuse(
			err, "assay tune run needs a program", "assay tune run -- PROGRAM ARGS...");
	process_notes(job);
	r = run_program(job, &execution, &process, err);
	tune_process_close(&process);
	job->has_view = view->journal && execution.options.path;
	if (job->has_view) {
		job->reverted.action = "revert";
		tune_job_take_rows(job, &job->reverted, false);
		view->reverted = &job->reverted;
		view->process = (struct knob_process){process.options.cpus, process.options.no_aslr,
			process.options.fifo, process.options.awake};
		view->ran = r >= 0 && execution.number;
		view->exit_status = execution.result.exit_status;
		view->signal = execution.result.signal;
		tune_note_states(job, view);
		tune_note_states(job, &job->reverted);
		job->run->partial = execution.stopped;
	}
	if (r >= 0)
		r = execution.stopped			       ? TUNE_JOB_STOPPED
		    : view->signal || view->exit_status	       ? TUNE_JOB_PROGRAM
		    : knob_view_count(&job->reverted, "stuck") ? TUNE_JOB_PARTLY
							       : TUNE_JOB_DONE;
	execution_close(&execution);
	return r;
}

static int revert_act(struct tune_job *job, struct err *err)
{
	int reverted = tune_status(&job->tune, err);

	if (reverted >= 0 && job->names.count)
		return err_refuse(err, "assay tune revert restores everything, not single settings",
			"run assay tune revert, then apply again what should stay");
	if (reverted < 0)
		return reverted;
	if (job->tune.items.count || job->tune.void_changes) {
		reverted = tune_lock(&job->tune, err);
		if (reverted == -EACCES || reverted == -EPERM)
			return tune_need_root(job, job->tune.journal_path, err);
		if (reverted < 0)
			return reverted;
		reverted = tune_revert(&job->tune, false, err);
	}
	tune_job_take_rows(job, &job->view, false);
	tune_note_states(job, &job->view);
	job->has_view = true;
	if (reverted < 0)
		return reverted;
	return knob_view_count(&job->view, "stuck") ? TUNE_JOB_PARTLY : TUNE_JOB_DONE;
}

/* Every knob as it is: those that only mean something beside --cpus are no state to expect. */
static int snapshot_take(struct tune_job *job)
{
	uint32_t kept = 0;

	tune_look(&job->tune);
	tune_job_take_rows(job, &job->view, job->names.count > 0);
	vec_foreach (const struct knob_row, row, &job->view.rows)
		if (job->names.count || *row->knob->want != '!')
			job->view.rows.at[kept++] = *row;
	job->view.rows.count = kept;
	job->view.snapshot = true;
	return TUNE_JOB_DONE;
}

static int snapshot_compare(struct tune_job *job, const char *path, struct err *err)
{
	str_auto struct str text = {0};
	int r = io_read_stream(path, SNAPSHOT_LARGEST, &text, err);

	if (r >= 0)
		r = tune_snapshot_read(&job->expected, str_text(&text), text.len, path, err);
	if (r < 0)
		return r;
	tune_expect(&job->tune, &job->expected);
	tune_job_take_rows(job, &job->view, job->names.count > 0);
	job->view.expected = path;
	return knob_view_count(&job->view, "differs") ? TUNE_JOB_DIFFERS : TUNE_JOB_DONE;
}

static int status_act(struct tune_job *job, struct err *err)
{
	int r = tune_status(&job->tune, err);

	if (r < 0)
		return r;
	job->view.journal_id = tune_journal_id(&job->tune);
	if (job->options.snapshot)
		return snapshot_take(job);
	if (job->options.expect)
		return snapshot_compare(job, job->options.expect, err);
	tune_job_take_rows(job, &job->view, false);
	if (job->view.rows.count)
		job->view.next = geteuid() ? "sudo assay tune revert" : "assay tune revert";
	tune_note_states(job, &job->view);
	return TUNE_JOB_DONE;
}

int tune_job_act(struct tune_job *job, struct err *err)
{
	static const struct {
		const char *name;
		int (*act)(struct tune_job *job, struct err *err);
	} actions[] = {
		{"plan", plan_act},
		{"apply", apply_act},
		{"run", run_act},
		{"revert", revert_act},
		{"status", status_act},
	};

	for (unsigned i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		int r;

		if (!str_equal(actions[i].name, job->options.action))
			continue;
		r = tune_prepare(job, err);
		if (r >= 0)
			r = actions[i].act(job, err);
		job->has_view |= r >= 0;
		return r;
	}
	err_set(err, ERR_USAGE, EINVAL, "assay tune: unknown action '%s'", job->options.action);
	return err_hint(err, "actions: plan, apply, run, revert, status");
}
