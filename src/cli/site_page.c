/* site_page.c - see site_page.h. */
#include "site_page.h"

#include <errno.h>

#include "base/io.h"
#include "model/run.h"

enum { SITE_ROWS = 20, SITE_LIMIT_MOST = 10000000 };

enum job_engine cli_engine(const struct cli *cli)
{
	const char *word = cli_value(cli, "engine");

	return word && str_equal(word, "sim")	? ENGINE_SIM
	       : word && str_equal(word, "pmu") ? ENGINE_PMU
						: ENGINE_AUTO;
}

int site_options_read(const struct cli *cli, struct site_options *ret_options, struct err *err)
{
	const char *level = cli_value(cli, "level"), *command = cli->command->name;

	*ret_options = (struct site_options){
		.program = cli->program,
		.run_path = cli->operands.count ? cli->operands.at[0] : NULL,
		.engine = cli_engine(cli),
		.whole = level && str_equal(level, "1"),
		.output = cli_value(cli, "output"),
	};
	if (!cli->program && !cli->operands.count)
		err_set(err, ERR_USAGE, EINVAL, "assay %s needs a run or a program", command);
	else if (cli->program && cli->operands.count)
		err_set(err, ERR_USAGE, EINVAL, "assay %s takes a run or a program, not both",
			command);
	else
		return 0;
	err_hint(err, "assay %s RUN shows a stored run, assay %s -- PROGRAM measures one", command,
		command);
	return -EINVAL;
}

static int status_of(struct cli *cli, const struct site_job *job, struct err *err)
{
	if (job->unstored.code) {
		*err = job->unstored;
		cli_target_tell(cli, job->run);
		return -err->code;
	}
	return job->interrupted ? EXIT_INTERRUPTED
	       : cli->program	? cli_target_status(cli, job->run)
				: EXIT_DONE;
}

int site_page_show(struct cli *cli, const struct site_job *job, site_draw *draw,
	const void *context, struct err *err)
{
	struct cli_page page = {.run = job->run, .to_stderr = cli->program != NULL};
	struct site_sheet sheet = {.agent = cli->mode == CLI_AGENT};
	const char *report = cli_value(cli, "report");
	str_auto struct str text = {0};
	uint64_t limit = 0;
	int r = cli_number(cli, "limit", 0, SITE_LIMIT_MOST, 0, &limit, err);
	uint32_t rows = cli_has(cli, "limit") ? (uint32_t)limit : SITE_ROWS;

	while (r >= 0 && cli_page_next(cli, &page)) {
		sheet.json = page.json;
		sheet.paper = page.paper;
		sheet.limit = page.json ? (uint32_t)limit : rows;
		draw(context, &sheet);
	}
	if (r >= 0)
		r = cli_page_end(cli, &page, err);
	if (r >= 0 && report) {
		draw(context, &(struct site_sheet){.markdown = &text, .limit = rows});
		r = io_replace(report, IO_SHARED, str_text(&text), text.len, err);
	}
	return r < 0 ? r : status_of(cli, job, err);
}
