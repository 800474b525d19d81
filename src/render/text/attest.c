/* attest.c - see attest.h. */
#include "render/attest.h"

static enum ink answer_ink(enum attest_answer answer)
{
	return answer == ATTEST_PASS ? INK_GOOD : answer == ATTEST_FAIL ? INK_BAD : INK_WARN;
}

static void item_text(struct paper *paper, unsigned number, const struct attest_item *item)
{
	str_auto struct str line = {0};

	paper_add(paper, "%2u  ", number);
	paper_ink(paper, answer_ink(item->answer), "%-5s", attest_answer_name(item->answer));
	paper_ink(paper, INK_BOLD, "  %s", item->key);
	paper_ink(paper, INK_DIM, "  %s\n", item->by_tool ? "(found)" : "(attester)");
	if (item->reason) {
		str_addf(&line, "waived: %s", item->reason);
		paper_wrap(paper, 11, INK_WARN, str_text(&line));
	}
	if (*item->evidence)
		paper_wrap(paper, 11, INK_DIM, item->evidence);
}

static void counts_line(struct paper *paper, const struct attest_view *view)
{
	paper_add(paper, "%u passed, %u failed, %u waived of %d", view->passes, view->fails,
		view->waived, ATTEST_QUESTIONS);
	if (view->open)
		paper_add(paper, ", %u open", view->open);
	paper_add(paper, "\n");
}

void attest_text(struct paper *paper, const struct attest_document *document)
{
	for (unsigned i = 0; i < ATTEST_QUESTIONS; i++)
		item_text(paper, i + 1, &document->view->items[i]);
	paper_add(paper, "\n");
	counts_line(paper, document->view);
	paper_add(paper, "attested by %s, %s\n", document->attester, document->time_utc);
}

void attest_agent(struct paper *paper, const struct attest_document *document)
{
	const struct attest_view *view = document->view;

	for (unsigned i = 0; i < ATTEST_QUESTIONS; i++) {
		const struct attest_item *item = &view->items[i];

		paper_add(paper, "%s %s by=%s %.200s\n", attest_answer_name(item->answer),
			item->key, item->by_tool ? "tool" : "attester",
			item->reason ? item->reason : item->evidence);
	}
	counts_line(paper, view);
	paper_add(paper, "next: %s %s\n", view->fails ? "assay audit" : "assay attest --verify",
		view->fails ? document->files[0].path : "DOCUMENT");
}

void attest_template(struct str *out, const struct attest_view *view)
{
	str_add(out, "# Answers for `assay attest RUN --answers FILE`: KEY=pass, KEY=fail or "
		     "KEY=waive:REASON\n");
	for (unsigned i = 0; i < ATTEST_QUESTIONS; i++) {
		const struct attest_item *item = &view->items[i];

		str_addf(out, "\n# %u. %s\n", i + 1, item->question);
		if (*item->evidence)
			str_addf(out, "# found: %s\n", item->evidence);
		if (item->answer == ATTEST_OPEN)
			str_addf(out, "%s=\n", item->key);
		else
			str_addf(out, "# %s=%s%s\n", item->key, attest_answer_name(item->answer),
				item->answer == ATTEST_FAIL ? "   (can be waived)" : "");
	}
}

void attest_check_text(struct paper *paper, const struct attest_check *check)
{
	if (check->document_intact)
		paper_ink(
			paper, INK_GOOD, "%s is unchanged since it was signed off\n", check->path);
	else
		paper_ink(paper, INK_BAD, "%s was changed after it was signed off\n", check->path);
	paper_add(paper, "attested by %s, %s; %llu of %d questions failed\n", check->attester,
		check->time_utc, (unsigned long long)check->fails, ATTEST_QUESTIONS);
	if (!check->run_found)
		paper_ink(paper, INK_WARN, "the run file %s is not here and was not checked\n",
			check->run_path);
	else if (check->run_intact)
		paper_ink(
			paper, INK_GOOD, "the run file %s is the attested one\n", check->run_path);
	else
		paper_ink(paper, INK_BAD, "the run file %s has changed since\n", check->run_path);
}
