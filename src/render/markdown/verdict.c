/* verdict.c - the last sections of a report: the cause, what to do, how to check. */
#include "render/markdown.h"

#include <string.h>

#include "render/verdict.h"

/* "COMMAND: what must be seen" as code and words; the words hold no colon. */
static void plan_line(struct str *out, const char *step)
{
	const char *words = NULL;
	str_auto struct str command = {0};

	for (const char *at = step; (at = strstr(at, ": ")); at++)
		words = at;
	str_add_bytes(&command, step, words ? (size_t)(words - step) : strlen(step));
	markdown_code(out, str_text(&command), false);
	markdown_add(out, "%s\n", words ? words : "");
}

void verdict_markdown(struct str *out, const struct verdict *verdict)
{
	str_auto struct str headline = {0}, effect = {0};

	verdict_headline(&headline, verdict);
	markdown_add(out, "## Root cause\n\n**%s** (confidence %s)\n\n%s.\n\n", str_text(&headline),
		verdict_confidence_word(verdict->confidence), verdict->why);
	if (*verdict->doubt)
		markdown_add(out, "Doubt: %s.\n\n", verdict->doubt);
	markdown_add(out, "%s\n\n## What to do\n\n", verdict->meaning);
	for (uint32_t i = 0; i < verdict->advice_own; i++) {
		str_auto struct str tip = {0};

		verdict_tip_line(&tip, &verdict->advice[i]);
		markdown_add(out, "- %s\n", str_text(&tip));
	}
	verdict_effect(&effect, verdict);
	markdown_add(out, "\nExpected effect: %s", str_text(&effect));
	str_add(out, "\n\n## How to check\n\n");
	for (uint32_t i = 0; i < verdict->plan_count; i++) {
		str_addf(out, "%u. ", i + 1);
		plan_line(out, verdict->plan[i]);
	}
	str_add(out, "\nNext: ");
	markdown_code(out, verdict->next, false);
	str_add(out, "\n");
}
