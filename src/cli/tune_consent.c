/* tune_consent.c - nothing is changed without a yes: one question for each group, at a terminal
 * only.
 *
 * All answers are taken before the first write, so that a no in the end finds nothing changed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "render/tune.h"
#include "tune_job.h"

int tune_job_need_root(struct tune_job *job, const char *path, struct err *err)
{
	err_set(err, ERR_UNAVAILABLE, EACCES, "only root may change %s", path);
	err_hint(err, "%s", tune_job_command(job, "sudo", ""));
	return -EACCES;
}

/* Choose what was asked for and would change; how many, or that we may not. */
static int items_choose(struct tune_job *job, struct err *err)
{
	int count = 0;

	tune_look(&job->tune);
	vec_foreach (struct tune_item, item, &job->tune.items) {
		if (!tune_job_asks(job, &job->book.knobs.at[item->knob]))
			continue;
		if (item->state == TUNE_DENIED && geteuid() != 0)
			return tune_job_need_root(job, item->path, err);
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

	tune_job_take_rows(job, &job->view, true);
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
			tune_job_command(job, "", " --yes"));
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

int tune_job_agree(struct tune_job *job, bool *ret_declined, struct err *err)
{
	int wanted = items_choose(job, err), agreed = wanted;

	if (wanted > 0 && !cli_has(job->cli, "yes"))
		agreed = consent_ask(job, err);
	*ret_declined = wanted > 0 && agreed == 0;
	return agreed;
}
