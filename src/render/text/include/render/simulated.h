/* simulated.h - the answer of `assay topdown --engine sim` as text and for agents.
 * Computes nothing. */
#pragma once

#include "analyze/hot_loop.h"
#include "analyze/simulated.h"
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

enum { SIMULATED_ROWS = 8 }; /* functions on a page */
uint32_t simulated_rows_shown(const struct simulated_view *view, uint32_t most);
/* A number of a table, "-" where it is not known. */
char *simulated_number(char *buf, size_t capacity, double value);
void simulated_costs_line(struct str *out, const struct simulated_costs *costs);
void simulated_loop_line(struct str *out, const struct hot_loop *loop);
/* What no simulator sees. */
void simulated_not_line(struct str *out, const struct simulated_view *view);
