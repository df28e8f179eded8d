// Packets that wait for a path, and paths that are known.
#include "ipoib/unicast_sender.h"

#include <vector>

#include "tests/ipoib/packets.h"
#include "tests/mad/sa/sa_client_fixture.h"

namespace ibemu::ipoib {
namespace {

using mad::PathRecord;
using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::SizeIs;

class UnicastSenderTest : public mad::SaClientFixture {
 protected:
  void Send(const HardwareAddress& to, int packet) {
    sender_.Send(kHardwareOne.gid, 0xffff, to, {std::byte(packet)});
  }
  std::vector<int> Numbers() const {
    std::vector<int> numbers;
    for (const Sent& sent : sent_) numbers.push_back(int(sent.packet.at(0)));
    return numbers;
  }

  struct Sent {
    verbs::AddressAttributes to;
    uint32_t qpn;
    std::vector<std::byte> packet;
  };
  std::vector<Sent> sent_;
  UnicastSender sender_{*client_, 1,
                        [this](const verbs::AddressAttributes& to, uint32_t qpn,
                               const std::vector<std::byte>& packet) {
                          sent_.push_back({to, qpn, packet});
                        }};
};

TEST_F(UnicastSenderTest, AsksForAPathAsLinuxDoes) {
  Send(kHardwareTwo, 1);
  ASSERT_THAT(port_.sent, SizeIs(1));
  EXPECT_EQ(wire::Decode<mad::SaHeader>(port_.sent[0].mad).component_mask,
            0x340cu);
  EXPECT_EQ(Asked<PathRecord>(0), (PathRecord{.dgid = kHardwareTwo.gid,
                                              .sgid = kHardwareOne.gid,
                                              .num_path = 1,
                                              .p_key = 0xffff}));
}

TEST_F(UnicastSenderTest, ThreePacketsWaitForAPath) {
  for (const int packet : {1, 2, 3, 4}) Send(kHardwareTwo, packet);
  EXPECT_THAT(sent_, IsEmpty());
  Answer(0, PathRecord{.dlid = wire::Lid{9}, .sl = 2});
  EXPECT_THAT(Numbers(), ElementsAre(1, 2, 3));
  EXPECT_EQ(sent_[0].to.dlid, 9);
  EXPECT_EQ(sent_[0].to.sl, 2);
  EXPECT_EQ(sent_[0].to.is_global, 0);
  EXPECT_EQ(sent_[0].qpn, 0x22u);
}

TEST_F(UnicastSenderTest, AKnownPathIsNotAskedForAgainUntilItIsForgotten) {
  Send(kHardwareTwo, 1);
  Answer(0, PathRecord{});
  Send(kHardwareTwo, 2);
  EXPECT_THAT(Numbers(), ElementsAre(1, 2));
  EXPECT_THAT(port_.sent, SizeIs(1));
  sender_.Forget();
  Send(kHardwareTwo, 3);
  EXPECT_THAT(port_.sent, SizeIs(2));
}

TEST_F(UnicastSenderTest, APathToAnotherSubnetHasAGlobalRoute) {
  Send(kHardwareTwo, 1);
  Answer(0, PathRecord{.dgid = kHardwareTwo.gid, .hop_limit = 64});
  EXPECT_EQ(sent_.at(0).to.is_global, 1);
  EXPECT_EQ(sent_[0].to.grh.hop_limit, 64);
  EXPECT_EQ(sent_[0].to.grh.dgid[15], 0x01);
}

TEST_F(UnicastSenderTest, PacketsAreLostWithTheirPath) {
  Send(kHardwareTwo, 1);
  timers_.RunFor(absl::Milliseconds(1100));
  EXPECT_THAT(port_.sent, SizeIs(11));
  Send(kHardwareTwo, 2);  // asks again
  ASSERT_THAT(port_.sent, SizeIs(12));
  Answer(11, PathRecord{});
  EXPECT_THAT(Numbers(), ElementsAre(2));
}

TEST_F(UnicastSenderTest, InventedNeighboursDoNotAddUp) {
  HardwareAddress nobody = kHardwareTwo;
  for (size_t i = 0; i < 2 * UnicastSender::kMaxPaths; ++i) {
    ++nobody.gid.interface_id;
    Send(nobody, 1);
  }
  EXPECT_THAT(port_.sent, SizeIs(UnicastSender::kMaxPaths));
}

}  // namespace
}  // namespace ibemu::ipoib
