/* verdict.c - a verdict for programs, the same for every engine. */
#include "render/cpu_json.h"

#include <math.h>

#include "analyze/verdict.h"

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
