/* profile_options.c - see profile_options.h. */
#include "profile_options.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/profile.h"
#include "base/words.h"
#include "model/run.h"

int profile_filter_take(const struct cli *cli, struct profile_filter *ret_filter, struct err *err)
{
	const char *time = cli_value(cli, "time"), *side = cli_value(cli, "only");

	*ret_filter = (struct profile_filter){
		.event = cli_value(cli, "event"),
		.thread = cli_value(cli, "thread"),
		.module = cli_value(cli, "module"),
		.function = cli_value(cli, "function"),
	};
	if (side)
		ret_filter->side = str_equal(side, "user") ? PROFILE_USER : PROFILE_KERNEL;
	return time ? profile_filter_time(ret_filter, time, err) : 0;
}

struct run *profile_front(const struct run *run, const struct profile_quality *quality)
{
	struct run *front = run_open();

	front->partial = run->partial;
	front->fingerprint = run_intern(front, run_text(run, run->fingerprint));
	vec_foreach (const struct profile_warning, warning, &quality->warnings)
		run_add_note(front, warning->code, warning->text, warning->hint);
	vec_foreach (const struct note_row, note, &run->notes)
		run_add_note(front, run_text(run, note->code), run_text(run, note->text),
			run_text(run, note->hint));
	return front;
}

int profile_min_take(const struct cli *cli, double *ret_share, struct err *err)
{
	const char *text = cli_value(cli, "min");
	char *end = NULL;
	double pct = text ? strtod(text, &end) : 0;

	if (text && (end == text || (*end && !str_equal(end, "%")) || !(pct >= 0 && pct <= 100))) {
		err_set(err, ERR_USAGE, EINVAL, "invalid --min '%.100s'", text);
		err_hint(err, "it is a percentage: --min 0.5");
		return -EINVAL;
	}
	*ret_share = pct / 100;
	return 0;
}

void profile_next(struct paper *paper, const char *path)
{
	str_auto struct str word = {0};

	word_quote(path, &word);
	paper_add(paper, "next: assay report %s --agent\n", str_text(&word));
}
