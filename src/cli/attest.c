/* attest.c - `assay attest .assay/before.assay --answers answers.txt -o attest.json`: fourteen
 * questions to a benchmark before its numbers are published, answered and signed off.
 *
 * `assay attest --verify attest.json` finds out whether it was changed since. */
#include "analyze/attest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "cli.h"
#include "job/attest_facts.h"
#include "job/results.h"
#include "model/run.h"
#include "render/attest.h"
#include "render/machine_json.h"
#include "source/attestation.h"

enum { DOCUMENT_LARGEST = 16 << 20, ANSWERS_LARGEST = 1 << 20, LINE_LONGEST = 2000 };

struct attest_job {
	struct cli *cli;
	struct results results;
	struct audit_book book;
	struct audit_view audit;   /* of the first file */
	struct audit_view repeats; /* of all files */
	struct attest_facts facts;
	struct attest_view view;
};

static int job_audit(struct attest_job *job, struct err *err)
{
	struct results *results = &job->results;
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < job->cli->operands.count; i++)
		r = results_add(results, job->cli->operands.at[i], err);
	if (r >= 0)
		r = audit_view_make(
			results->inputs.at, 1, &job->book, &results->arena, &job->audit, err);
	if (r >= 0)
		r = audit_view_make(results->inputs.at, results->inputs.count, &job->book,
			&results->arena, &job->repeats, err);
	return r;
}

static void job_answer(struct attest_job *job)
{
	struct arena *arena = &job->results.arena;
	const struct run *run = job->results.runs.at[0];

	job->facts = (struct attest_facts){
		.audit = &job->audit,
		.input = &job->results.inputs.at[0],
		.repeats = job->repeats.files,
		.repeat_count = job->repeats.file_count,
		.started_known = run->started_ns != 0,
	};
	job->facts.fixture_count = attest_fixtures(&job->audit, run, arena, &job->facts.fixtures);
	attest_git(&job->facts, arena);
	attest_view_make(&job->facts, arena, &job->view);
}

/* One line from the terminal, trimmed; false at its end or on Ctrl-C. */
static bool line_read(char *line, size_t capacity, char **ret_text)
{
	ssize_t got = cli_interrupted().count ? 0 : read(STDIN_FILENO, line, capacity - 1);

	if (got <= 0 || cli_interrupted().count)
		return false;
	line[got] = '\0';
	*ret_text = str_trim(line);
	return true;
}

/* Ask until the answer is one; a failure that the tool found may stay as it is. */
static int item_ask(struct attest_job *job, unsigned number, const struct attest_item *item)
{
	bool found = item->answer == ATTEST_FAIL;
	char line[LINE_LONGEST], *text;
	struct err why = {0};

	dprintf(STDERR_FILENO, "\n%u. %s\n", number, item->question);
	if (*item->evidence)
		dprintf(STDERR_FILENO, "   %s: %s\n", found ? "failed" : "found", item->evidence);
	for (;;) {
		dprintf(STDERR_FILENO, found ? "   waive:REASON, or Enter to let it fail: "
					     : "   pass, fail or waive:REASON: ");
		if (!line_read(line, sizeof(line), &text))
			return -EINTR;
		if (found && !*text)
			return 0;
		if (attest_take(&job->view, item->key, text, &job->results.arena, &why) >= 0)
			return 0;
		dprintf(STDERR_FILENO, "   %s: %s\n", why.text, why.hint);
	}
}

static int terminal_ask(struct attest_job *job, struct err *err)
{
	for (unsigned i = 0; i < ATTEST_QUESTIONS; i++) {
		const struct attest_item *item = &job->view.items[i];

		if (item->answer == ATTEST_PASS || item_ask(job, i + 1, item) >= 0)
			continue;
		dprintf(STDERR_FILENO, "\n");
		err_set(err, ERR_USAGE, EINTR, "not all questions were answered");
		return err_hint(
			err, "nothing was written; answers can also come from a file: --answers");
	}
	return 0;
}

