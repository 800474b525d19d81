/* borrowed.h - see borrowed.c. */
#pragma once

__attribute__((visibility("default"))) unsigned long borrowed_work(unsigned long iterations);
__attribute__((visibility("default"))) void borrowed_each(unsigned count, void (*call)(unsigned));
