// Two connection managers over a wire that loses, doubles and delays: both
// sides end alike.
#include <string>

#include "tests/cm/fixture.h"

namespace ibemu::cm {
namespace {

using Kind = CmEvent::Kind;

constexpr int kConnections = 20;

// One end of a connection, and what it believes.
enum class Belief { kOpen, kConnected, kOver };

// A Party connects or answers, may reject, and disconnects once; what it does
// is chance.
class Party : public CmIdOwner, public CmListener {
 public:
  explicit Party(Random random) : random_(random) {}

  void Begin(ConnectionManager& manager, const CmRequest& request) {
    Add(manager.Create(*this));
    ASSERT_TRUE(ends_.back().id->SendReq(request).ok());
  }

  void OnRequest(std::unique_ptr<CmId> id, const Arrived& arrived) override {
    if (random_.Chance(0.1)) return;  // REJ 28
    id->SetOwner(*this);
    if (random_.Chance(0.3)) {
      EXPECT_TRUE(id->PrepareMra().ok());
    }
    EXPECT_TRUE(id->SendRep({.qpn = arrived.request.qpn + 0x10000}).ok());
    Add(std::move(id));
  }

  void OnCmEvent(CmId& id, const CmEvent& event) override {
    End& end = Of(id);
    switch (event.kind) {
      case Kind::kRep:
        if (random_.Chance(0.1)) {
          EXPECT_TRUE(id.SendRej(RejectReason::kConsumerDefined, {}, {}).ok());
          end.belief = Belief::kOver;
          return;
        }
        EXPECT_TRUE(id.SendRtu({}).ok());
        end.belief = Belief::kConnected;
        return;
      case Kind::kRtu:
        end.belief = Belief::kConnected;
        return;
      case Kind::kDreq:
        EXPECT_TRUE(id.SendDrep({}).ok());
        end.belief = Belief::kOver;
        return;
      case Kind::kTimewaitExit:
        end.id.reset();
        return;
      default:
        end.belief = Belief::kOver;
        return;
    }
  }

  // Disconnects, or drops, some of what is connected.
  void EndSome() {
    for (End& end : ends_) {
      if (end.id == nullptr || end.belief != Belief::kConnected) continue;
      if (random_.Chance(0.3)) {
        // The peer's DREQ may have come first.
        end.id->SendDreq({}).IgnoreError();
      } else if (random_.Chance(0.1)) {
        end.id.reset();
        end.belief = Belief::kOver;
      }
    }
  }

  void DestroyAll() { ends_.clear(); }

  int Count(Belief belief) const {
    return static_cast<int>(std::ranges::count_if(
        ends_, [&](const End& end) { return end.belief == belief; }));
  }

 private:
  struct End {
    std::unique_ptr<CmId> id;
    Belief belief = Belief::kOpen;
  };

  void Add(std::unique_ptr<CmId> id) { ends_.push_back({.id = std::move(id)}); }
  End& Of(const CmId& id) {
    return *std::ranges::find_if(
        ends_, [&](const End& end) { return end.id.get() == &id; });
  }

  Random random_;
  std::vector<End> ends_;
};

class LossyConnectionsTest : public CmTest,
                             public ::testing::WithParamInterface<int> {
 protected:
  LossyConnectionsTest() {
    for (Node* node : {&client_, &server_}) {
      node->port().on_transmit = [this, node](const mad::Outgoing& packet) {
        while (true) {
          if (!random_.Chance(loss_)) CarryLate(*node, packet);
          if (!random_.Chance(0.05)) return;  // a copy, now and then
        }
      };
    }
  }

  void CarryLate(Node& from, const mad::Outgoing& packet) {
    Node& to = &from == &client_ ? server_ : client_;
    timers_.RunAfter(
        absl::Milliseconds(static_cast<int64_t>(random_.Below(50))),
        [&from, &to, packet] {
          to.port().Receive({.qp = 1,
                             .slid = from.port().info.lid,
                             .source_qpn = 1,
                             .mad = packet.mad});
        });
  }

  Random random_ = Random(static_cast<uint64_t>(GetParam()));
  double loss_ = 0.2;
  Party active_{Random(static_cast<uint64_t>(GetParam()) + 1000)};
  Party passive_{Random(static_cast<uint64_t>(GetParam()) + 2000)};
};

TEST_P(LossyConnectionsTest, BothSidesEndAlike) {
  auto listening = server_.manager->Listen(kService, passive_);
  ASSERT_TRUE(listening.ok());
  for (uint32_t i = 0; i < kConnections; ++i) {
    active_.Begin(*client_.manager, Ask(0x1000 + i));
    timers_.RunFor(absl::Milliseconds(100));
  }
  // Longer than all retries: everything is decided.
  timers_.RunFor(absl::Minutes(30));
  EXPECT_EQ(active_.Count(Belief::kOpen), 0);
  EXPECT_EQ(passive_.Count(Belief::kOpen), 0);
  EXPECT_EQ(active_.Count(Belief::kConnected),
            passive_.Count(Belief::kConnected));
  EXPECT_GT(active_.Count(Belief::kConnected), 0);
  EXPECT_TRUE(timers_.idle());

  active_.EndSome();
  passive_.EndSome();
  timers_.RunFor(absl::Minutes(60));
  EXPECT_TRUE(timers_.idle());

  // What a lost DREQ of a destroyed id left open is destroyed, too.
  active_.DestroyAll();
  passive_.DestroyAll();
  timers_.RunFor(absl::Minutes(60));
  EXPECT_TRUE(timers_.idle());
}

TEST_P(LossyConnectionsTest, NothingIsLeftWhenThePeerIsSilent) {
  auto listening = server_.manager->Listen(kService, passive_);
  ASSERT_TRUE(listening.ok());
  for (uint32_t i = 0; i < kConnections; ++i) {
    active_.Begin(*client_.manager, Ask(0x1000 + i));
  }
  timers_.RunFor(absl::Milliseconds(20));  // in the middle of it
  loss_ = 1;
  timers_.RunFor(absl::Minutes(60));
  EXPECT_TRUE(timers_.idle());
  EXPECT_EQ(active_.Count(Belief::kOpen), 0);
  EXPECT_EQ(passive_.Count(Belief::kOpen), 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, LossyConnectionsTest, ::testing::Range(1, 33));

}  // namespace
}  // namespace ibemu::cm
