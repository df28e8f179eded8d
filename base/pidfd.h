// glibc's functions for process file descriptors (pidfd).
#ifndef IBEMU_BASE_PIDFD_H_
#define IBEMU_BASE_PIDFD_H_

extern "C" {  // missing in the header of glibc 2.36
#include <sys/pidfd.h>
}

#endif  // IBEMU_BASE_PIDFD_H_
