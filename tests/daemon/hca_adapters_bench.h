// Modelled adapters in the hands of HcaAdapters.
#ifndef IBEMU_TESTS_DAEMON_HCA_ADAPTERS_BENCH_H_
#define IBEMU_TESTS_DAEMON_HCA_ADAPTERS_BENCH_H_

#include <memory>
#include <string>
#include <utility>

#include "daemon/adapters/hca_adapters.h"
#include "gtest/gtest.h"
#include "hca/model/in_process_function.h"
#include "tests/daemon/virtual_loop.h"
#include "tests/hca/mlx4/driver_bench.h"

namespace ibemu::daemon {

// They are in the place of host-1 and host-2.
class HcaAdaptersBench : public hca::mlx4::DriverBench {
 protected:
  hca::mlx4::ModelledHost& PlugInAlone(const std::string& node) {
    hca::mlx4::ModelledHost& host = PlugIn(node);
    host.function.reset();  // the adapters' own comes instead
    return host;
  }

  absl::Status Add(hca::mlx4::ModelledHost& host, const std::string& name) {
    return adapters_.Add(
        name, std::make_unique<hca::model::InProcessFunction>(host.model));
  }

  // Until its port is active, too.
  hca::mlx4::ModelledHost& Start(const std::string& node) {
    hca::mlx4::ModelledHost& host = PlugInAlone(node);
    const absl::Status added = Add(host, "lab/" + node);
    EXPECT_TRUE(added.ok()) << added;
    Run(absl::Milliseconds(10));
    return host;
  }

  void Run(absl::Duration span) {
    const absl::Time end = timers_.Now() + span;
    do {
      timers_.RunFor(absl::Milliseconds(1));
      loop_.Poll();
    } while (timers_.Now() < end);
  }

  VirtualLoop loop_{timers_};
  HcaAdapters adapters_{loop_,
                        [this](absl::Duration span) { timers_.RunFor(span); }};
};

}  // namespace ibemu::daemon

#endif  // IBEMU_TESTS_DAEMON_HCA_ADAPTERS_BENCH_H_
