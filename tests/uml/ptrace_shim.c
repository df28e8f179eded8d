// Lets a User-Mode Linux run where processors have more registers than it knows.
//
// It keeps the registers of its processes in a buffer that ends with AVX-512
// and PKRU, and Linux takes such a set back only if it is whole: with AMX it is
// four times as long, PTRACE_SETREGSET fails with EFAULT, and the guest panics
// at its first process ("ptrace set fp regs failed").  So what it sets is laid
// over what there is: the rest, AMX, stays as it was.
#define _GNU_SOURCE
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MOST = 1 << 16 };  // bytes of registers; AMX's are 11,008

static long set_registers(long pid, const struct iovec *known) {
  static _Thread_local char all[MOST] __attribute__((aligned(64)));
  struct iovec whole = {all, sizeof all};
  if (syscall(SYS_ptrace, PTRACE_GETREGSET, pid, NT_X86_XSTATE, &whole) < 0)
    return -1;
  if (known->iov_len > whole.iov_len)
    return syscall(SYS_ptrace, PTRACE_SETREGSET, pid, NT_X86_XSTATE, known);
  memcpy(all, known->iov_base, known->iov_len);
  return syscall(SYS_ptrace, PTRACE_SETREGSET, pid, NT_X86_XSTATE, &whole);
}

long ptrace(enum __ptrace_request request, ...) {
  va_list arguments;
  va_start(arguments, request);
  const long pid = va_arg(arguments, int);
  void *const address = va_arg(arguments, void *);
  void *data = va_arg(arguments, void *);
  va_end(arguments);
  if (request == PTRACE_SETREGSET && (long)address == NT_X86_XSTATE)
    return set_registers(pid, data);
  // As the C library's: what is peeked is the result.
  long peeked = 0;
  const int peeks = request == PTRACE_PEEKTEXT ||
                    request == PTRACE_PEEKDATA || request == PTRACE_PEEKUSER;
  if (peeks) data = &peeked;
  const long result = syscall(SYS_ptrace, request, pid, address, data);
  return peeks && result >= 0 ? peeked : result;
}
