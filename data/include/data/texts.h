/* texts.h - the files of data/, compiled in.  Pure data; analyze parses it. */
#pragma once

struct data_text {
	const char *name; /* path below data/: "metrics/generic.txt" */
	const char *text;
};

extern const struct data_text data_texts[]; /* ends with a row without a name */
