// Host: the MAD layer of one Linux kernel, for one device.
#ifndef IBEMU_MAD_HOST_H_
#define IBEMU_MAD_HOST_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "base/timers.h"
#include "mad/agent.h"
#include "mad/device.h"
#include "mad/send_watcher.h"
#include "mad/snooper.h"

namespace ibemu::mad {

// A Host holds what everybody who opens the devices of one host shares: agents
// and the conflicts between them, transaction ids, and the IsSM semaphores.
// There is one Host per device, however many views show it.  An adapter that
// was pulled out and plugged in again is a new device, hence has a new Host;
// the old Host stays as it is for those who still have its files open.
class Host {
 public:
  // Becomes the listener of the device and its ports, until the Host or the
  // device goes.  Both arguments must outlive the Host, and the Host must
  // outlive everything that it gives out.
  Host(Timers& timers, Device& device);
  ~Host();

  Device& device();

  // Returns true once the device was pulled out or Unbind() was called; it
  // never returns false again.
  bool removed() const;

  // Takes the driver off the adapter, which stays where it is.  For users with
  // open files the adapter is gone, IsSM is cleared on its ports, and another
  // Host may take it.
  void Unbind();

  // Registers an agent on `port` that calls `client`.
  //
  // Errors:
  //   InvalidArgument     what Linux refuses with EINVAL, conflicts included
  //   ResourceExhausted   more than 8 OUIs in one vendor class and version
  //   Unimplemented       QP0 on a port that has none
  //   Unavailable         the device is gone
  absl::StatusOr<std::unique_ptr<Agent>> Register(
      int port, const Registration& registration, AgentClient& client);

  // Lets `snooper` see what the agents of a port send and what arrives for
  // them, until the returned entry is destroyed, which may be after the Host.
  // It does not see the MADs that the port's own agents (SMA, PMA ...) take and
  // answer.  Returns null if there is no such port.
  std::unique_ptr<Snoops::Entry> Snoop(int port, Snooper& snooper);

  // Sets the only watcher of what becomes of sends.  It must outlive the Host
  // and all agents.
  void SetSendWatcher(SendWatcher& watcher);

  // The hold on the semaphore behind issmN.  The port's IsSM is set while it
  // lasts.
  class SmLock {
   public:
    virtual ~SmLock() = default;  // releases it for the next in line
  };

  // Returns null if somebody holds the semaphore or waits for it, or if there
  // is no such port.
  std::unique_ptr<SmLock> TryLockSm(int port);

  // Waits in line for the semaphore.  Destroying the returned ticket leaves the
  // line.  `granted` is called once, never before this returns.  Returns null
  // if there is no such port.
  class SmWait {
   public:
    virtual ~SmWait() = default;
  };
  std::unique_ptr<SmWait> WaitForSm(
      int port, std::function<void(std::unique_ptr<SmLock>)> granted);

  // Calls `changed` soon after port events and after removal, until the
  // returned subscription is destroyed.  One call covers everything that
  // happened since the last one.
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
