/* tune.c - see tune.h.  What was asked for goes in, rows come out. */
#include "job/tune.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drive/cpu_list.h"
#include "model/run.h"
#include "tune_parts.h"

/* Only settings of the program itself were asked for. */
static bool is_private(const struct tune_job_options *asked)
{
	const struct tune_process_options *own = &asked->process;

	return !asked->only && !asked->has_yes && str_equal(asked->action, "run") &&
	       (own->cpus || own->no_aslr || own->fifo || own->awake);
}

bool tune_asks(const struct tune_job *job, const struct knob *knob)
{
	vec_foreach (const char *const, name, &job->names)
		if (str_equal(*name, knob->name) || str_equal(*name, knob->group))
			return true;
	return !knob->only && !job->names.count && !is_private(&job->options);
}

/* Each of them is a list with commas. */
static int names_take(struct tune_job *job, const char *const *lists, struct err *err)
{
	for (; lists && *lists; lists++) {
		char *rest = arena_format(&job->arena, "%s", *lists), *name;

		while ((name = strsep(&rest, ","))) {
			if (knob_check_name(&job->book, name, err) < 0)
				return -EINVAL;
			vec_push(&job->names, name);
		}
	}
	return 0;
}

/* Who says yes, for the journal. */
static const char *approver(struct tune_job *job)
{
	const char *user = getenv("SUDO_USER");
	bool plain = user && tune_text_is_plain(user, strlen(user)) && strlen(user) < 64;

	return arena_format(&job->arena, "uid %u%s%s, %s", (unsigned)getuid(),
		plain ? ", sudo by " : "", plain ? user : "",
		job->options.has_yes ? "--yes" : "asked at a terminal");
}

static int cpus_check(const char *list, struct err *err)
{
	cpu_set_t cpus;

	if (!list || cpu_list_parse(list, &cpus) >= 0)
		return 0;
	err_set(err, ERR_USAGE, EINVAL, "'%s' is not a list of CPUs", list);
	return err_hint(err, "write --cpus 2 or --cpus 0,2-3");
}

void tune_job_open(
	struct tune_job *job, const struct tune_job_options *options, const struct job_host *host)
{
	*job = (struct tune_job){.options = *options,
		.host = host,
		.run = run_open(),
		.tune = {.folder = -1, .file = -1},
		.view = {.action = options->action}};
}

int tune_prepare(struct tune_job *job, struct err *err)
{
	const struct tune_job_options *asked = &job->options;
	struct tune_options options = {.root = asked->root ? asked->root : "",
		.cpus = asked->process.cpus,
		.by = approver(job)};

	if (knob_book_load(&job->book, err) < 0 || names_take(job, asked->only, err) < 0 ||
		names_take(job, asked->yes, err) < 0 || cpus_check(options.cpus, err) < 0)
		return -EINVAL;
	vec_foreach (const struct knob, knob, &job->book.knobs)
		vec_push(&job->knobs, (struct tune_knob){.name = knob->name,
					      .pattern = knob->path,
					      .want = knob->want,
					      .offered = knob->offered,
					      .held = knob->held,
					      .unless = knob->unless,
					      .refusal = knob->refusal,
					      .absent = knob->absent});
	options.knobs = job->knobs.at;
	options.knob_count = job->knobs.count;
	return tune_open(&job->tune, &options, err);
}

void tune_job_done(struct tune_job *job)
{
	tune_close(&job->tune);
	vec_done(&job->view.rows);
	vec_done(&job->view.noise);
	vec_done(&job->view.busy);
	vec_done(&job->reverted.rows);
	vec_done(&job->names);
	tune_snapshot_done(&job->expected);
	fingerprint_view_done(&job->fingerprint);
	run_close(job->machine);
	vec_done(&job->knobs);
	knob_book_done(&job->book);
	run_close(job->run);
	arena_done(&job->arena);
}

void tune_job_take_rows(struct tune_job *job, struct knob_view *view, bool asked_only)
{
	bool is_plan = str_equal(view->action, "plan");

	view->rows.count = 0;
	view->journal = job->tune.journal_path;
	view->void_changes = job->tune.void_changes;
	vec_foreach (const struct tune_item, item, &job->tune.items) {
		const struct knob *knob =
			item->knob < job->book.knobs.count ? &job->book.knobs.at[item->knob] : NULL;
		bool asked = !knob || tune_asks(job, knob);

		if (!asked && (asked_only || job->names.count))
			continue;
		vec_push(&view->rows, (struct knob_row){
					      .knob = knob,
					      .path = item->path,
					      .now = item->now,
					      .old = item->old,
					      .want = item->want,
					      .state = tune_state_name(item->state),
					      .reason = item->reason,
					      .optional = !asked && is_plan,
					      .by = item->by,
					      .time_ns = item->time_ns,
				      });
	}
}

void tune_note_states(struct tune_job *job, const struct knob_view *view)
{
	static const struct {
		const char *state, *code, *text, *hint;
	} notes[] = {
		{"failed", "tune-failed", "a setting could not be changed",
			"see the reason in its row"},
		{"stuck", "tune-stuck", "a setting could not be restored",
			"write its old value by hand, or run assay tune revert again"},
		{"left", "tune-left", "a setting was changed by someone else and left alone",
			"its row shows the value before assay"},
		{"denied", "tune-denied", "no permission to write a setting",
			"run as root; in a container, run outside of it"},
	};

	for (unsigned i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		if (knob_view_count(view, notes[i].state))
			run_add_note(job->run, notes[i].code, notes[i].text, notes[i].hint);
	if (job->tune.journal.skipped)
		run_add_note(job->run, "tune-journal",
			"the journal has damaged or foreign lines: they are skipped, and their "
			"changes are not restored",
			arena_format(&job->arena, "see %s or %s.broken", job->tune.journal_path,
				job->tune.journal_path));
}
