/* interrupt.h - what the user did to us meanwhile. */
#pragma once

#include <stdbool.h>

struct interrupt {
	unsigned count;	    /* SIGINT, SIGTERM and SIGHUP since the start */
	int signal;	    /* the last of them */
	bool from_terminal; /* the kernel sent it to the whole foreground group, target included */
};

/* What `asked` says now; NULL: nobody interrupts. */
static inline struct interrupt interrupt_now(struct interrupt (*asked)(void))
{
	return asked ? asked() : (struct interrupt){0};
}
