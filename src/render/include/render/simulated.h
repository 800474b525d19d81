/* simulated.h - the answer of `assay topdown --engine sim` in each form.  Computes nothing. */
#pragma once

#include "analyze/hot_loop.h"
#include "analyze/simulated.h"
#include "base/jsonw.h"
#include "render/paper.h"

struct simulated_page {
	const char *target, *cpu;
	const char *reason;	     /* why not the PMU, "": the user asked for the simulator */
	const struct hot_loop *loop; /* NULL: no function waits for its own results */
};

void simulated_text(
	struct paper *paper, const struct simulated_view *view, const struct simulated_page *page);
void simulated_agent(
	struct paper *paper, const struct simulated_view *view, const struct simulated_page *page);
void simulated_json(
	struct jsonw *w, const struct simulated_view *view, const struct simulated_page *page);
void simulated_markdown(
	struct str *out, const struct simulated_view *view, const struct simulated_page *page);
