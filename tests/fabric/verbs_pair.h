// A conversation between queue pairs of two hosts.
#ifndef IBEMU_TESTS_FABRIC_VERBS_PAIR_H_
#define IBEMU_TESTS_FABRIC_VERBS_PAIR_H_

#include <gtest/gtest.h>

#include <memory>

#include "testing/lab.h"
#include "testing/verbs_end.h"

namespace ibemu::fabric {

using testing::FakeMemory, testing::Pattern, testing::VerbsEnd;

// A VerbsPair is two hosts with one switch between them.
class VerbsPair : public ::testing::Test {
 protected:
  std::unique_ptr<VerbsEnd> End(topology::NodeId node, verbs::QpType type) {
    VerbsEnd::Options options;
    options.type = type;
    options.rights = VerbsEnd::kAllRights;
    return std::make_unique<VerbsEnd>(lab_.timers, lab_.fabric.provider(node),
                                      options);
  }
  void Connect(verbs::QpType type, uint32_t mtu = 3) {
    a_ = End(lab_.Host(1), type);
    b_ = End(lab_.Host(2), type);
    VerbsEnd::Join(*a_, *b_, mtu);
  }
  void Settle(absl::Duration time = absl::Seconds(10)) {
    lab_.timers.RunFor(time);
  }
  void Lose(double chance) {
    lab_.AddFault(lab_.Host(1), 1, Fabric::Direction::kTransmit,
                  {.loss = chance});
  }

  testing::Lab lab_{testing::Chain(1), testing::Lab::kStatically};
  std::unique_ptr<VerbsEnd> a_, b_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_TESTS_FABRIC_VERBS_PAIR_H_