/* The answers of a person: a file, the terminal, or a way out. */
static int answers_take(struct attest_job *job, struct err *err)
{
	const char *path = cli_value(job->cli, "answers");
	struct arena *arena = &job->results.arena;
	str_auto struct str text = {0};
	int r;

	if (path) {
		r = io_read_stream(path, ANSWERS_LARGEST, &text, err);
		return r < 0 ? r
			     : attest_take_all(
				       &job->view, str_text(&text), text.len, path, arena, err);
	}
	if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO))
		return terminal_ask(job, err);
	if (!job->view.open)
		return 0;
	err_set(err, ERR_USAGE, EINVAL, "a person must answer: %s",
		attest_open_keys(&job->view, arena));
	return err_hint(err, "fill in `assay attest --template %s` and use --answers FILE",
		job->cli->operands.at[0]);
}

static int document_digest(struct attest_document *document, struct arena *arena, struct err *err)
{
	str_auto struct str text = {0};
	struct jsonw w = {.out = &text};
	char *digest = arena_take(arena, SHA256_TEXT);
	int r;

	jsonw_begin_object(&w);
	attest_json(&w, document);
	jsonw_end_object(&w);
	r = attestation_digest(str_text(&text), text.len, digest, err);
	document->digest = digest;
	return r;
}

static int document_make(
	struct attest_job *job, struct attest_document *ret_document, struct err *err)
{
	struct arena *arena = &job->results.arena;
	uint32_t count = job->results.inputs.count;
	struct attest_file *files = arena_take(arena, count * sizeof(*files));
	char *fingerprint = arena_take(arena, SHA256_TEXT);
	const char *by = cli_value(job->cli, "by");

	for (uint32_t i = 0; i < count; i++) {
		files[i].path = job->results.inputs.at[i].name;
		files[i].sha256 = attest_file_hash(files[i].path, arena, err);
		if (!files[i].sha256)
			return -err->code;
	}
	attest_fingerprint_hash(job->results.runs.at[0], fingerprint);
	*ret_document = (struct attest_document){
		.view = &job->view,
		.audit = &job->audit,
		.attester = by && *by ? by : attest_user(arena),
		.time_utc = attest_time(arena),
		.files = files,
		.file_count = count,
		.fingerprint_key = job->audit.files[0].key,
		.fingerprint_sha256 = fingerprint,
		.git_commit = job->facts.git_commit,
		.git_known = job->facts.git_known,
		.git_dirty = job->facts.git_dirty,
	};
	return document_digest(ret_document, arena, err);
}

static int job_show(struct attest_job *job, struct err *err)
{
	struct cli_page page = {.run = job->results.notes};
	struct attest_document document;
	int r = document_make(job, &document, err);

	if (r < 0)
		return r;
	while (cli_page_next(job->cli, &page)) {
		if (page.json)
			attest_json(page.json, &document);
		else if (job->cli->mode == CLI_AGENT)
			attest_agent(page.paper, &document);
		else if (!job->cli->quiet)
			attest_text(page.paper, &document);
	}
	r = cli_page_end(job->cli, &page, err);
	return r < 0 ? r : job->view.fails ? EXIT_REGRESSION : EXIT_DONE;
}

/* The product of --template is text on stdout. */
static int template_show(struct attest_job *job, struct err *err)
{
	str_auto struct str text = {0};
	struct cli_page page = {.run = job->results.notes};

	if (!job->cli->operands.count)
		attest_view_make(NULL, &job->results.arena, &job->view);
	attest_template(&text, &job->view);
	while (cli_page_next(job->cli, &page)) {
		if (page.json)
			jsonw_put_text(page.json, "template", text.at);
		else if (job->cli->mode == CLI_AGENT)
			paper_add(page.paper,
				"a file of answers to fill in, %zu bytes\n"
				"next: assay attest --template > answers.txt\n",
				text.len);
		else
			str_add_bytes(page.paper->out, text.at, text.len);
	}
	return cli_page_end(job->cli, &page, err);
}

static int job_run(struct attest_job *job, struct err *err)
{
	bool template = cli_has(job->cli, "template");
	int r = 0;

	if (job->cli->operands.count || !template)
		r = job_audit(job, err);
	if (r >= 0 && job->results.inputs.count)
		job_answer(job);
	if (r >= 0 && template)
		return template_show(job, err);
	if (r >= 0)
		r = answers_take(job, err);
	if (r == -EINTR && cli_interrupted().count)
		return EXIT_INTERRUPTED;
	return r < 0 ? r : job_show(job, err);
}

