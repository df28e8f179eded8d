// Our driver, an adapter's model in the same process, and the simulated subnet
// that its ports are plugged into.
#ifndef IBEMU_TESTS_HCA_MLX4_DRIVER_BENCH_H_
#define IBEMU_TESTS_HCA_MLX4_DRIVER_BENCH_H_

#include <poll.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/remote_node/fabric_cable.h"
#include "fabric/fabric.h"
#include "gtest/gtest.h"
#include "hca/mlx4/mlx4_device.h"
#include "hca/model/in_process_function.h"
#include "hca/model/mlx4/firmware/connectx3_model.h"
#include "mad/device.h"
#include "testing/row_topology.h"
#include "testing/virtual_timers.h"

namespace ibemu::hca::mlx4 {

// Writes commands down.
class CommandTrace : public model::CommandObserver {
 public:
  void OnCommand(const model::CommandRecord& record) override {
    records.push_back(record);
  }

  // Without repetitions of the same one.
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const model::CommandRecord& record : records) {
      std::string name(prm::Name(record.opcode));
      if (names.empty() || names.back() != name) names.push_back(name);
    }
    return names;
  }

  std::vector<model::CommandRecord> records;
};

class RecordingDeviceListener : public mad::DeviceListener {
 public:
  void OnPortEvent(int port) override { events.push_back(port); }
  void OnRemoved() override { ++removals; }

  std::vector<int> events;
  int removals = 0;
};

// A modelled adapter in the place of a node, and its machine.
class ModelledHost {
 public:
  ModelledHost(Timers& timers, fabric::Fabric& fabric, const std::string& node)
      : cables_(*daemon::FabricCables::Plug(fabric, *fabric.Find(node))),
        model(timers, Cables()) {
    model.AddObserver(trace);
    function.emplace(model);
  }

 private:
  std::vector<model::Cable*> Cables() {
    std::vector<model::Cable*> cables;
    for (int port = 1; port <= cables_->port_count(); ++port) {
      cables.push_back(&cables_->cable(port));
    }
    return cables;
  }

  std::unique_ptr<daemon::FabricCables> cables_;

 public:
  model::ConnectX3Model model;
  CommandTrace trace;
  std::optional<model::InProcessFunction> function;
};

// Two hosts and a switch between, unless a test has another subnet.
class DriverBench : public ::testing::Test {
 protected:
  explicit DriverBench(const topology::Topology& topology = testing::Row(1))
      : fabric_(topology, timers_, {}) {
    EXPECT_TRUE(fabric::ConfigureStatically(fabric_).ok());
  }

  DeviceOptions Options() {
    return {
        .pause = [this](absl::Duration span) { timers_.RunFor(span); },
        .note = [this](std::string_view text) { notes_.emplace_back(text); },
        .name = "0000:3b:00.0"};
  }

  ModelledHost& PlugIn(const std::string& node = "host-1") {
    hosts_.push_back(std::make_unique<ModelledHost>(timers_, fabric_, node));
    return *hosts_.back();
  }

  std::unique_ptr<Mlx4Device> Start(ModelledHost& host) {
    auto device = Mlx4Device::Start(*host.function, timers_, Options());
    EXPECT_TRUE(device.ok()) << device.status();
    return device.ok() ? *std::move(device) : nullptr;
  }

  // Lets time pass, and interrupts come through, as a loop does.
  void RunFor(absl::Duration span, const std::vector<Mlx4Device*>& devices) {
    const absl::Time end = timers_.Now() + span;
    do {
      timers_.RunFor(absl::Microseconds(50));
      for (Mlx4Device* const device : devices) {
        pollfd ready{device->interrupt_fd(), POLLIN, 0};
        if (poll(&ready, 1, 0) == 1) device->OnInterrupt();
      }
    } while (timers_.Now() < end);
  }

  testing::VirtualTimers timers_;
  fabric::Fabric fabric_;
  std::vector<std::unique_ptr<ModelledHost>> hosts_;
  std::vector<std::string> notes_;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_TESTS_HCA_MLX4_DRIVER_BENCH_H_
