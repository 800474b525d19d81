/* verdict.c - a verdict for programs, the same for every engine. */
#include "render/cpu_json.h"

#include "analyze/verdict.h"

void verdict_json(struct jsonw *w, const struct verdict *verdict)
{
	jsonw_open_object(w, "verdict");
	jsonw_put_text(w, "category", verdict_category_word(verdict->category));
	jsonw_put_number(w, "share", verdict->share, verdict->share_reason);
	jsonw_put_text(w, "share_of", str_or_null(verdict->share_of));
	jsonw_put_text(w, "confidence", verdict_confidence_word(verdict->confidence));
	jsonw_put_text(w, "doubt", str_or_null(verdict->doubt));
	jsonw_put_text(w, "why", verdict->why);
	jsonw_put_text(w, "meaning", verdict->meaning);
	jsonw_put_text(w, "effect", verdict->effect);
	jsonw_put_number(w, "speedup_bound", verdict->speedup_bound, "no share to bound it");
	jsonw_open_array(w, "advice");
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
	jsonw_put_texts(w, "plan", verdict->plan, verdict->plan_count);
	jsonw_end_object(w);
}
