// A conversation between queue pairs of two hosts.
#ifndef IBEMU_TESTS_FABRIC_VERBS_PAIR_H_
#define IBEMU_TESTS_FABRIC_VERBS_PAIR_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/fabric/verbs_peer.h"

namespace ibemu::fabric {

// Two hosts with one switch between them.
class VerbsPair : public ::testing::Test {
 protected:
  void Connect(verbs::QpType type, uint32_t rights = VerbsPeer::kAll,
               uint32_t mtu = 3) {
    row_.Configure();
    a_ = std::make_unique<VerbsPeer>(row_, row_.host_1, type);
    b_ = std::make_unique<VerbsPeer>(row_, row_.host_2, type, rights);
    a_->Connect(*b_, 2, mtu);
    b_->Connect(*a_, 1, mtu);
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
  static std::string Pattern(size_t size) {
    std::string text(size, ' ');
    for (size_t i = 0; i < size; ++i) {
      text[i] = static_cast<char>(i * 7 + i / 251);
    }
    return text;
  }

  RowFabric row_{1};
  std::unique_ptr<VerbsPeer> a_, b_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_TESTS_FABRIC_VERBS_PAIR_H_
