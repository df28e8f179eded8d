// Programs that use the verbs of two modelled adapters, and talk.
#ifndef IBEMU_TESTS_HCA_MLX4_VERBS_BENCH_H_
#define IBEMU_TESTS_HCA_MLX4_VERBS_BENCH_H_

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <vector>

#include "testing/verbs_end.h"
#include "tests/hca/mlx4/driver_bench.h"

namespace ibemu::hca::mlx4 {

using testing::FakeMemory, testing::Pattern, testing::VerbsEnd;

// Two hosts with one switch between them, both of them adapters of ours.
class VerbsBench : public DriverBench {
 protected:
  using Options = VerbsEnd::Options;

  VerbsBench() {
    device_a_ = Start(host_a_);
    device_b_ = Start(host_b_);
    if (!device_a_ || !device_b_) throw std::runtime_error("no driver");
    Run(absl::Milliseconds(10));
  }
  ~VerbsBench() override {
    a_.reset();
    b_.reset();
  }

  void Make(const Options& a, const Options& b) {
    a_ = std::make_unique<VerbsEnd>(timers_, device_a_->provider(), a);
    b_ = std::make_unique<VerbsEnd>(timers_, device_b_->provider(), b);
  }
  // A connection, or two that exchange datagrams.
  void Connect(const Options& a, const Options& b) {
    Make(a, b);
    a_->Connect(VerbsEnd::Towards(b_->qp->number(), LidOf(*device_b_)));
    b_->Connect(VerbsEnd::Towards(a_->qp->number(), LidOf(*device_a_)));
  }
  void Connect() { Connect({}, {}); }

  static uint16_t LidOf(Mlx4Device& device) {
    return static_cast<uint16_t>(device.port(1).Info().lid);
  }

  void Run(absl::Duration span = absl::Milliseconds(5)) {
    std::vector<Mlx4Device*> devices;
    if (device_a_) devices.push_back(device_a_.get());
    if (device_b_) devices.push_back(device_b_.get());
    RunFor(span, devices);
  }

  ModelledHost& host_a_ = PlugIn("host-1");
  ModelledHost& host_b_ = PlugIn("host-2");
  std::unique_ptr<Mlx4Device> device_a_, device_b_;
  std::unique_ptr<VerbsEnd> a_, b_;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_TESTS_HCA_MLX4_VERBS_BENCH_H_
