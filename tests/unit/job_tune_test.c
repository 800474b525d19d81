/* job_tune_test.c - what a plan of the machine asks for, who has to say yes, and what comes of it;
 * on a machine of plain files. */
#include "job_fixture.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/str.h"
#include "job/tune.h"

#define GOVERNOR "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor"
#define TURBO "/sys/devices/system/cpu/intel_pstate/no_turbo"
#define WATCHDOG "/proc/sys/kernel/nmi_watchdog"
#define SMT "/sys/devices/system/cpu/smt/control"

static const struct {
	const char *path, *value;
} files[] = {
	{"/proc/sys/kernel/random/boot_id", "aa-01"},
	{GOVERNOR, "powersave"},
	{"/sys/devices/system/cpu/cpufreq/policy0/scaling_available_governors",
		"performance powersave"},
	{TURBO, "0"},
	{WATCHDOG, "1"},
	{SMT, "on"},
};

static void setting_put(const char *path, const char *value)
{
	char full[256], line[64];

	snprintf(full, sizeof(full), "root%s", path);
	for (char *slash = strchr(full, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
	snprintf(line, sizeof(line), "%s\n", value);
	file_put(full, line);
}

static void expect_setting(const char *path, const char *value)
{
	char full[256], text[64] = "";

	snprintf(full, sizeof(full), "root%s", path);
	assert_true(io_read_line(full, text, sizeof(text)) >= 0);
	text[strcspn(text, "\n")] = '\0';
	assert_string_equal(text, value);
}

static int enter_machine(void **state)
{
	if (enter_folder(state) < 0)
		return -1;
	for (unsigned i = 0; i < sizeof(files) / sizeof(*files); i++)
		setting_put(files[i].path, files[i].value);
	return 0;
}

static char assay_word[] = "assay", tune_word[] = "tune", action_word[8];
static char *argv[] = {assay_word, tune_word, action_word, NULL};
static const struct job_host host = {.command = "tune", .argv = argv};

struct fixture {
	struct tune_job job;
	struct err err;
};

static int act(struct fixture *f, const char *action, struct tune_job_options options)
{
	f->err = (struct err){0};
	snprintf(action_word, sizeof(action_word), "%s", action);
	options.action = action_word;
	options.root = "root";
	options.no_noise = true;
	tune_job_open(&f->job, &options, &host);
	return tune_job_act(&f->job, &f->err);
}

/* A row without a state: it is not there. */
static struct knob_row row_of(const struct knob_view *view, const char *path)
{
	vec_foreach (const struct knob_row, row, &view->rows)
		if (strcmp(row->path, path) == 0)
			return *row;
	return (struct knob_row){.state = ""};
}

static void expect_state(const struct knob_view *view, const char *path, const char *state)
{
	assert_string_equal(row_of(view, path).state, state);
}

/* ---- the plan ---- */

static void a_plan_shows_every_knob_and_marks_what_nobody_asked_for(void **state)
{
	struct fixture f;

	(void)state;
	assert_int_equal(act(&f, "plan", (struct tune_job_options){0}), TUNE_JOB_DONE);
	assert_true(f.job.has_view);
	expect_state(&f.job.view, GOVERNOR, "change");
	assert_false(row_of(&f.job.view, GOVERNOR).optional);
	expect_state(&f.job.view, SMT, "change");
	assert_true(row_of(&f.job.view, SMT).optional);
	assert_true(str_ends(f.job.view.next, "assay tune apply"));
	expect_setting(GOVERNOR, "powersave");
	tune_job_done(&f.job);
}

static void a_plan_of_names_shows_these_and_says_them_again(void **state)
{
	static const char *const only[] = {"quiet,smt", NULL};
	struct fixture f;

	(void)state;
	assert_int_equal(
		act(&f, "plan", (struct tune_job_options){.only = only, .process = {.cpus = "1"}}),
		0);
	expect_state(&f.job.view, GOVERNOR, "");
	expect_state(&f.job.view, WATCHDOG, "change");
	assert_false(row_of(&f.job.view, SMT).optional);
	assert_true(str_ends(f.job.view.next, "assay tune apply --only quiet --only smt --cpus 1"));
	tune_job_done(&f.job);
}

static void unknown_names_actions_and_lists_are_refused(void **state)
{
	static const char *const wrong[] = {"quiet,quit", NULL};
	struct fixture f;

	(void)state;
	assert_int_equal(act(&f, "plan", (struct tune_job_options){.only = wrong}), -EINVAL);
	tune_job_done(&f.job);
	assert_int_equal(
		act(&f, "plan", (struct tune_job_options){.process = {.cpus = "x"}}), -EINVAL);
	assert_string_equal(f.err.text, "'x' is not a list of CPUs");
	tune_job_done(&f.job);
	assert_int_equal(act(&f, "undo", (struct tune_job_options){0}), -EINVAL);
	assert_string_equal(f.err.text, "assay tune: unknown action 'undo'");
	assert_false(f.job.has_view);
	tune_job_done(&f.job);
}

/* ---- consent ---- */

struct person {
	char asked[128];
	const char *refuses; /* a group */
};

static bool person_asked(void *context, struct tune_job *job, const char *group, uint32_t count)
{
	struct person *person = context;
	size_t len = strlen(person->asked);

	(void)job;
	snprintf(person->asked + len, sizeof(person->asked) - len, "%s %u;", group, count);
	expect_setting(GOVERNOR, "powersave"); /* nothing was changed before the last answer */
	expect_setting(WATCHDOG, "1");
	return !person->refuses || strcmp(person->refuses, group) != 0;
}

static void without_anybody_to_ask_nothing_is_changed_and_the_way_is_told(void **state)
{
	struct fixture f;

	(void)state;
	assert_int_equal(act(&f, "apply", (struct tune_job_options){0}), -EINVAL);
	assert_non_null(strstr(f.err.hint, "agree with: assay tune apply --yes"));
	expect_setting(GOVERNOR, "powersave");
	assert_false(f.job.has_view);
	tune_job_done(&f.job);
}

static void each_group_is_asked_for_once_and_a_no_leaves_it_alone(void **state)
{
	struct person person = {.refuses = "frequency"};
	struct fixture f;

	(void)state;
	assert_int_equal(
		act(&f, "apply",
			(struct tune_job_options){.ask = person_asked, .context = &person}),
		TUNE_JOB_DONE);
	assert_string_equal(person.asked, "frequency 2;quiet 1;");
	expect_setting(GOVERNOR, "powersave");
	expect_setting(WATCHDOG, "0");
	assert_string_equal(f.job.view.next, "assay tune revert");
	tune_job_done(&f.job);
}

static void a_yes_to_groups_changes_these_only_and_asks_nobody(void **state)
{
	static const char *const yes[] = {"frequency", NULL};
	struct person person = {0};
	struct fixture f;

	(void)state;
	assert_int_equal(act(&f, "apply",
				 (struct tune_job_options){.has_yes = true,
					 .yes = yes,
					 .ask = person_asked,
					 .context = &person}),
		TUNE_JOB_DONE);
	assert_string_equal(person.asked, "");
	expect_setting(GOVERNOR, "performance");
	expect_setting(TURBO, "1");
	expect_setting(WATCHDOG, "1");
	expect_setting(SMT, "on");
	tune_job_done(&f.job);
}

static void a_machine_that_is_as_wanted_needs_no_yes(void **state)
{
	static const char *const only[] = {"nmi_watchdog", NULL};
	struct fixture f;

	(void)state;
	setting_put(WATCHDOG, "0");
	assert_int_equal(act(&f, "apply", (struct tune_job_options){.only = only}), TUNE_JOB_DONE);
	expect_state(&f.job.view, WATCHDOG, "set");
	assert_null(f.job.view.next);
	tune_job_done(&f.job);
}

/* ---- and back ---- */

static void what_was_applied_comes_back_and_status_tells_it(void **state)
{
	struct fixture f;

	(void)state;
	assert_int_equal(act(&f, "apply", (struct tune_job_options){.has_yes = true}), 0);
	tune_job_done(&f.job);
	assert_int_equal(act(&f, "status", (struct tune_job_options){0}), TUNE_JOB_DONE);
	expect_state(&f.job.view, GOVERNOR, "active");
	assert_true(str_ends(f.job.view.next, "assay tune revert"));
	assert_non_null(f.job.view.journal_id);
	tune_job_done(&f.job);
	setting_put(WATCHDOG, "5"); /* by somebody else: left alone */
	assert_int_equal(act(&f, "revert", (struct tune_job_options){0}), TUNE_JOB_DONE);
	expect_setting(GOVERNOR, "powersave");
	expect_setting(WATCHDOG, "5");
	assert_true(run_notes(f.job.run, "tune-left"));
	tune_job_done(&f.job);
}

static void single_knobs_do_not_come_back(void **state)
{
	static const char *const only[] = {"quiet", NULL};
	struct fixture f;

	(void)state;
	assert_int_equal(act(&f, "revert", (struct tune_job_options){.only = only}), -EINVAL);
	tune_job_done(&f.job);
}

/* ---- a program ---- */

static void a_program_of_its_own_processors_changes_no_setting(void **state)
{
	char name[] = "true", *program[] = {name, NULL};
	struct fixture f;

	(void)state;
	assert_int_equal(act(&f, "run",
				 (struct tune_job_options){
					 .program = program, .process = {.no_aslr = true}}),
		TUNE_JOB_DONE);
	assert_true(f.job.view.ran);
	assert_true(f.job.view.process.no_aslr);
	assert_int_equal(f.job.view.rows.count, 0);
	expect_setting(GOVERNOR, "powersave");
	tune_job_done(&f.job);
}

static void a_tuned_program_sees_the_settings_and_leaves_them_as_they_were(void **state)
{
	static const char *const only[] = {"governor", NULL};
	char name[] = "grep", word[] = "-q", pattern[] = "performance";
	char path[] = "root" GOVERNOR, *program[] = {name, word, pattern, path, NULL};
	struct tune_job_options options = {.program = program, .only = only, .has_yes = true};
	struct fixture f;

	(void)state;
	assert_int_equal(act(&f, "run", options), TUNE_JOB_DONE);
	expect_setting(GOVERNOR, "powersave");
	expect_state(&f.job.view, GOVERNOR, "applied");
	expect_state(&f.job.reverted, GOVERNOR, "reverted");
	tune_job_done(&f.job);
	snprintf(pattern, sizeof(pattern), "nothing");
	assert_int_equal(act(&f, "run", options), TUNE_JOB_PROGRAM);
	assert_int_equal(f.job.view.exit_status, 1);
	expect_setting(GOVERNOR, "powersave");
	tune_job_done(&f.job);
}

static void a_program_is_not_run_when_the_changes_are_declined(void **state)
{
	char name[] = "touch", file[] = "ran", *program[] = {name, file, NULL};
	static const char *const only[] = {"quiet", NULL};
	struct person person = {.refuses = "quiet"};
	struct fixture f;

	(void)state;
	assert_int_equal(act(&f, "run",
				 (struct tune_job_options){.program = program,
					 .only = only,
					 .ask = person_asked,
					 .context = &person}),
		-ECANCELED);
	assert_int_not_equal(access("ran", F_OK), 0);
	tune_job_done(&f.job);
	assert_int_equal(act(&f, "run", (struct tune_job_options){0}), -EINVAL);
	tune_job_done(&f.job);
}

/* ---- a snapshot ---- */

static void a_snapshot_is_every_knob_but_those_beside_processors(void **state)
{
	struct fixture f;

	(void)state;
	setting_put("/proc/irq/1/smp_affinity_list", "0-1");
	assert_int_equal(
		act(&f, "status", (struct tune_job_options){.snapshot = true}), TUNE_JOB_DONE);
	assert_true(f.job.view.snapshot);
	expect_state(&f.job.view, GOVERNOR, "change");
	expect_state(&f.job.view, SMT, "change");
	vec_foreach (const struct knob_row, row, &f.job.view.rows)
		assert_int_not_equal(*row->knob->want, '!');
	tune_job_done(&f.job);
}

#define on_machine(test) cmocka_unit_test_setup_teardown(test, enter_machine, leave_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_machine(a_plan_shows_every_knob_and_marks_what_nobody_asked_for),
		on_machine(a_plan_of_names_shows_these_and_says_them_again),
		on_machine(unknown_names_actions_and_lists_are_refused),
		on_machine(without_anybody_to_ask_nothing_is_changed_and_the_way_is_told),
		on_machine(each_group_is_asked_for_once_and_a_no_leaves_it_alone),
		on_machine(a_yes_to_groups_changes_these_only_and_asks_nobody),
		on_machine(a_machine_that_is_as_wanted_needs_no_yes),
		on_machine(what_was_applied_comes_back_and_status_tells_it),
		on_machine(single_knobs_do_not_come_back),
		on_machine(a_program_of_its_own_processors_changes_no_setting),
		on_machine(a_tuned_program_sees_the_settings_and_leaves_them_as_they_were),
		on_machine(a_program_is_not_run_when_the_changes_are_declined),
		on_machine(a_snapshot_is_every_knob_but_those_beside_processors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
