// The semaphore behind issmN.
#ifndef IBEMU_MAD_SM_SEMAPHORE_H_
#define IBEMU_MAD_SM_SEMAPHORE_H_

#include <list>
#include <memory>

#include "base/timers.h"
#include "mad/host.h"
#include "mad/host_core.h"

namespace ibemu::mad {

// At most one holder per port, whose IsSM bit is set meanwhile, and a line of
// those who wait.
class SmSemaphore {
 public:
  using Granted = std::function<void(std::unique_ptr<Host::SmLock>)>;

  SmSemaphore(HostCore& host, Port& port) : host_(host), port_(port) {}
  SmSemaphore(const SmSemaphore&) = delete;
  SmSemaphore& operator=(const SmSemaphore&) = delete;

  // Null when it is held.
  std::unique_ptr<Host::SmLock> TryLock();

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
  bool serving_ = false;  // Serve() is on its way
  std::list<Ticket*> line_;
  // Lapses with the semaphore.
  std::shared_ptr<SmSemaphore*> self_ = std::make_shared<SmSemaphore*>(this);
};

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_SM_SEMAPHORE_H_
