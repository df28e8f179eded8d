// One adapter (or switch) of a backend: its identity and its ports.
#ifndef IBEMU_MAD_DEVICE_H_
#define IBEMU_MAD_DEVICE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "mad/port.h"
#include "mad/wire/node_info.h"

namespace ibemu::mad {

class DeviceListener {
 public:
  virtual ~DeviceListener() = default;

  // State, LID, LMC, SM LID, P_Key or GID table of `port` changed.
  virtual void OnPortEvent(int port) = 0;

  // The device is gone: its ports' Transmit() fails while it is.  The listeners
  // of device and ports must let go of their places in this call: the adapter
  // may come back, for another host.
  virtual void OnRemoved() = 0;
};

// What is printed on an adapter, so to speak.  An empty text: as adapters of
// the profile that it is shown with have it.
struct DeviceLabel {
  std::string firmware;  // "16.35.4030": fw_ver of sysfs
  std::string hardware;  // "0": hw_rev
  std::string board_id;  // "MT_0000000012"
  std::string hca_type;  // "MT4119"

  bool operator==(const DeviceLabel&) const = default;
};

class Device {
 public:
  virtual ~Device() = default;

  virtual NodeType type() const = 0;
  virtual wire::Guid node_guid() const = 0;
  virtual wire::Guid system_image_guid() const = 0;

  // nullptr: all texts are empty.
  virtual const DeviceLabel* label() const { return nullptr; }

  // At most 64 bytes; not necessarily text.
  virtual std::string node_description() const = 0;

  // Changes NodeDescription; the port tells its SM (trap 144).  Longer text is
  // cut to 64 bytes, as Linux's node_desc does.
  virtual void SetNodeDescription(std::string_view text) = 0;

  // A channel adapter has ports 1..count; a switch, seen as a host, has the one
  // port 0.
  virtual int first_port() const = 0;
  virtual int last_port() const = 0;
  virtual Port& port(int number) = 0;

  // At most one listener; nullptr takes it away.  Not owned.
  virtual void SetListener(DeviceListener* listener) = 0;
};

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_DEVICE_H_
