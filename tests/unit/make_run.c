/* make_run.c - `make-run TEXT RUN`: the run that profile_text.h describes, as a run file. */
#include <stdio.h>

#include "base/io.h"
#include "model/store.h"
#include "profile_text.h"

enum { TEXT_LARGEST = 16 << 20 };

int main(int argc, char **argv)
{
	str_auto struct str text = {0};
	run_auto struct run *run = NULL;
	store_auto struct store *store = NULL;
	struct err err = {0};

	if (argc != 3 || io_read(argv[1], TEXT_LARGEST, &text, &err) < 0) {
		fprintf(stderr, "usage: make-run TEXT RUN\n%s\n", err.text);
		return 2;
	}
	run = profile_text_run(str_text(&text));
	if (store_create(argv[2], &store, &err) < 0 || store_finish(store, run, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	return 0;
}
