/* round.c - what moved since the run before, for programs. */
#include "render/answer_json.h"

#include <math.h>

#include "analyze/round.h"
#include "render/round.h"

static void promise_json(struct jsonw *w, const struct round_view *view)
{
	const char *none = round_no_promise(view);

	jsonw_open_object(w, "promise");
	jsonw_put_text(w, "result", round_promise_word(view->promise));
	jsonw_put_text(w, "location", view->promised_location);
	jsonw_put_number(w, "gain", view->promised, none);
	jsonw_put_number(w, "gain_lo", view->promised_lo, none);
	jsonw_put_number(w, "gain_hi", view->promised_hi, none);
	jsonw_put_number(w, "gain_at", view->promised_at, none);
	jsonw_end_object(w);
}

void round_json(struct jsonw *w, const struct round_view *view)
{
	static const char few[] = "too few runs for an interval";
	static const char none[] = "one of the two runs has no baseline";

	jsonw_put_u64(w, "round", view->round);
	jsonw_put_text(w, "before", view->before_id);
	jsonw_put_text(w, "after", view->after_id);
	jsonw_put_text(w, "outcome",
		view->has_baselines ? compare_outcome_name(view->verdict.outcome) : "inconclusive");
	jsonw_put_text_or(w, "metric", view->has_baselines ? view->verdict.by->name : NULL, none);
	jsonw_put_bool(w, "corrected", view->corrected);
	jsonw_put_bool(w, "advisory", true);
	jsonw_put_text_or(
		w, "class", view->has_baselines ? fingerprint_class_name(view->class) : NULL, none);
	jsonw_put_bool(w, "output_changed", view->output_changed);
	jsonw_put_number(w, "before_ns", round(view->before_ns), none);
	jsonw_put_number(w, "after_ns", round(view->after_ns), none);
	jsonw_put_number(w, "ratio", view->ratio, none);
	jsonw_put_number(w, "ratio_lo", view->ratio_lo, few);
	jsonw_put_number(w, "ratio_hi", view->ratio_hi, few);
	jsonw_put_number(
		w, "cpu_ratio", view->has_baselines ? 1 + view->cpu.effect : (double)NAN, none);
	jsonw_put_number(w, "compounded_ratio", view->compounded, none);
	jsonw_put_number(w, "gained", view->gained, none);
	promise_json(w, view);
	jsonw_put_bool(w, "stop", view->stop);
	jsonw_put_text(w, "next", view->next);
}
