// What the driver of every family of adapters gives to the daemon.
#ifndef IBEMU_HCA_DRIVER_DEVICE_H_
#define IBEMU_HCA_DRIVER_DEVICE_H_

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

struct DeviceOptions {
  Pause pause;
  // Hears what its owner may want to know, in one sentence each.
  std::function<void(std::string_view)> note = [](std::string_view) {};
  // How tools call the adapter: for the commands that help.
  std::string name;
};

// What became of the MADs of one queue pair.
struct MadTotals {
  uint64_t sent = 0;      // given to the adapter
  uint64_t received = 0;  // taken from it
  uint64_t dropped = 0;   // no room, an error on the way, or no MAD
};

// What programs have of it now.
struct VerbsUse {
  size_t pds = 0, mrs = 0, ahs = 0, cqs = 0, qps = 0, srqs = 0;
  // Memory that messages pass through, in bytes.
  size_t send_memory = 0, receive_memory = 0;
};

// What a device's owner hears, whoever else listens.
class DeviceWatcher {
 public:
  // As mad::DeviceListener's OnPortEvent().
  virtual void OnPortChange(int port) = 0;
  // Once: it has died, and its listener has heard so.
  virtual void OnGone() = 0;

 protected:
  ~DeviceWatcher() = default;
};

// An adapter that was taken over and brought up; destroying it gives it up.
class Device : public mad::Device {
 public:
  // Readable after an interrupt, and then OnInterrupt() is to be called; -1
  // where there are none.
  virtual int interrupt_fd() const = 0;
  virtual void OnInterrupt() = 0;

  // "ConnectX-3 (15b3:1003)".
  virtual const std::string& product() const = 0;

  // Why it takes no commands any more; OK while it does.  It may be a second
  // before the listener hears of it.
  virtual const absl::Status& dead() const = 0;
  // At most one; nullptr takes it away.  Not owned.
  virtual void SetWatcher(DeviceWatcher* watcher) = 0;

  // Its verbs.  Objects may outlive the device; the reference may not.
  virtual verbs::Provider& provider() = 0;

  // For who watches it, since it was taken over: by name of the command, and of
  // the event, as the family has them.
  virtual std::map<std::string, CommandTotals> commands() const = 0;
  virtual std::map<std::string, uint64_t> events() const = 0;
  // `port` from 1 on; `qp` is 0 or 1.
  virtual const MadTotals& mads(int port, int qp) const = 0;
  virtual VerbsUse verbs_use() const = 0;
};

}  // namespace ibemu::hca

#endif  // IBEMU_HCA_DRIVER_DEVICE_H_
