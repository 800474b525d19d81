/* site.c - what `assay branches --json` and `assay cache --json` share. */
#include "parts.h"

#include "analyze/label.h"
#include "analyze/site_place.h"
#include "analyze/site_summary.h"

void site_place_json(struct jsonw *w, const char *key, const struct site_place *place)
{
	jsonw_open_object(w, key);
	jsonw_put_text_or(w, "function", place->flags & LABEL_UNNAMED ? NULL : place->function,
		"no symbol at this address");
	jsonw_put_text_or(
		w, "module", str_or_null(place->module), "the file of this code is unknown");
	jsonw_put_text_or(w, "file", str_or_null(place->file), "no debug information for the line");
	jsonw_put_count(w, "line", place->line, "no debug information for it, or it is a function");
	jsonw_put_count(w, "addr", place->addr, "only the line is known");
	jsonw_end_object(w);
}

void site_head_json(struct jsonw *w, const struct site_summary *summary)
{
	jsonw_put_text(w, "target", summary->target);
	jsonw_put_text(w, "engine", summary->engine);
	jsonw_put_text_or(w, "arch", str_or_null(summary->arch), "the run does not record its CPU");
	jsonw_put_bool(w, "simulated", summary->simulated);
	jsonw_put_bool(w, "user_only", summary->user_only);
	metric_results_json(w, summary->metrics, summary->metric_count, summary->simulated);
}
