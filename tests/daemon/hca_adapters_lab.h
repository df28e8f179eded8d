// Modelled adapters in the hands of HcaAdapters.
#ifndef IBEMU_TESTS_DAEMON_HCA_ADAPTERS_LAB_H_
#define IBEMU_TESTS_DAEMON_HCA_ADAPTERS_LAB_H_

#include <memory>
#include <string>
#include <utility>

#include "daemon/adapters/hca_adapters.h"
#include "gtest/gtest.h"
#include "hca/model/in_process_function.h"
#include "testing/mlx4_machine.h"
#include "tests/daemon/virtual_loop.h"

namespace ibemu::daemon {

// They are in the place of host-1 and host-2.
class HcaAdaptersLab : public testing::Mlx4Lab {
 protected:
  testing::Mlx4Machine& PlugInAlone(const std::string& node) {
    testing::Mlx4Machine& host = PlugIn(node);
    host.function.reset();  // the adapters' own comes instead
    return host;
  }

  absl::Status Add(testing::Mlx4Machine& host, const std::string& name) {
    return adapters_.Add(
        name, std::make_unique<hca::model::InProcessFunction>(host.model));
  }

  // Until its port is active, too.
  testing::Mlx4Machine& Start(const std::string& node) {
    testing::Mlx4Machine& host = PlugInAlone(node);
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

#endif  // IBEMU_TESTS_DAEMON_HCA_ADAPTERS_LAB_H_
