// Children that wait in a system call, so that something can happen meanwhile.
#ifndef IBEMU_TESTS_E2E_UMAD_ABI_CHILD_H_
#define IBEMU_TESTS_E2E_UMAD_ABI_CHILD_H_

#include <sys/types.h>

#include <functional>

namespace umad_abi {

// Runs `act` in a child and returns as soon as that does nothing but wait.  Its
// exit status is what `act` returns.
pid_t StartWaiting(const std::function<int()>& act);

// Waits for the child's end.
int ExitStatus(pid_t child);

// `flags`: SA_RESTART or none.
void OnSignal(int signal, void (*handler)(int), int flags = 0);

}  // namespace umad_abi

#endif  // IBEMU_TESTS_E2E_UMAD_ABI_CHILD_H_
