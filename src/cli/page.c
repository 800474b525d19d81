/* page.c - what a command shows: the JSON envelope, or text for people and agents.
 *
 * Everything is composed in memory and printed at the end in one piece, so an interrupted or full
 * output never holds half a document. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/io.h"
#include "base/words.h"
#include "cli.h"
#include "model/run.h"
#include "render/export.h"

/* A terminal that understands neither colours nor a line that replaces itself. */
static bool terminal_is_dumb(void)
{
	const char *term = getenv("TERM");

	return term && str_equal(term, "dumb");
}

static bool color_wanted(const struct cli *cli, int fd)
{
	const char *when = cli_value(cli, "color"), *no_color = getenv("NO_COLOR");

	if (when && !str_equal(when, "auto"))
		return str_equal(when, "always");
	if ((no_color && *no_color) || terminal_is_dumb())
		return false;
	return isatty(fd);
}

static unsigned terminal_width(int fd)
{
	struct winsize size = {0};

	if (ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col < 40)
		return 0;
	return size.ws_col;
}

enum { AGENT_NOTES = 6 };

/* host_tell() speaks to people only. */
static bool note_was_told(
	const struct cli *cli, const struct cli_page *page, const struct note_row *note)
{
	return cli->mode == CLI_TEXT && page->told &&
	       str_equal(run_text(page->run, note->code), page->told);
}

static void paper_notes(const struct cli *cli, struct cli_page *page)
{
	struct paper *paper = &page->sheet;
	uint32_t left = cli->mode == CLI_AGENT ? AGENT_NOTES : UINT32_MAX;

	if (!page->run || cli->mode == CLI_JSON || cli->quiet)
		return;
	vec_foreach (const struct note_row, note, &page->run->notes) {
		if (note_was_told(cli, page, note))
			continue;
		if (!left--) {
			paper_add(paper, "more warnings: use --json\n");
			break;
		}
		paper_ink(paper, INK_WARN, "warning: ");
		paper_add(paper, "%s", run_text(page->run, note->text));
		if (note->hint)
			paper_add(paper, " (%s)", run_text(page->run, note->hint));
		paper_add(paper, "\n");
	}
}

bool cli_page_next(const struct cli *cli, struct cli_page *page)
{
	int fd = page->to_stderr ? STDERR_FILENO : STDOUT_FILENO;

	if (page->json) {
		job_end_document(page->json);
	}
	page->json = NULL;
	page->paper = NULL;
	if (page->step == 0 && cli_has(cli, "json")) {
		page->step = 1;
		page->writer = (struct jsonw){.out = &page->json_text};
		page->json = &page->writer;
		job_begin_document(&cli->host, page->run, page->json);
		return true;
	}
	if (page->step < 2 && cli->mode != CLI_JSON) {
		page->step = 2;
		page->sheet = (struct paper){
			.out = &page->paper_text,
			.color = cli->mode != CLI_AGENT && color_wanted(cli, fd),
			.ascii = cli->mode == CLI_AGENT,
			.width = terminal_width(fd),
		};
		page->paper = &page->sheet;
		if (cli->mode == CLI_AGENT) /* first, because the last line is the next command */
			paper_notes(cli, page);
		return true;
	}
	return false;
}

int cli_output_as_json(struct cli *cli, struct err *err)
{
	const char *path = cli_value(cli, "output");

	if (path && cli_value(cli, "json")) {
		err_set(err, ERR_USAGE, EINVAL, "-o and --json=FILE both name the output file");
		return err_hint(err, "choose one");
	}
	for (const struct option_spec *spec = common_options; path && spec->name; spec++)
		if (str_equal(spec->name, "json"))
			vec_push(&cli->options, (struct cli_option){spec, path});
	return 0;
}

static int unwritten(int r, struct err *err)
{
	err_set(err, ERR_OUTPUT, -r, "cannot write to stdout: %s", err_words(-r));
	err_hint(err, "redirect it to a file: > FILE");
	return r;
}

