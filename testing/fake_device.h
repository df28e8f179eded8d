// A stand-in for a device.
#ifndef IBEMU_TESTING_FAKE_DEVICE_H_
#define IBEMU_TESTING_FAKE_DEVICE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mad/device.h"
#include "testing/fake_port.h"

namespace ibemu::testing {

// A FakeDevice is a device with fake ports.
class FakeDevice : public mad::Device {
 public:
  // Creates a channel adapter with ports 1 to `ports`.
  explicit FakeDevice(int ports = 1)
      : FakeDevice(mad::NodeType::kChannelAdapter, 1, ports) {}

  // Returns a switch as a host sees it: with port 0 only.
  static FakeDevice Switch() {
    return FakeDevice(mad::NodeType::kSwitch, 0, 1);
  }

  mad::NodeType type() const override { return type_; }
  wire::Guid node_guid() const override { return wire::Guid{0x1000}; }
  wire::Guid system_image_guid() const override { return wire::Guid{0x1fff}; }
  std::string node_description() const override { return description_; }
  void SetNodeDescription(std::string_view text) override {
    description_ = text.substr(0, 64);
  }
  int first_port() const override { return first_port_; }
  int last_port() const override {
    return first_port_ + static_cast<int>(ports_.size()) - 1;
  }
  FakePort& port(int number) override {
    return *ports_.at(static_cast<size_t>(number - first_port_));
  }
  void SetListener(mad::DeviceListener* to) override { listener = to; }

  // Tells the listener that `port(number)` changed.
  void Announce(int number) {
    if (listener != nullptr) listener->OnPortEvent(number);
  }

  // Removes the device, as hot-unplug does.
  void Remove() {
    for (auto& port : ports_) port->removed = true;
    if (listener != nullptr) listener->OnRemoved();
  }

  // Brings the device back, as when it is plugged in again for another host.
  void Add() {
    for (auto& port : ports_) port->removed = false;
  }

  mad::DeviceListener* listener = nullptr;

 private:
  FakeDevice(mad::NodeType type, int first, int count)
      : type_(type), first_port_(first) {
    for (int i = 0; i < count; ++i) {
      ports_.push_back(std::make_unique<FakePort>());
      ports_.back()->info.local_port_num = static_cast<uint8_t>(first + i);
      ports_.back()->info.lid = wire::Lid(i + 1);
    }
  }

  mad::NodeType type_;
  int first_port_;
  std::string description_ = "fake device";
  std::vector<std::unique_ptr<FakePort>> ports_;
};

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_FAKE_DEVICE_H_
