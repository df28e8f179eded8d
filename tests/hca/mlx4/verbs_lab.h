// Programs that use the verbs of two modelled adapters, and talk.
#ifndef IBEMU_TESTS_HCA_MLX4_VERBS_LAB_H_
#define IBEMU_TESTS_HCA_MLX4_VERBS_LAB_H_

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "testing/mlx4_machine.h"
#include "testing/verbs_end.h"

namespace ibemu::hca::mlx4 {

using testing::FakeMemory, testing::Pattern, testing::VerbsEnd;

// A VerbsLab is two hosts with one switch between them, both of them adapters
// that our driver drives.
class VerbsLab : public testing::Mlx4Lab {
 protected:
  using Options = VerbsEnd::Options;

  VerbsLab() {
    device_a_ = Start(host_a_);
    device_b_ = Start(host_b_);
    Run(absl::Milliseconds(10));
  }
  ~VerbsLab() override {
    a_.reset();
    b_.reset();
  }

  std::unique_ptr<VerbsEnd> End(Mlx4Device& device,
                                const Options& options = {}) {
    return std::make_unique<VerbsEnd>(timers_, device.provider(), options);
  }
  void Make(const Options& a = {}, const Options& b = {}) {
    a_ = End(*device_a_, a);
    b_ = End(*device_b_, b);
  }
  // A connection, or two that exchange datagrams.
  void Connect(const Options& a = {}, const Options& b = {}) {
    Make(a, b);
    VerbsEnd::Join(*a_, *b_);
  }

  static uint16_t LidOf(Mlx4Device& device) {
    return static_cast<uint16_t>(device.port(1).Info().lid);
  }

  void Run(absl::Duration span = absl::Milliseconds(5)) {
    std::vector<Mlx4Device*> devices;
    if (device_a_) devices.push_back(device_a_.get());
    if (device_b_) devices.push_back(device_b_.get());
    RunFor(span, devices);
  }

  testing::Mlx4Machine& host_a_ = PlugIn("host-1");
  testing::Mlx4Machine& host_b_ = PlugIn("host-2");
  std::unique_ptr<Mlx4Device> device_a_, device_b_;
  std::unique_ptr<VerbsEnd> a_, b_;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_TESTS_HCA_MLX4_VERBS_LAB_H_
