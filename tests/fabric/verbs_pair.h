// A conversation between queue pairs of two hosts.
#ifndef IBEMU_TESTS_FABRIC_VERBS_PAIR_H_
#define IBEMU_TESTS_FABRIC_VERBS_PAIR_H_

#include <gtest/gtest.h>

#include <memory>

#include "testing/verbs_end.h"
#include "tests/fabric/small_fabric.h"

namespace ibemu::fabric {

using testing::FakeMemory, testing::Pattern, testing::VerbsEnd;

// Two hosts with one switch between them.
class VerbsPair : public ::testing::Test {
 protected:
  std::unique_ptr<VerbsEnd> End(topology::NodeId node, verbs::QpType type) {
    VerbsEnd::Options options;
    options.type = type;
    options.rights = VerbsEnd::kAllRights;
    return std::make_unique<VerbsEnd>(row_.timers, row_.fabric.provider(node),
                                      options);
  }
  // The first is on host 1, the second on host 2; `mtu` is a code.
  static void Join(VerbsEnd& one, VerbsEnd& two, uint32_t mtu = 3) {
    const auto connect = [&](VerbsEnd& end, const VerbsEnd& peer,
                             uint16_t lid) {
      verbs::QpAttributes to = VerbsEnd::Towards(peer.qp->number(), lid);
      to.path_mtu = mtu;
      end.Connect(to);
    };
    connect(one, two, 2);
    connect(two, one, 1);
  }
  void Connect(verbs::QpType type, uint32_t mtu = 3) {
    row_.Configure();
    a_ = End(row_.host_1, type);
    b_ = End(row_.host_2, type);
    Join(*a_, *b_, mtu);
  }
  void Settle(absl::Duration time = absl::Seconds(10)) {
    row_.timers.RunFor(time);
  }
  void Lose(double chance) {
    ASSERT_TRUE(row_.fabric
                    .AddFault(row_.host_1, 1, Fabric::Direction::kTransmit,
                              {.loss = chance})
                    .ok());
  }

  RowFabric row_{1};
  std::unique_ptr<VerbsEnd> a_, b_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_TESTS_FABRIC_VERBS_PAIR_H_