static int verify(struct cli *cli, const char *path, struct err *err)
{
	arena_auto struct arena arena = {0};
	run_auto struct run *run = run_open();
	str_auto struct str text = {0};
	struct cli_page page = {.run = run};
	struct attestation found;
	struct attest_check check;
	struct err missing = {0};
	const char *hash;
	int r = io_read_stream(path, DOCUMENT_LARGEST, &text, err);

	if (r >= 0)
		r = attestation_read(str_text(&text), text.len, path, &arena, &found, err);
	if (r < 0)
		return r;
	hash = *found.run_path ? attest_file_hash(found.run_path, &arena, &missing) : NULL;
	check = (struct attest_check){
		.path = path,
		.attester = found.attester,
		.time_utc = found.time_utc,
		.run_path = found.run_path,
		.fails = found.fails > 0 ? (uint64_t)found.fails : 0,
		.document_intact = str_equal(found.recorded, found.computed),
		.run_found = hash,
		.run_intact = hash && str_equal(hash, found.run_sha256),
		.recorded = found.recorded,
		.computed = found.computed,
	};
	while (cli_page_next(cli, &page)) {
		if (page.json)
			attest_check_json(page.json, &check);
		else if (!cli->quiet)
			attest_check_text(page.paper, &check);
	}
	r = cli_page_end(cli, &page, err);
	if (r < 0)
		return r;
	return check.document_intact && (!check.run_found || check.run_intact) ? EXIT_DONE
									       : EXIT_REGRESSION;
}

static int words_check(struct cli *cli, struct err *err)
{
	bool template = cli_has(cli, "template"), verifies = cli_has(cli, "verify");

	if (template && verifies)
		return err_refuse(
			err, "--template and --verify exclude each other", "use one of them");
	if (verifies && cli->operands.count)
		return err_refuse(err, "--verify needs exactly one document",
			"usage: assay attest --verify DOC");
	if (!template && !verifies && !cli->operands.count) {
		err_set(err, ERR_USAGE, EINVAL, "assay attest needs a file");
		return err_hint(err, "usage: assay attest %s", cli->command->usage);
	}
	return cli_output_as_json(cli, err);
}

static int attest_run(struct cli *cli, struct err *err)
{
	struct attest_job job = {.cli = cli};
	int r = words_check(cli, err);

	if (r < 0)
		return r;
	if (cli_has(cli, "verify"))
		return verify(cli, cli_value(cli, "verify"), err);
	results_open(&job.results, &cli->host);
	r = audit_book_load(&job.book, err);
	if (r >= 0)
		r = job_run(&job, err);
	audit_view_done(&job.audit);
	audit_view_done(&job.repeats);
	audit_book_done(&job.book);
	results_done(&job.results);
	return r;
}

static const struct option_spec options[] = {
	{"answers", 0, "FILE", false, NULL,
		"a person's answers: lines of KEY=pass|fail|waive:REASON"},
	{"template", 0, NULL, false, NULL, "print an answer file to fill in"},
	{"by", 0, "NAME", false, NULL, "who signs (default: git's user.name, or the user)"},
	{"output", 'o', "DOC", false, NULL, "write the attestation (JSON) to this file"},
	{"verify", 0, "DOC", false, NULL, "check whether this attestation or its run changed"},
	{0},
};

const struct command attest_command = {
	.name = "attest",
	.summary = "answer fourteen questions before publishing a number, and sign",
	.usage = "RUN [REPEAT...] [--answers FILE] [-o DOC] | --template [RUN] | --verify DOC",
	.examples = (const char *const[]){"assay attest --template run.assay > answers.txt",
		"what a person still has to answer",
		"assay attest a.assay b.assay c.assay --answers answers.txt -o attest.json",
		"a run and two repeats, signed", "assay attest --verify attest.json",
		"has it changed since?", NULL},
	.details =
		"assay answers what it can from the run and the machine, each with evidence: "
		"same-build, same-knobs, same-fixture, symmetric-warmup, enough-runs, quiet-host, "
		"stable-envelope (needs three files), tiers and reproducible. A person answers the "
		"rest, on a terminal or with --answers. A question that assay failed can be waived "
		"with a reason, but not passed. Exit status 1 when a question failed, or when "
		"--verify finds a change; `fails` in the document is the number of failures. The "
		"digest detects edits; it is not a signature.",
	.options = options,
	.operands_max = 16,
	.run = attest_run,
};
