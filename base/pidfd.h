// Descriptors of processes.
#ifndef IBEMU_BASE_PIDFD_H_
#define IBEMU_BASE_PIDFD_H_

extern "C" {  // glibc 2.36 forgot it
#include <sys/pidfd.h>
}

#endif  // IBEMU_BASE_PIDFD_H_
