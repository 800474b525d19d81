/* causal.c - see svg.h: one small chart per target, all on the same scale, so that steep and
 * flat are seen at once.  Self-contained; follows the reader's light or dark. */
#include "render/svg.h"

#include <math.h>
#include <string.h>

#include "analyze/causal_view.h"
#include "render/shorten.h"
#include "xml.h"

enum { CHART_WIDTH = 260, CHART_HEIGHT = 190, CHARTS_PER_ROW = 3, CHARTS_MOST = 12 };
enum { NAME_COLUMNS = 28, HEAD_COLUMNS = 70 };
#define TICK 0.25

enum { LEFT = 44, TOP = 46, PLOT_WIDTH = 190, PLOT_HEIGHT = 110, MARGIN = 16 };

struct chart {
	struct str *out;
	double x, y;	  /* of the plot's upper left corner */
	double low, high; /* gains that fit on it */
};

static double x_of(const struct chart *chart, double speedup)
{
	return chart->x + PLOT_WIDTH * speedup;
}

static double y_of(const struct chart *chart, double gain)
{
	double share = (gain - chart->low) / (chart->high - chart->low);

	return chart->y + PLOT_HEIGHT * (1 - fmin(fmax(share, 0), 1));
}

static void axes_draw(const struct chart *chart)
{
	for (int percent = -100; percent <= 100; percent += 25) {
		double gain = percent / 100.0;

		if (gain < chart->low - 1e-9 || gain > chart->high + 1e-9)
			continue;
		str_addf(chart->out,
			"<line class='%s' x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f'/>"
			"<text class='tick' text-anchor='end' x='%.1f' y='%.1f'>%d %%</text>\n",
			percent ? "grid" : "zero", chart->x, y_of(chart, gain),
			chart->x + PLOT_WIDTH, y_of(chart, gain), chart->x - 6,
			y_of(chart, gain) + 3.5, percent);
	}
	for (uint32_t i = 0; i < CAUSAL_LEVELS; i++)
		str_addf(chart->out,
			"<text class='tick' text-anchor='middle' x='%.1f' y='%.1f'>%.0f</text>\n",
			x_of(chart, causal_levels[i]), chart->y + PLOT_HEIGHT + 14,
			100 * causal_levels[i]);
}

static void curve_draw(const struct chart *chart, const struct causal_curve *curve)
{
	str_addf(chart->out, "<polyline class='curve' points='%.1f,%.1f", x_of(chart, 0),
		y_of(chart, 0));
	for (uint32_t i = 0; i < CAUSAL_LEVELS; i++)
		if (curve->gains[i].is_known)
			str_addf(chart->out, " %.1f,%.1f", x_of(chart, causal_levels[i]),
				y_of(chart, curve->gains[i].gain));
	str_add(chart->out, "'/>\n");
	for (uint32_t i = 0; i < CAUSAL_LEVELS; i++) {
		const struct causal_gain *gain = &curve->gains[i];
		double x = x_of(chart, gain->speedup);

		if (gain->is_known)
			str_addf(chart->out,
				"<path class='bound' d='M%.1f %.1fh6m-3 0V%.1fm-3 0h6'/>"
				"<circle class='dot' cx='%.1f' cy='%.1f' r='2.5'><title>%.0f %% "
				"faster: "
				"%.1f %% (%.1f to %.1f), %u pairs</title></circle>\n",
				x - 3, y_of(chart, gain->lo), y_of(chart, gain->hi), x,
				y_of(chart, gain->gain), 100 * gain->speedup, 100 * gain->gain,
				100 * gain->lo, 100 * gain->hi, gain->trials);
	}
}

static void chart_draw(const struct chart *chart, const struct causal_target_view *target)
{
	str_auto struct str name = {0};

	path_shorten(target->name, NAME_COLUMNS, &name);
	str_addf(chart->out, "<text class='name' x='%.1f' y='%.1f'><title>", chart->x,
		chart->y - 20);
	xml_add(chart->out, target->name, strlen(target->name));
	str_add(chart->out, "</title>");
	xml_add(chart->out, str_text(&name), name.len);
	str_addf(chart->out, "</text><text class='tick' x='%.1f' y='%.1f'>%s", chart->x,
		chart->y - 7, causal_class_name(target->curve.class));
	if (target->samples > 0)
		str_addf(chart->out, ", %.0f %% of samples", 100 * target->sample_share);
	str_add(chart->out, "</text>\n");
	axes_draw(chart);
	curve_draw(chart, &target->curve);
}

/* One scale for all, from the gains that are known. */
static void scale_choose(const struct causal_view *view, uint32_t shown, struct chart *chart)
{
	double low = -0.05, high = 0.25;

	for (uint32_t i = 0; i < shown; i++)
		for (uint32_t level = 0; level < CAUSAL_LEVELS; level++) {
			const struct causal_gain *gain = &view->targets[i].curve.gains[level];

			if (!gain->is_known)
				continue;
			low = fmin(low, fmax(gain->lo, -1));
			high = fmax(high, gain->hi);
		}
	chart->low = low;
	chart->high = fmin(ceil(high / TICK - 1e-9) * TICK, 1);
}

void causal_svg(struct str *out, const struct causal_view *view, const char *target)
{
	uint32_t shown = view->target_count < CHARTS_MOST ? view->target_count : CHARTS_MOST;
	uint32_t rows = (shown + CHARTS_PER_ROW - 1) / CHARTS_PER_ROW;
	struct chart chart = {.out = out};
	str_auto struct str head = {0};

	scale_choose(view, shown, &chart);
	str_addf(out,
		"<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%u' "
		"font-family='system-ui, sans-serif'>\n<style>\n"
		"svg{background:#fff;color:#1b1f24}.name{font-size:12px;font-weight:600;"
		"fill:currentColor}.tick{font-size:10px;fill:#68707a}.head{font-size:15px;"
		"font-weight:600;fill:currentColor}.grid{stroke:#e3e6ea}.zero{stroke:#9aa2ab}"
		".curve{fill:none;stroke:#1f6feb;stroke-width:2}.bound{fill:none;stroke:#1f6feb;"
		"stroke-width:1.5;opacity:.55}.dot{fill:#1f6feb}\n"
		"@media(prefers-color-scheme:dark){svg{background:#14171a;color:#e8eaed}"
		".grid{stroke:#2a2f35}.zero{stroke:#606870}.tick{fill:#9aa2ab}}\n</style>\n",
		CHARTS_PER_ROW * CHART_WIDTH + 2 * MARGIN, rows * CHART_HEIGHT + 84);
	str_addf(out, "<text class='head' x='%d' y='30'>Gain when this code is faster: ", MARGIN);
	name_shorten(target, HEAD_COLUMNS, &head);
	xml_add(out, str_text(&head), head.len);
	str_addf(out,
		"</text><text class='tick' x='%d' y='48'>x: speed-up of the code in %%; y: gain of "
		"the program; bars: 95 %%; %u pairs of experiments</text>\n",
		MARGIN, view->pairs);
	for (uint32_t i = 0; i < shown; i++) {
		uint32_t row = i / CHARTS_PER_ROW, column = i % CHARTS_PER_ROW;

		chart.x = MARGIN + LEFT + column * (double)CHART_WIDTH;
		chart.y = 48 + TOP + row * (double)CHART_HEIGHT;
		chart_draw(&chart, &view->targets[i]);
	}
	str_add(out, "</svg>\n");
}
