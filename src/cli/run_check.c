/* run_check.c - `assay run --check assay-out/latest`: is the evidence complete and unchanged? */
#include "model/directory.h"
#include "render/answer_json.h"
#include "render/job.h"
#include "run_job.h"

static int status_of(enum job_check_result result)
{
	return result == JOB_CHECK_CHANGED   ? EXIT_REGRESSION
	       : result == JOB_CHECK_PARTIAL ? EXIT_INCONCLUSIVE
					     : EXIT_DONE;
}

int run_check(struct cli *cli, struct err *err)
{
	arena_auto struct arena arena = {0};
	directory_check_auto struct directory_check check = {0};
	run_auto struct run *front = run_open();
	struct cli_page page = {.run = front};
	struct job_check_view view;
	const char *path;
	int r = directory_resolve(cli_value(cli, "check"), &arena, &path, err);

	if (r >= 0)
		r = directory_check(path, &check, err);
	if (r < 0)
		return r;
	job_check_view_make(&check, cli_value(cli, "check"), &arena, &view);
	front->partial = view.result == JOB_CHECK_PARTIAL;
	front->fingerprint = run_intern(front, check.manifest.fingerprint);
	while (cli_page_next(cli, &page)) {
		if (page.json)
			job_check_json(page.json, &view);
		else if (cli->mode == CLI_AGENT)
			job_check_agent(page.paper, &view);
		else
			job_check_text(page.paper, &view);
	}
	r = cli_page_end(cli, &page, err);
	return r < 0 ? r : status_of(view.result);
}
