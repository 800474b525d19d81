/* harness.c - `assay harness parse_line`: a hot loop to fill in, that builds and is measured at
 * once.
 *
 * A file that is there is never touched without --force: the name is taken first, in one step, and
 * only then are the bytes put in its place. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/harness.h"
#include "base/io.h"
#include "cli.h"
#include "render/harness.h"
#include "render/machine_json.h"

static enum harness_lang lang_choose(const struct cli *cli)
{
	const char *lang = cli_value(cli, "lang"), *output = cli_value(cli, "output");

	if (lang)
		return str_equal(lang, "rust") ? HARNESS_RUST : HARNESS_C;
	return output && str_ends(output, ".rs") ? HARNESS_RUST : HARNESS_C;
}

/* Take the name for ourselves; whoever has it keeps it. */
static int name_take(const char *path, struct err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), code = errno;

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (code != EEXIST) {
		err_set(err, ERR_OUTPUT, code, "cannot write %s: %s", path, err_words(code));
		err_hint(err, "choose another file with -o FILE");
		return -code;
	}
	err_set(err, ERR_USAGE, EEXIST, "%s already exists and was not changed", path);
	err_hint(err, "choose another name, use -o FILE, or replace it with --force");
	return -EEXIST;
}

static int harness_write(const struct harness_view *view, bool force, struct err *err)
{
	size_t len = strlen(view->text);
	int r;

	r = force ? 0 : name_take(view->path, err);
	if (r < 0)
		return r;
	r = io_replace(view->path, IO_SHARED, view->text, len, err);
	if (r < 0 && !force)
		unlink(view->path);
	return r;
}

static int harness_run(struct cli *cli, struct err *err)
{
	const char *name = cli->operands.at[0], *output = cli_value(cli, "output");
	enum harness_lang lang = lang_choose(cli);
	bool to_stdout = output && str_equal(output, "-");
	struct cli_page page = {.to_stderr = to_stdout};
	arena_auto struct arena arena = {0};
	struct harness_view view;
	int r = harness_name_check(name, err);

	if (r < 0)
		return r;
	if (to_stdout && cli->mode == CLI_JSON) {
		err_set(err, ERR_USAGE, EINVAL, "--json and -o - both use stdout");
		err_hint(err, "write --json=FILE, or -o FILE");
		return -EINVAL;
	}
	/* What goes to stdout gets its usual name somewhere: the commands below speak of that. */
	harness_make(name, lang, output && !to_stdout ? output : harness_file(name, lang, &arena),
		&arena, &view);
	r = to_stdout ? cli_print(view.text, strlen(view.text), err)
		      : harness_write(&view, cli_has(cli, "force"), err);
	if (r < 0)
		return r;
	for (unsigned i = 0; i < HARNESS_STEPS; i++) /* a step that this assay cannot do */
		if (*view.steps[i].command && !command_find(view.steps[i].command))
			view.steps[i].line = NULL;
	while (cli_page_next(cli, &page)) {
		if (page.json)
			harness_json(page.json, &view);
		else
			harness_text(page.paper, &view);
	}
	r = cli_page_end(cli, &page, err);
	return r < 0 ? r : EXIT_DONE;
}

static const struct option_spec options[] = {
	{"lang", 0, "LANGUAGE", false, "c|rust", "language (default c, or by the suffix of -o)"},
	{"output", 'o', "FILE", false, NULL,
		"output file (default NAME.c or NAME.rs); - is stdout"},
	{"force", 0, NULL, false, NULL, "replace an existing file"},
	{0},
};

const struct command harness_command = {
	.name = "harness",
	.summary = "write a hot-loop harness to fill in",
	.usage = "NAME [--lang c|rust] [-o FILE]",
	.examples = (const char *const[]){"assay harness parse_line",
		"parse_line.c: a loop around your code, and how to build and measure it",
		"assay harness checksum --lang rust -o benches/checksum.rs", "the same in Rust",
		NULL},
	.details =
		"One file that builds unchanged, with a marked place for your code. The compiler "
		"cannot remove the work. It runs for a few seconds, or with -n for that many "
		"iterations, always the same work; it prints the iterations and a checksum on "
		"stdout, and the time per iteration on stderr.\nThe work is a function of its own, "
		"NAME_work, so that profiles name it. Existing files are replaced only with "
		"--force.",
	.options = options,
	.operands_min = 1,
	.operands_max = 1,
	.run = harness_run,
};
