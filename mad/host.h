// What one Linux kernel knows of MADs: agents and SM semaphores of one device.
#ifndef IBEMU_MAD_HOST_H_
#define IBEMU_MAD_HOST_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "base/timers.h"
#include "mad/agent.h"
#include "mad/device.h"
#include "mad/snooper.h"

namespace ibemu::mad {

// Agents, conflicts between them, transaction ids and the IsSM semaphores are
// shared by everybody who opens the devices of one host: one Host per device,
// however many views show it.  An adapter that was pulled out and plugged in
// again is a new device, hence a new Host; the old one stays as it is for those
// who still have its files open.
class Host {
 public:
  // Takes the device's and its ports' listener places, until it or the device
  // goes.  Both arguments must outlive it, and it must outlive everything that
  // it gives out.
  Host(Timers& timers, Device& device);
  ~Host();

  Device& device();

  // True for good once the device was pulled out, or Unbind() was called.
  bool removed() const;

  // The driver leaves the adapter, which stays where it is: whoever has files
  // open finds it gone, its ports are no SM's any more, and another Host may
  // take it.
  void Unbind();

  // Errors:
  //   InvalidArgument     what Linux refuses with EINVAL, conflicts included
  //   ResourceExhausted   more than 8 OUIs in one vendor class and version
  //   Unimplemented       QP0 on a port that has none
  //   Unavailable         the device is gone
  absl::StatusOr<std::unique_ptr<Agent>> Register(
      int port, const Registration& registration, AgentClient& client);

  // Lets `snooper` see what the agents of these queue pairs send and what
  // arrives for them, until the returned entry is destroyed.  What the port's
  // own agents (SMA, PMA ...) take and answer stays below.  Null when there is
  // no such port.
  std::unique_ptr<Snoops::Entry> Snoop(int port, SnoopedQps qps,
                                       Snooper& snooper);

  // The semaphore behind issmN: while someone holds it the port's IsSM is set.
  class SmLock {
   public:
    virtual ~SmLock() = default;  // lets go; the next in line gets it
  };
  // Null when somebody holds it.
  std::unique_ptr<SmLock> TryLockSm(int port);
  // Waits in line; destroying the returned ticket leaves the line.  `granted`
  // is called once, never before this returns.
  class SmWait {
   public:
    virtual ~SmWait() = default;
  };
  std::unique_ptr<SmWait> WaitForSm(
      int port, std::function<void(std::unique_ptr<SmLock>)> granted);

  // Calls `changed` soon after port events and after removal, once for all that
  // happened meanwhile, until the returned subscription is destroyed.
  class Subscription {
   public:
    virtual ~Subscription() = default;
  };
  std::unique_ptr<Subscription> Watch(std::function<void()> changed);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_HOST_H_
