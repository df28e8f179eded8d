// Modelled adapters in the hosts of a lab, and our driver for them.
#ifndef IBEMU_TESTING_MLX4_MACHINE_H_
#define IBEMU_TESTING_MLX4_MACHINE_H_

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "daemon/remote_node/fabric_cable.h"
#include "hca/mlx4/mlx4_device.h"
#include "hca/model/in_process_function.h"
#include "hca/model/mlx4/firmware/connectx3_model.h"
#include "mad/device.h"
#include "testing/lab.h"

namespace ibemu::testing {

// A RecordedCommands is what an adapter was told to do.
class RecordedCommands : public hca::model::CommandObserver {
 public:
  void OnCommand(const hca::model::CommandRecord& record) override {
    records.push_back(record);
  }

  // Without repetitions of the same one.
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const hca::model::CommandRecord& record : records) {
      std::string name(hca::prm::Name(record.opcode));
      if (names.empty() || names.back() != name) names.push_back(name);
    }
    return names;
  }

  std::vector<hca::model::CommandRecord> records;
};

// A RecordingDeviceListener keeps what a device tells.
class RecordingDeviceListener : public mad::DeviceListener {
 public:
  void OnPortEvent(int port) override { events.push_back(port); }
  void OnRemoved() override { ++removals; }

  std::vector<int> events;
  int removals = 0;
};

// A Mlx4Machine is a modelled adapter in the place of a node, and the PCI
// function by which a driver in the same process reaches it.
class Mlx4Machine {
 public:
  Mlx4Machine(Lab& lab, const std::string& node)
      : cables_(*daemon::FabricCables::Plug(lab.fabric, lab.Find(node))),
        model(lab.timers, Cables()) {
    model.AddObserver(trace);
    function.emplace(model);
  }

 private:
  std::vector<hca::model::Cable*> Cables() {
    std::vector<hca::model::Cable*> cables;
    for (int port = 1; port <= cables_->port_count(); ++port) {
      cables.push_back(&cables_->cable(port));
    }
    return cables;
  }

  std::unique_ptr<daemon::FabricCables> cables_;

 public:
  hca::model::ConnectX3Model model;
  RecordedCommands trace;
  std::optional<hca::model::InProcessFunction> function;
};

// Lets time pass, and interrupts come through, as a loop does.
inline void RunDevices(VirtualTimers& timers, absl::Duration span,
                       const std::vector<hca::mlx4::Mlx4Device*>& devices) {
  const absl::Time end = timers.Now() + span;
  do {
    timers.RunFor(std::min(span, absl::Microseconds(50)));
    for (hca::mlx4::Mlx4Device* const device : devices) {
      pollfd ready{device->interrupt_fd(), POLLIN, 0};
      if (poll(&ready, 1, 0) == 1) device->OnInterrupt();
    }
  } while (timers.Now() < end);
}

// A Mlx4Lab is a configured subnet in whose hosts there are modelled adapters:
// two hosts and a switch between, unless a test has another topology.
class Mlx4Lab : public ::testing::Test {
 protected:
  using Mlx4Device = hca::mlx4::Mlx4Device;

  explicit Mlx4Lab(topology::Topology topology = Chain(1))
      : lab_(std::move(topology), Lab::kStatically) {}

  hca::DeviceOptions Options() {
    return {
        .pause = [this](absl::Duration span) { timers_.RunFor(span); },
        .note = [this](std::string_view text) { notes_.emplace_back(text); },
        .name = "0000:3b:00.0"};
  }

  Mlx4Machine& PlugIn(const std::string& node = "host-1") {
    machines_.push_back(std::make_unique<Mlx4Machine>(lab_, node));
    return *machines_.back();
  }

  // Starts our driver, for the machine's function or another.
  std::unique_ptr<Mlx4Device> Start(Mlx4Machine& machine) {
    return Start(*machine.function);
  }
  std::unique_ptr<Mlx4Device> Start(hca::PciFunction& function) {
    auto device = Mlx4Device::Start(function, timers_, Options());
    if (!device.ok()) throw std::runtime_error(device.status().ToString());
    return *std::move(device);
  }

  void RunFor(absl::Duration span, const std::vector<Mlx4Device*>& devices) {
    RunDevices(timers_, span, devices);
  }

  Lab lab_;
  VirtualTimers& timers_ = lab_.timers;
  fabric::Fabric& fabric_ = lab_.fabric;
  std::vector<std::unique_ptr<Mlx4Machine>> machines_;
  std::vector<std::string> notes_;
};

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_MLX4_MACHINE_H_
