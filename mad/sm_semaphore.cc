#include "mad/sm_semaphore.h"

#include <utility>

namespace ibemu::mad {

class SmSemaphore::Lock : public Host::SmLock {
 public:
  explicit Lock(SmSemaphore& semaphore) : semaphore_(semaphore) {
    semaphore_.held_ = true;
    if (!semaphore_.host_.removed()) semaphore_.port_.SetIsSm(true);
  }
  ~Lock() override { semaphore_.Release(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  SmSemaphore& semaphore_;
};

class SmSemaphore::Ticket : public Host::SmWait {
 public:
  Ticket(SmSemaphore& semaphore, Granted granted)
      : semaphore_(semaphore), granted_(std::move(granted)) {
    semaphore_.line_.push_back(this);
  }
  ~Ticket() override { semaphore_.line_.remove(this); }
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;

  // Moves the callback out, because it may destroy the ticket when called.
  Granted TakeCallback() { return std::move(granted_); }

 private:
  SmSemaphore& semaphore_;
  Granted granted_;
};

std::unique_ptr<Host::SmLock> SmSemaphore::TryLock() {
  if (held_ || !line_.empty()) return nullptr;
  return std::make_unique<Lock>(*this);
}

std::unique_ptr<Host::SmWait> SmSemaphore::Wait(Granted granted) {
  auto ticket = std::make_unique<Ticket>(*this, std::move(granted));
  ServeSoon();
  return ticket;
}

void SmSemaphore::Release() {
  held_ = false;
  if (!host_.removed()) port_.SetIsSm(false);
  ServeSoon();
}

void SmSemaphore::ServeSoon() {
  if (!held_ && !line_.empty()) serve_.Request();
}

void SmSemaphore::Serve() {
  if (held_ || line_.empty()) return;
  Ticket* next = line_.front();
  line_.pop_front();
  next->TakeCallback()(std::make_unique<Lock>(*this));
}

}  // namespace ibemu::mad
