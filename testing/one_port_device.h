// A channel adapter around any port: a filter, or a port with a link.
#ifndef IBEMU_TESTING_ONE_PORT_DEVICE_H_
#define IBEMU_TESTING_ONE_PORT_DEVICE_H_

#include <string>
#include <string_view>

#include "mad/device.h"

namespace ibemu::testing {

// A OnePortDevice is a channel adapter with the one port that it is given,
// which must outlive it.
class OnePortDevice : public mad::Device {
 public:
  explicit OnePortDevice(mad::Port& port) : port_(port) {}

  mad::NodeType type() const override { return mad::NodeType::kChannelAdapter; }
  wire::Guid node_guid() const override { return wire::Guid{0x1000}; }
  wire::Guid system_image_guid() const override { return wire::Guid{0x1fff}; }
  std::string node_description() const override { return "one port"; }
  void SetNodeDescription(std::string_view) override {}
  int first_port() const override { return 1; }
  int last_port() const override { return 1; }
  mad::Port& port(int) override { return port_; }
  void SetListener(mad::DeviceListener*) override {}

 private:
  mad::Port& port_;
};

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_ONE_PORT_DEVICE_H_
