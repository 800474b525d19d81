/* tune_consent.c - nothing is changed without a yes: one question for each group, at a terminal
 * only.
 *
 * All answers are taken before the first write, so that a no in the end finds nothing changed. */
#include <errno.h>
#include <unistd.h>

#include "base/words.h"
#include "tune_parts.h"

/* The command line as a shell would read it again, with `before` it and `after` the action. */
static const char *command_text(struct tune_job *job, const char *before, const char *after)
{
	str_auto struct str text = {0};

	str_add(&text, before);
	for (char **word = job->host->argv; *word; word++) {
		str_add(&text, text.len ? " " : "");
		word_quote(*word, &text);
		if (*word == job->options.action)
			str_add(&text, after);
	}
	return arena_format(&job->arena, "%s", str_text(&text));
}

int tune_need_root(struct tune_job *job, const char *path, struct err *err)
{
	err_set(err, ERR_UNAVAILABLE, EACCES, "only root can change %s", path);
	return err_hint(err, "%s", command_text(job, "sudo", ""));
}

/* Choose what was asked for and would change; how many, or that we may not. */
static int items_choose(struct tune_job *job, struct err *err)
{
	int count = 0;

	tune_look(&job->tune);
	vec_foreach (struct tune_item, item, &job->tune.items) {
		if (!tune_asks(job, &job->book.knobs.at[item->knob]))
			continue;
		if (item->state == TUNE_DENIED && geteuid() != 0)
			return tune_need_root(job, item->path, err);
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

/* Ask for each group with something chosen.  Returns how many changes were agreed to. */
static int consent_ask(struct tune_job *job, struct err *err)
{
	const char *asked = NULL;
	bool agreed = false;
	int count = 0;

	if (!job->options.ask) {
		err_set(err, ERR_USAGE, EINVAL,
			"assay changes nothing without a yes, and there is no terminal to ask on");
		return err_hint(err, "see `assay tune plan`, then agree with: %s",
			command_text(job, "", " --yes"));
	}
	vec_foreach (const struct knob, knob, &job->book.knobs) {
		uint32_t changes = group_count(job, knob->group);

		if (!changes || (asked && str_equal(asked, knob->group)))
			continue;
		asked = knob->group;
		agreed = !job_interrupted(job->host).count &&
			 job->options.ask(job->options.context, job, asked, changes);
		vec_foreach (struct tune_item, item, &job->tune.items)
			if (str_equal(job->book.knobs.at[item->knob].group, asked))
				item->chosen = item->chosen && agreed;
		count += agreed ? (int)changes : 0;
	}
	return count;
}

int tune_agree(struct tune_job *job, bool *ret_declined, struct err *err)
{
	int wanted = items_choose(job, err), agreed = wanted;

	if (wanted > 0 && !job->options.has_yes)
		agreed = consent_ask(job, err);
	*ret_declined = wanted > 0 && agreed == 0;
	return agreed;
}
