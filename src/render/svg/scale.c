/* scale.c - the chart as one SVG file.
 *
 * Both axes are logarithmic.  Fixed numbers of digits, so that the same view gives the same bytes.
 * Colours: measured blue, law orange, which stay apart for all kinds of eyes; lines differ by their
 * dashes too.  No script. */
#include "render/svg.h"

#include <math.h>
#include <string.h>

#include "render/scale.h"
#include "render/scale_chart.h"
#include "render/shorten.h"
#include "xml.h"

enum { WIDTH = 820, LEFT = 82, RIGHT = 796, TOP = 112, BOTTOM = 440, HEIGHT = 520 };
enum { TITLE_LETTERS = 76, LINE_LETTERS = 118, VERDICT_LINES = 2, TICKS_MOST = 12 };

static const char style[] =
	"svg { background: #ffffff; }\n"
	"text { font: 12px system-ui, \"Segoe UI\", \"DejaVu Sans\", sans-serif; fill: #565c66; }\n"
	".title { font-size: 16px; font-weight: 600; fill: #15181c; }\n"
	".verdict { font-size: 13px; fill: #15181c; }\n"
	".grid { stroke: #e3e5e8; }\n"
	".axis { stroke: #8a919c; }\n"
	".best { fill: none; stroke: #b45309; stroke-width: 2; }\n"
	".other { fill: none; stroke: #8a919c; stroke-width: 1.5; stroke-dasharray: 5 4; }\n"
	".point { fill: #1d5fc4; }\n"
	".point.apart { fill: #ffffff; stroke: #1d5fc4; stroke-width: 1.5; }\n"
	".bar { stroke: #1d5fc4; stroke-width: 1.5; }\n"
	"@media (prefers-color-scheme: dark) {\n"
	"svg { background: #15181c; }\n"
	"text { fill: #a9b0bb; }\n"
	".title, .verdict { fill: #f1f3f5; }\n"
	".grid { stroke: #2b3038; }\n"
	".axis { stroke: #6b7280; }\n"
	".best { stroke: #f0a35e; }\n"
	".other { stroke: #7d8590; }\n"
	".point { fill: #7eb0ff; }\n"
	".point.apart { fill: #15181c; stroke: #7eb0ff; }\n"
	".bar { stroke: #7eb0ff; }\n"
	"}\n";

static double place_x(const struct scale_axes *axes, double x)
{
	return LEFT + 14 +
	       (log10(x) - axes->x_lo) / (axes->x_hi - axes->x_lo) * (RIGHT - LEFT - 28);
}

static double place_y(const struct scale_axes *axes, double y)
{
	return BOTTOM - (log10(y) - axes->y_lo) / (axes->y_hi - axes->y_lo) * (BOTTOM - TOP);
}

static void text_put(struct str *out, const char *class, double x, double y, const char *text)
{
	str_addf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, x, y);
	xml_add(out, text, strlen(text));
	str_add(out, "</text>\n");
}

/* A text on lines of at most LINE_LETTERS, cut at blanks; what finds no room ends with "...". */
static void lines_put(struct str *out, const char *class, double y, const char *text)
{
	for (unsigned line = 0; *text && line < VERDICT_LINES; line++) {
		size_t len = strlen(text), cut = len;
		str_auto struct str part = {0};

		if (len > LINE_LETTERS)
			for (cut = LINE_LETTERS; cut && text[cut] != ' ';)
				cut--;
		cut = cut ? cut : len;
		str_add_bytes(&part, text, cut);
		text += cut + (text[cut] == ' ');
		if (*text && line + 1 == VERDICT_LINES)
			str_add(&part, " ...");
		text_put(out, class, LEFT - 60, y + 18 * line, str_text(&part));
	}
}

static void tick_y(
	struct str *out, const struct scale_view *view, const struct scale_axes *axes, double value)
{
	char label[SCALE_LABEL_SIZE];
	double y = place_y(axes, value);

	str_addf(out, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n", LEFT,
		RIGHT, y, y);
	str_addf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", LEFT - 8, y + 4,
		scale_height_label(view, label, value));
}

/* 1, 2, 5, 10 ... where there are few powers of ten, else the powers. */
static void ticks_y(struct str *out, const struct scale_view *view, const struct scale_axes *axes)
{
	static const double steps[] = {1, 2, 5};
	double span = axes->y_hi - axes->y_lo;
	int every = (int)ceil(span / TICKS_MOST);
	unsigned step_count = span < 2 ? 3 : 1;

	for (int power = (int)floor(axes->y_lo); power <= axes->y_hi; power++)
		for (unsigned i = 0; i < step_count; i++) {
			double value = steps[i] * pow(10, power);

			if (log10(value) >= axes->y_lo && log10(value) <= axes->y_hi &&
				power % every == 0)
				tick_y(out, view, axes, value);
		}
}

static void ticks_x(struct str *out, const struct scale_view *view, const struct scale_axes *axes)
{
	double used = 0;

	for (uint32_t i = 0; i < view->point_count; i++) {
		char label[SCALE_LABEL_SIZE];
		double x = place_x(axes, (double)view->points[i].size), half;

		scale_size_label(label, (double)view->points[i].size);
		half = (double)strlen(label) * 4 + 4;
		if (x - half < used)
			continue;
		used = x + half;
		str_addf(out,
			"<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>\n", x,
			x, BOTTOM, BOTTOM + 5);
		str_addf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x,
			BOTTOM + 20, label);
	}
}

