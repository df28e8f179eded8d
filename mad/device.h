// Device: one adapter or switch of a back end, with its identity and ports.
#ifndef IBEMU_MAD_DEVICE_H_
#define IBEMU_MAD_DEVICE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "mad/port.h"
#include "mad/wire/node_info.h"

namespace ibemu::mad {

// The callbacks of a Device.
class DeviceListener {
 public:
  virtual ~DeviceListener() = default;

  // The state, LID, LMC, SM LID, P_Key table or GID table of `port` changed.
  virtual void OnPortEvent(int port) = 0;

  // The device is gone, and Transmit() of its ports fails until it is back.
  // The listeners of the device and of its ports must remove themselves in this
  // call (SetListener(nullptr)): the adapter may come back for another host.
  virtual void OnRemoved() = 0;
};

// The texts that identify an adapter's model and firmware.  An empty one stands
// for the text of the profile with which the adapter is shown.
struct DeviceLabel {
  std::string firmware;  // "16.35.4030": fw_ver of sysfs
  std::string hardware;  // "0": hw_rev
  std::string board_id;  // "MT_0000000012"
  std::string hca_type;  // "MT4119"

  bool operator==(const DeviceLabel&) const = default;
};

// A Device is one node of a back end (fabric/, hca/) as its host sees it.
class Device {
 public:
  virtual ~Device() = default;

  virtual NodeType type() const = 0;
  virtual wire::Guid node_guid() const = 0;
  virtual wire::Guid system_image_guid() const = 0;

  // Returns nullptr if all texts are empty.
  virtual const DeviceLabel* label() const { return nullptr; }

  // Returns at most 64 bytes, which need not be text.
  virtual std::string node_description() const = 0;

  // Changes NodeDescription.  The port reports the change to its SM (trap 144).
  // Longer text is cut to 64 bytes, as Linux's node_desc does.
  virtual void SetNodeDescription(std::string_view text) = 0;

  // The range of port numbers.  A channel adapter has ports 1..count; a switch,
  // seen as a host, has only port 0.
  virtual int first_port() const = 0;
  virtual int last_port() const = 0;
  virtual Port& port(int number) = 0;

  // Sets the device's only listener, which is not owned; nullptr removes it.
  virtual void SetListener(DeviceListener* listener) = 0;
};

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_DEVICE_H_
