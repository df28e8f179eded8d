// The broadcast group as an SA describes it, which may be nonsense.
#include <vector>

#include "ipoib/engine.h"
#include "testing/fake_provider.h"
#include "tests/mad/sa/sa_client_fixture.h"

namespace ibemu::ipoib {
namespace {

using mad::McMemberRecord;

class BroadcastGroupTest : public mad::SaClientFixture {
 protected:
  BroadcastGroupTest() {
    port_.info.port_state = mad::PortState::kActive;
    engine_ = std::make_unique<Engine>(
        Engine::Parts{timers_, host_, 1, provider_, *client_, members_},
        Random(7), std::vector<wire::IpNetwork>{});
  }

  // Answers the last join with a group of this MTU.
  void AnswerJoin(uint8_t mtu) {
    const size_t last = port_.sent.size() - 1;
    auto record = Asked<McMemberRecord>(last);
    record.mlid = wire::Lid{0xc000};
    record.mtu = mtu;
    Answer(last, record);
    timers_.RunPending();
    if (port_.sent.size() - 1 == last) return;
    Answer(last + 1, record);  // it leaves the group
    timers_.RunPending();
  }
  // Returns how many joins were sent.
  int Joins() const {
    int joins = 0;
    for (const mad::Outgoing& sent : port_.sent) {
      joins += wire::Get<&mad::MadHeader::method>(sent.mad) == mad::Method::kSet
                   ? 1
                   : 0;
    }
    return joins;
  }

  ibemu::testing::FakeProvider provider_;
  mad::MulticastMembers members_{timers_, provider_, 1, *client_};
  std::unique_ptr<Engine> engine_;
};

TEST_F(BroadcastGroupTest, AnMtuThatIsNoneIsRefusedAndTriedAgainLater) {
  int joins = 1;
  int pause = 1;
  for (const uint8_t mtu : {0, 6, 20, 63}) {
    AnswerJoin(mtu);
    EXPECT_EQ(engine_->broadcast_group(), nullptr) << int{mtu};
    EXPECT_FALSE(engine_->up());
    EXPECT_EQ(provider_.qp, nullptr);
    timers_.RunFor(absl::Seconds(pause) - absl::Milliseconds(1));
    EXPECT_EQ(Joins(), joins);
    timers_.RunFor(absl::Milliseconds(1));
    EXPECT_EQ(Joins(), ++joins);
    pause *= 2;
  }
  AnswerJoin(5);
  EXPECT_TRUE(engine_->up());
}

TEST_F(BroadcastGroupTest, TheSmallestMtuIsOne) {
  AnswerJoin(1);
  EXPECT_TRUE(engine_->up());
}

}  // namespace
}  // namespace ibemu::ipoib