int cli_print(const char *text, size_t len, struct err *err)
{
	int r;

	cli_stay();
	r = io_write_all(STDOUT_FILENO, text, len);

	return r < 0 ? unwritten(r, err) : r;
}

int cli_write(const struct cli *cli, const char *option, const struct str *text, struct err *err)
{
	const char *path = cli_value(cli, option);

	cli_stay();
	return path ? io_replace(path, IO_SHARED, str_text(text), text->len, err) : 0;
}

int cli_say(int fd, const struct str *text)
{
	const char *runner = getenv("GITHUB_ACTIONS");
	str_auto struct str disarmed = {0};

	if (runner && *runner) {
		github_disarm(text, &disarmed);
		text = &disarmed;
	}
	return io_write_all(fd, str_text(text), text->len);
}

static int page_print(bool to_stderr, const struct str *text, struct err *err)
{
	int r = cli_say(to_stderr ? STDERR_FILENO : STDOUT_FILENO, text);

	if (r < 0 && !to_stderr)
		return unwritten(r, err);
	if (r < 0) {
		err_set(err, ERR_OUTPUT, -r, "cannot write the result to stderr: %s",
			err_words(-r));
		err_hint(err, "write it to a file with --json=FILE");
	}
	return r;
}

int cli_page_end(const struct cli *cli, struct cli_page *page, struct err *err)
{
	const char *path = cli_value(cli, "json");
	int r = 0;

	cli_stay();
	if (page->step == 2 && cli->mode != CLI_AGENT)
		paper_notes(cli, page);
	if (page->json_text.len && path)
		r = io_replace(path, IO_SHARED, page->json_text.at, page->json_text.len, err);
	else if (page->json_text.len)
		r = cli_print(page->json_text.at, page->json_text.len, err);
	if (page->paper_text.len) {
		struct err second;
		int r2 = page_print(page->to_stderr, &page->paper_text, r < 0 ? &second : err);

		r = r < 0 ? r : r2;
	}
	str_done(&page->json_text);
	str_done(&page->paper_text);
	return r;
}

static bool progress_is_seen(const struct cli *cli)
{
	return !cli->quiet && cli->mode == CLI_TEXT && isatty(STDERR_FILENO) && !terminal_is_dumb();
}

static void host_progress(void *context, const char *text)
{
	str_auto struct str line = {0};

	(void)context;
	str_add(&line, "\r\033[K");
	if (text)
		str_add_line(&line, text, strlen(text));
	/* Progress that cannot be shown is no failure of the work. */
	(void)!write(STDERR_FILENO, line.at, line.len);
}

/* One line for people on stderr meanwhile; nothing with --quiet, --json or --agent. */
static void host_tell(void *context, const char *text)
{
	const struct cli *cli = context;
	str_auto struct str line = {0};

	if (cli->quiet || cli->mode != CLI_TEXT)
		return;
	str_add(&line, "assay: ");
	str_add_line(&line, text, strlen(text));
	str_add_char(&line, '\n');
	(void)cli_say(STDERR_FILENO, &line);
}

/* The program and its words, or "process 12", "thread 12", "the whole machine", and during what. */
static void target_words(const struct cli *cli, struct str *out)
{
	static const char *const watched[] = {"pid", "tid"};

	for (unsigned i = 0; i < 2; i++)
		if (cli_has(cli, watched[i]))
			str_addf(
				out, "%s %s", i ? "thread" : "process", cli_value(cli, watched[i]));
	if (cli_has(cli, "all-cpus"))
		str_add(out, "the whole machine");
	if (out->len && cli->program)
		str_add(out, " during ");
	if (cli->program)
		words_quote(cli->program, out); /* it is shown in commands that can be typed */
}

struct job_host cli_host(struct cli *cli)
{
	target_words(cli, &cli->target);
	return (struct job_host){
		.command = cli->command->name,
		.target = str_text(&cli->target),
		.argv = cli->argv,
		.json_on_stdout = cli->mode == CLI_JSON,
		.context = cli,
		.show_progress = progress_is_seen(cli) ? host_progress : NULL,
		.tell = host_tell,
		.interrupted = cli_interrupted,
	};
}
