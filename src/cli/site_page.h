/* site_page.h - what `assay branches` and `assay cache` have in common: options and page. */
#pragma once

#include "cli.h"
#include "job/site.h"

/* One sheet of the answer: JSON, Markdown, or paper for people or agents. */
struct site_sheet {
	struct jsonw *json; /* the first that is not NULL is wanted */
	struct str *markdown;
	struct paper *paper;
	bool agent;	/* with `paper` */
	uint32_t limit; /* sites that are shown, 0: all */
};

typedef void site_draw(const void *context, const struct site_sheet *sheet);

/* Let `draw` fill each sheet that is wanted, write --report.  Returns the exit status, or a
 * negative errno. */
int site_page_show(struct cli *cli, const struct site_job *job, site_draw *draw,
	const void *context, struct err *err);

/* Rows for the two option tables. */
/* clang-format off */
#define SITE_OPTIONS                                                                               \
	{"engine", 0, "ENGINE", false, "auto|pmu|sim",                                             \
		"source of the numbers (default auto: the PMU if it works)"},       \
	{"level", 0, "N", false, "1|2",                                                            \
		"1: the whole program, 2: its places too (default 2)"},                    \
	{"limit", 'n', "N", false, NULL, "at most N sites, 0 for all (default 20; --json: " \
		"all)"}, \
	{"report", 0, "FILE", false, NULL, "also write a Markdown report"},                     \
	{"output", 'o', "RUN", false, NULL, "store the run in this file (*.assay)"},               \
	{"target-status", 0, NULL, false, NULL, "exit with the program's own status"}
/* clang-format on */

int site_options_read(const struct cli *cli, struct site_options *ret_options, struct err *err);

/* --engine, for any command. */
enum job_engine cli_engine(const struct cli *cli);
