// SmSemaphore: the semaphore behind issmN.
#ifndef IBEMU_MAD_SM_SEMAPHORE_H_
#define IBEMU_MAD_SM_SEMAPHORE_H_

#include <list>
#include <memory>

#include "base/deferred_call.h"
#include "mad/host.h"
#include "mad/host_core.h"

namespace ibemu::mad {

// An SmSemaphore has at most one holder, and a line of those who wait.  There
// is one for each port, whose IsSM bit is set while somebody holds the
// semaphore.
class SmSemaphore {
 public:
  using Granted = std::function<void(std::unique_ptr<Host::SmLock>)>;

  SmSemaphore(HostCore& host, Port& port) : host_(host), port_(port) {}
  SmSemaphore(const SmSemaphore&) = delete;
  SmSemaphore& operator=(const SmSemaphore&) = delete;

  // Returns null if the semaphore is held or others wait for it.
  std::unique_ptr<Host::SmLock> TryLock();

  // Enters the line, and calls `granted` when it is this caller's turn.
  // Destroying the result leaves the line.
  std::unique_ptr<Host::SmWait> Wait(Granted granted);

 private:
  class Lock;
  class Ticket;

  void Release();
  void ServeSoon();
  void Serve();

  HostCore& host_;
  Port& port_;
  bool held_ = false;
  std::list<Ticket*> line_;
  DeferredCall serve_{host_.timers(), [this] { Serve(); }};
};

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_SM_SEMAPHORE_H_
