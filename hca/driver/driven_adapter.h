// DrivenAdapter: an adapter's driver as the daemon sees it, the same for every
// family of adapters.
#ifndef IBEMU_HCA_DRIVER_DRIVEN_ADAPTER_H_
#define IBEMU_HCA_DRIVER_DRIVEN_ADAPTER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "hca/bus/counted_commands.h"
#include "hca/bus/pause.h"
#include "mad/device.h"
#include "verbs/provider.h"

namespace ibemu::hca {

// A DeviceOptions is what the daemon gives a driver beside the PCI function:
// how it waits, whom it tells what it notes, and how it names the adapter.
struct DeviceOptions {
  Pause pause;
  // Receives messages for the adapter's owner, one sentence each.
  std::function<void(std::string_view)> note = [](std::string_view) {};
  // The adapter's name in command lines, such as "0000:3b:00.0", for the
  // commands that error messages suggest.
  std::string name;
};

// Counters of the MADs of one queue pair, 0 or 1.
struct MadTotals {
  uint64_t sent = 0;      // given to the adapter
  uint64_t received = 0;  // taken from it
  uint64_t dropped = 0;   // backlog full, send error, or not a MAD's length
};

// The verbs objects and the message memory that programs hold now.
struct VerbsUse {
  size_t pds = 0, mrs = 0, ahs = 0, cqs = 0, qps = 0, srqs = 0;
  // Bytes in use of the memory that messages pass through.
  size_t send_memory = 0, receive_memory = 0;
};

// Callbacks for a device's owner, in addition to those of mad::DeviceListener.
class DeviceWatcher {
 public:
  // Called as mad::DeviceListener::OnPortEvent() is.
  virtual void OnPortChange(int port) = 0;
  // Called once, when the device has died, after its listener was told.
  virtual void OnGone() = 0;

 protected:
  ~DeviceWatcher() = default;
};

// An adapter that was taken over and brought up.  Destroying the object brings
// the adapter down and releases it.
class DrivenAdapter : public mad::Device {
 public:
  // A descriptor that becomes readable after an interrupt; OnInterrupt() must
  // be called then.  -1 if there are no interrupts.
  virtual int interrupt_fd() const = 0;
  virtual void OnInterrupt() = 0;

  // The product's name and PCI IDs, such as "ConnectX-3 (15b3:1003)".
  virtual const std::string& product() const = 0;

  // Returns why the adapter takes no commands any more; OK while it does.  The
  // listener may hear of it up to a second later.
  virtual const absl::Status& dead() const = 0;
  // Sets the only watcher; nullptr removes it.  Not owned.
  virtual void SetWatcher(DeviceWatcher* watcher) = 0;

  // The device's verbs.  Objects that it creates may outlive the device; this
  // reference may not.
  virtual verbs::Provider& provider() = 0;

  // Counters since the adapter was taken over, for monitoring.  The keys are
  // the family's names of commands and of events.
  virtual std::map<std::string, CommandTotals> commands() const = 0;
  virtual std::map<std::string, uint64_t> events() const = 0;
  // `port` counts from 1; `qp` is 0 or 1.
  virtual const MadTotals& mads(int port, int qp) const = 0;
  virtual VerbsUse verbs_use() const = 0;
};

}  // namespace ibemu::hca

#endif  // IBEMU_HCA_DRIVER_DRIVEN_ADAPTER_H_
