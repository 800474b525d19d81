/* compare_json.h - "data" of the commands that repeat runs and compare them: bench, ab, gate,
 * scale. Each writes members into the open object. */
#pragma once

#include "base/jsonw.h"

struct ab_page;
struct bench_view;
struct gate_page;
struct scale_view;

void bench_json(struct jsonw *w, const struct bench_view *view);
void ab_json(struct jsonw *w, const struct ab_page *page);
void gate_json(struct jsonw *w, const struct gate_page *page);
void scale_json(struct jsonw *w, const struct scale_view *view);
