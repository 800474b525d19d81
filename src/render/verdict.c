/* verdict.c - see verdict.h. */
#include "render/verdict.h"

#include <math.h>
#include <string.h>

#include "render/markdown.h"

static enum ink category_ink(enum verdict_category category)
{
	return category == VERDICT_RETIRING  ? INK_GOOD
	       : category == VERDICT_UNCLEAR ? INK_WARN
					     : INK_BAD;
}

/* "memory latency, 48.9 % of the issue slots" */
static void headline(struct str *out, const struct verdict *verdict)
{
	str_add(out, verdict_category_title(verdict->category));
	if (!isnan(verdict->share))
		str_addf(out, ", %.1f %% of %s", verdict->share * 100, verdict->share_of);
}

/* The bound and what is known about the category. */
static void effect_line(struct str *out, const struct verdict *verdict)
{
	if (!isnan(verdict->speedup_bound))
		str_addf(out, "At most %.2f times faster, if all of it went away. ",
			verdict->speedup_bound);
	str_add(out, verdict->effect);
}

/* "COMMAND: what must be seen" as code and words; the words hold no colon. */
static void plan_line(struct str *out, const char *step)
{
	const char *words = NULL;
	str_auto struct str command = {0};

	for (const char *at = step; (at = strstr(at, ": ")); at++)
		words = at;
	str_add_bytes(&command, step, words ? (size_t)(words - step) : strlen(step));
	markdown_code(out, str_text(&command), false);
	str_addf(out, "%s\n", words ? words : "");
}

static void tip_line(struct str *out, const struct verdict_tip *tip)
{
	if (*tip->language)
		str_addf(out, "%s: ", tip->language);
	str_add(out, tip->text);
}

void verdict_text(struct paper *paper, const struct verdict *verdict)
{
	str_auto struct str line = {0};

	headline(&line, verdict);
	paper_add(paper, "  cause: ");
	paper_ink(paper, category_ink(verdict->category), "%s", str_text(&line));
	paper_ink(
		paper, INK_DIM, "   confidence %s\n", verdict_confidence_word(verdict->confidence));
	paper_wrap(paper, 4, INK_PLAIN, verdict->why);
	if (*verdict->doubt)
		paper_wrap(paper, 4, INK_WARN, verdict->doubt);
	paper_wrap(paper, 4, INK_DIM, verdict->meaning);
	paper_add(paper, "\n  what to do\n");
	for (uint32_t i = 0; i < verdict->advice_own; i++) {
		str_clear(&line);
		str_add(&line, "- ");
		tip_line(&line, &verdict->advice[i]);
		paper_wrap(paper, 4, INK_PLAIN, str_text(&line));
	}
	str_clear(&line);
	effect_line(&line, verdict);
	paper_wrap(paper, 4, INK_DIM, str_text(&line));
	paper_add(paper, "\n  how to check\n");
	for (uint32_t i = 0; i < verdict->plan_count; i++)
		paper_wrap(paper, 4, INK_PLAIN, verdict->plan[i]);
	paper_add(paper, "\n  next: ");
	paper_ink(paper, INK_BOLD, "%s\n", verdict->next);
}

enum { AGENT_TIPS = 3 };

void verdict_agent(struct paper *paper, const struct verdict *verdict)
{
	str_auto struct str effect = {0};

	paper_add(paper, "category: %s\n", verdict_category_word(verdict->category));
	if (isnan(verdict->share))
		paper_add(paper, "share: none (%s)\n", verdict->share_reason);
	else
		paper_add(paper, "share: %.3f of %s\n", verdict->share, verdict->share_of);
	paper_add(paper, "confidence: %s%s%s\n", verdict_confidence_word(verdict->confidence),
		*verdict->doubt ? ", " : "", verdict->doubt);
	paper_add(paper, "why: %s\n", verdict->why);
	for (uint32_t i = 0; i < verdict->advice_own && i < AGENT_TIPS; i++)
		paper_add(paper, "do: %s%s%s\n", verdict->advice[i].language,
			*verdict->advice[i].language ? ": " : "", verdict->advice[i].text);
	effect_line(&effect, verdict);
	paper_add(paper, "effect: %s\n", str_text(&effect));
	for (uint32_t i = 0; i < verdict->plan_count && i < 2; i++)
		paper_add(paper, "check: %s\n", verdict->plan[i]);
	paper_add(paper, "next: %s\n", verdict->next);
}

void verdict_json(struct jsonw *w, const struct verdict *verdict)
{
	jsonw_key(w, "verdict");
	jsonw_begin_object(w);
	jsonw_put_text(w, "category", verdict_category_word(verdict->category));
	if (isnan(verdict->share))
		jsonw_put_missing(w, "share", verdict->share_reason);
	else
		jsonw_put_double(w, "share", verdict->share);
	jsonw_put_text(w, "share_of", *verdict->share_of ? verdict->share_of : NULL);
	jsonw_put_text(w, "confidence", verdict_confidence_word(verdict->confidence));
	jsonw_put_text(w, "doubt", *verdict->doubt ? verdict->doubt : NULL);
	jsonw_put_text(w, "why", verdict->why);
	jsonw_put_text(w, "meaning", verdict->meaning);
	jsonw_put_text(w, "effect", verdict->effect);
	if (isnan(verdict->speedup_bound))
		jsonw_put_missing(w, "speedup_bound", "there is no share to bound it");
	else
		jsonw_put_double(w, "speedup_bound", verdict->speedup_bound);
	jsonw_key(w, "advice");
	jsonw_begin_array(w);
	for (uint32_t i = 0; i < verdict->advice_count; i++) {
		const struct verdict_tip *tip = &verdict->advice[i];

		jsonw_begin_object(w);
		jsonw_put_text(w, "language", *tip->language ? tip->language : "any");
		jsonw_put_text(w, "text", tip->text);
		jsonw_put_bool(w, "applies", i < verdict->advice_own);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
	jsonw_put_text(w, "next", verdict->next);
	jsonw_key(w, "plan");
	jsonw_begin_array(w);
	for (uint32_t i = 0; i < verdict->plan_count; i++)
		jsonw_text(w, verdict->plan[i]);
	jsonw_end_array(w);
	jsonw_end_object(w);
}

void verdict_markdown(struct str *out, const struct verdict *verdict)
{
	str_add(out, "## Root cause\n\n**");
	headline(out, verdict);
	str_addf(out, "** (confidence %s)\n\n%s.\n\n", verdict_confidence_word(verdict->confidence),
		verdict->why);
	if (*verdict->doubt)
		str_addf(out, "Doubt: %s.\n\n", verdict->doubt);
	str_addf(out, "%s\n\n## What to do\n\n", verdict->meaning);
	for (uint32_t i = 0; i < verdict->advice_own; i++) {
		str_add(out, "- ");
		tip_line(out, &verdict->advice[i]);
		str_add(out, "\n");
	}
	str_add(out, "\nExpected effect: ");
	effect_line(out, verdict);
	str_add(out, "\n\n## How to check\n\n");
	for (uint32_t i = 0; i < verdict->plan_count; i++) {
		str_addf(out, "%u. ", i + 1);
		plan_line(out, verdict->plan[i]);
	}
	str_add(out, "\nNext: ");
	markdown_code(out, verdict->next, false);
	str_add(out, "\n");
}
