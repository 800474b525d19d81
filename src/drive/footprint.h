/* footprint.h - make this process small: private to the spawner.
 *
 * A target's peak RSS starts at that of its starter, so what the starter does not need is given
 * back.  Measured on an empty program of 0.95 MiB: the peak that it inherits falls from 2.1 to 0.8
 * MiB; code of its own that runs after that, as in `assay bench`, makes it 0.9 to 1.2 MiB. */
#pragma once

/* Give back the pages of mapped files, and forget the peak until now.  What cannot be done is left;
 * the floor that the spawner tells is then larger. */
void footprint_shrink(void);