static void curve_put(struct str *out, const char *class, const struct scale_axes *axes,
	const struct scale_curve *curve, const double *heights)
{
	bool begun = false;

	str_addf(out, "<path class=\"%s\" d=\"", class);
	for (uint32_t i = 0; i < curve->count; i++) {
		double y = heights[i] > 0 ? place_y(axes, heights[i]) : HEIGHT;

		if (y < TOP || y > BOTTOM) /* the runner-up may leave the picture */
			continue;
		str_addf(out, "%s%.1f %.1f", begun ? " L" : "M", place_x(axes, curve->x[i]), y);
		begun = true;
	}
	str_add(out, "\"/>\n");
}

static void points_put(
	struct str *out, const struct scale_view *view, const struct scale_axes *axes)
{
	for (uint32_t i = 0; i < view->point_count; i++) {
		const struct scale_point *point = &view->points[i];
		char label[SCALE_LABEL_SIZE], low[SCALE_LABEL_SIZE], high[SCALE_LABEL_SIZE];
		struct interval range;
		double x, y;

		if (!scale_point_height(view, i, &y, &range))
			continue;
		x = place_x(axes, (double)point->size);
		str_addf(out, "<g><title>%s %llu: %s (%s .. %s), %u runs</title>",
			view->options.threads ? "threads" : "n =", (unsigned long long)point->size,
			scale_height_label(view, label, y), scale_height_label(view, low, range.lo),
			scale_height_label(view, high, range.hi), point->command->used_count);
		str_addf(out,
			"<path class=\"bar\" d=\"M%.1f %.1f V%.1f M%.1f %.1f h8 M%.1f %.1f h8\"/>",
			x, place_y(axes, range.lo), place_y(axes, range.hi), x - 4,
			place_y(axes, range.lo), x - 4, place_y(axes, range.hi));
		str_addf(out, "<circle class=\"point%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/></g>\n",
			point->fitted ? "" : " apart", x, place_y(axes, y));
	}
}

static void legend_put(struct str *out, const struct scale_view *view)
{
	str_auto struct str best = {0}, other = {0};
	double y = HEIGHT - 14;

	scale_line_names(view, &best, &other);
	str_addf(out, "<circle class=\"point\" cx=\"%d\" cy=\"%.1f\" r=\"4\"/>\n", LEFT + 6, y - 4);
	text_put(out, "", LEFT + 18, y, "median with its 95 % interval");
	if (!view->curve.count)
		return;
	str_addf(out, "<path class=\"best\" d=\"M%d %.1f h26\"/>\n", LEFT + 220, y - 4);
	str_addf(out, "<path class=\"other\" d=\"M%d %.1f h26\"/>\n", LEFT + 390, y - 4);
	text_put(out, "", LEFT + 252, y, str_text(&best));
	str_add(&other, view->options.threads ? "" : " (next best)");
	text_put(out, "", LEFT + 422, y, str_text(&other));
}

static void head_put(struct str *out, const struct scale_view *view)
{
	str_auto struct str title = {0}, verdict = {0};

	name_shorten(view->title, TITLE_LETTERS, &title);
	scale_verdict_words(view, &verdict);
	str_addf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- made by assay; self-contained "
		"-->\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
		WIDTH, HEIGHT, WIDTH, HEIGHT);
	xml_add(out, str_text(&title), title.len);
	str_add(out, "\">\n<desc>");
	xml_add(out, str_text(&verdict), verdict.len);
	str_addf(out, "</desc>\n<style><![CDATA[\n%s]]></style>\n", style);
	text_put(out, "title", LEFT - 60, 28, str_text(&title));
	lines_put(out, "verdict", 54, str_text(&verdict));
}

void scale_svg(struct str *out, const struct scale_view *view)
{
	struct scale_axes axes = scale_axes_of(view);
	bool threads = view->options.threads;

	head_put(out, view);
	text_put(out, "", LEFT - 60, TOP - 14,
		threads				    ? "throughput, runs per second (log)"
		: view->options.metric == SCALE_CPU ? "CPU time of a run (log)"
						    : "time of a run (log)");
	if (axes.drawable) {
		ticks_y(out, view, &axes);
		str_addf(out, "<path class=\"axis\" fill=\"none\" d=\"M%d %d V%d H%d\"/>\n", LEFT,
			TOP, BOTTOM, RIGHT);
		ticks_x(out, view, &axes);
		curve_put(out, "other", &axes, &view->curve, view->curve.other);
		curve_put(out, "best", &axes, &view->curve, view->curve.best);
		points_put(out, view, &axes);
	} else {
		text_put(out, "", LEFT, (TOP + BOTTOM) / 2.0, "not enough data to draw");
	}
	str_addf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", RIGHT, BOTTOM + 40,
		threads ? "threads (log)" : "n (log)");
	legend_put(out, view);
	str_add(out, "</svg>\n");
}
