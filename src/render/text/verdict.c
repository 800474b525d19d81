/* verdict.c - see verdict.h. */
#include "render/verdict.h"

#include <math.h>

static enum ink category_ink(enum verdict_category category)
{
	return category == VERDICT_RETIRING  ? INK_GOOD
	       : category == VERDICT_UNCLEAR ? INK_WARN
					     : INK_BAD;
}

/* "memory latency, 48.9 % of the issue slots" */
void verdict_headline(struct str *out, const struct verdict *verdict)
{
	str_add(out, verdict_category_title(verdict->category));
	if (!isnan(verdict->share))
		str_addf(out, ", %.1f %% of %s", verdict->share * 100, verdict->share_of);
}

/* The bound and what is known about the category. */
void verdict_effect(struct str *out, const struct verdict *verdict)
{
	if (verdict->speedup_bound >= 10)
		str_add(out, "It is almost all of the time. ");
	else if (!isnan(verdict->speedup_bound))
		str_addf(out, "At most %.2f times faster if all of it went away. ",
			verdict->speedup_bound);
	str_add(out, verdict->effect);
}

void verdict_tip_line(struct str *out, const struct verdict_tip *tip)
{
	if (*tip->language)
		str_addf(out, "%s: ", tip->language);
	str_add(out, tip->text);
}

void verdict_text(struct paper *paper, const struct verdict *verdict)
{
	str_auto struct str line = {0};

	verdict_headline(&line, verdict);
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
		verdict_tip_line(&line, &verdict->advice[i]);
		paper_wrap(paper, 4, INK_PLAIN, str_text(&line));
	}
	str_clear(&line);
	verdict_effect(&line, verdict);
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
	verdict_effect(&effect, verdict);
	paper_add(paper, "effect: %s\n", str_text(&effect));
	for (uint32_t i = 0; i < verdict->plan_count && i < 2; i++)
		paper_add(paper, "check: %s\n", verdict->plan[i]);
	paper_add(paper, "next: %s\n", verdict->next);
}
