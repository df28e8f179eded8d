// Queue pairs that move to an alternate path (IBA vol 1 §17.2.8).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "fabric/soft_hca/hca.h"
#include "fabric/soft_hca/queue_pair.h"
#include "testing/lab.h"
#include "testing/verbs_end.h"

namespace ibemu::fabric {
namespace {

using ::testing::AllOf, ::testing::Each, ::testing::ElementsAre,
    ::testing::IsEmpty, ::testing::SizeIs;
using testing::VerbsEnd;
using verbs::AsyncEventType, verbs::MigrationState, verbs::QpType;

// Two hosts of two ports, which are cabled to one switch.
constexpr char kTwoRails[] = R"(
switchguid=0x50
Switch 4 "S-1" # "sw1"
[1] "H-1"[1]
[2] "H-1"[2]
[3] "H-2"[1]
[4] "H-2"[2]

caguid=0x10
Ca 2 "H-1" # "host-1"
[1](11) "S-1"[1]
[2](12) "S-1"[2]

caguid=0x20
Ca 2 "H-2" # "host-2"
[1](21) "S-1"[3]
[2](22) "S-1"[4]
)";

class QueuePairMigrationTest : public ::testing::Test {
 protected:
  // A connection by the first ports.
  void Connect(QpType type = QpType::kRc) {
    a_ = End(1, type);
    b_ = End(2, type);
    VerbsEnd::Join(*a_, *b_);
  }
  std::unique_ptr<VerbsEnd> End(int host, QpType type) {
    VerbsEnd::Options options;
    options.type = type;
    options.rights = VerbsEnd::kAllRights;
    return std::make_unique<VerbsEnd>(lab_.timers, lab_.Provider(host),
                                      options);
  }

  // With the path from port `port` to the peer's port of this number.
  static void Rearm(VerbsEnd& end, const VerbsEnd& peer, uint8_t port = 2) {
    const auto lid = peer.provider.QueryPort(port)->lid;
    const absl::Status status = end.Rearm(VerbsEnd::AlternatePath(port, lid));
    EXPECT_TRUE(status.ok()) << status;
  }
  static absl::Status Move(VerbsEnd& end) {
    verbs::QpAttributes move{};
    move.qp_attr_mask = verbs::qp_attribute::kMigrationState;
    return end.qp->Modify(move);
  }
  static MigrationState StateOf(const VerbsEnd& end) {
    return MigrationState{end.qp->Query().path_mig_state};
  }
  void ConnectArmed(QpType type = QpType::kRc) {
    Connect(type);
    Rearm(*a_, *b_);
    Rearm(*b_, *a_);
    EXPECT_TRUE(Comes(*a_, *b_));
    EXPECT_TRUE(Comes(*b_, *a_));
    ASSERT_EQ(StateOf(*a_), MigrationState::kArmed);
    ASSERT_EQ(StateOf(*b_), MigrationState::kArmed);
  }

  // Sends a message; returns whether it came, and was completed with success.
  bool Comes(VerbsEnd& from, VerbsEnd& to) {
    EXPECT_TRUE(to.Receive(0, 10).ok());
    EXPECT_TRUE(from.Send(0, 10).ok());
    lab_.timers.RunFor(absl::Seconds(10));
    const auto sent = from.PollStatuses(), received = to.PollStatuses();
    return sent == std::vector<uint32_t>{0} &&
           received == std::vector<uint32_t>{0};
  }
  void Cut(int host, int port) { lab_.SetLink(lab_.Host(host), port, false); }

  testing::Lab lab_{kTwoRails, testing::Lab::kStatically};
  std::unique_ptr<VerbsEnd> a_, b_;
};

TEST_F(QueuePairMigrationTest, MovesWhenItsRetriesAreUsedUp) {
  ConnectArmed();
  Cut(1, 1);
  EXPECT_TRUE(Comes(*a_, *b_));
  for (const auto& end : {a_.get(), b_.get()}) {
    EXPECT_THAT(end->events, ElementsAre(AsyncEventType::kPathMigrated));
    EXPECT_EQ(StateOf(*end), MigrationState::kMigrated);
    EXPECT_EQ(end->qp->Query().port_num, 2);
  }
  EXPECT_EQ(a_->qp->Query().ah_attr.dlid, b_->provider.QueryPort(2)->lid);
  EXPECT_TRUE(Comes(*b_, *a_));
  EXPECT_THAT(a_->events, SizeIs(1));
}

// Its own retries are nearly used up when it follows its peer.
TEST_F(QueuePairMigrationTest, BothEndsMayHaveBeenSending) {
  ConnectArmed();
  Cut(1, 1);
  for (const auto& end : {a_.get(), b_.get()}) {
    ASSERT_TRUE(end->Receive(0, 10).ok());
    ASSERT_TRUE(end->Send(0, 10).ok());
  }
  lab_.timers.RunFor(absl::Seconds(10));
  for (const auto& end : {a_.get(), b_.get()}) {
    EXPECT_THAT(end->PollStatuses(), ElementsAre(0u, 0u));
    EXPECT_THAT(end->events, ElementsAre(AsyncEventType::kPathMigrated));
  }
}

TEST_F(QueuePairMigrationTest, NoMessageIsLostOrDoubledOnTheWay) {
  ConnectArmed();
  Cut(2, 1);
  constexpr int kMessages = 20;
  for (int i = 0; i < kMessages; ++i) {
    ASSERT_TRUE(b_->Receive(0, 5000).ok());
    ASSERT_TRUE(a_->Send(0, 5000).ok());
  }
  ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_READ, 0, 5000, *b_, 0).ok());
  lab_.timers.RunFor(absl::Seconds(10));
  EXPECT_THAT(a_->PollStatuses(), AllOf(SizeIs(kMessages + 1), Each(0u)));
  EXPECT_THAT(b_->PollStatuses(), AllOf(SizeIs(kMessages), Each(0u)));
}

// What the first port did not bring is counted there.
TEST_F(QueuePairMigrationTest, CountersStayWithThePort) {
  ConnectArmed();
  Cut(1, 1);
  EXPECT_TRUE(Comes(*a_, *b_));
  auto& hca = dynamic_cast<Hca&>(a_->provider);
  EXPECT_GT(hca.CountersOf(1).local_ack_timeout_err, 0u);
  EXPECT_EQ(hca.CountersOf(2).local_ack_timeout_err, 0u);
}

TEST_F(QueuePairMigrationTest, IsNotArmedBeforeThePeerIsRearmed) {
  Connect();
  Rearm(*a_, *b_);
  EXPECT_TRUE(Comes(*a_, *b_));
  EXPECT_EQ(StateOf(*a_), MigrationState::kRearm);
  Cut(1, 1);
  EXPECT_FALSE(Comes(*a_, *b_));
  EXPECT_EQ(a_->State(), verbs::QpState::kError);
  EXPECT_THAT(a_->events, IsEmpty());
}

TEST_F(QueuePairMigrationTest, AProgramMovesItAndThePeerFollows) {
  ConnectArmed();
  EXPECT_TRUE(Move(*a_).ok());
  EXPECT_EQ(a_->qp->Query().port_num, 2);
  EXPECT_TRUE(Comes(*a_, *b_));
  EXPECT_EQ(b_->qp->Query().port_num, 2);
  for (const auto& end : {a_.get(), b_.get()}) {
    EXPECT_THAT(end->events, ElementsAre(AsyncEventType::kPathMigrated));
  }
  EXPECT_TRUE(Move(*a_).ok()) << "it has moved";
  EXPECT_THAT(a_->events, SizeIs(1));
  const QueuePairHistory* const history =
      lab_.fabric.histories().Find(lab_.Host(1), a_->qp->number());
  EXPECT_EQ(history->peer()->lid, wire::Lid{b_->provider.QueryPort(2)->lid})
      << "ibemu why looks for the peer there";
}

TEST_F(QueuePairMigrationTest, AnUnreliableConnectionMovesAsItsPeerDoes) {
  ConnectArmed(QpType::kUc);
  EXPECT_TRUE(Move(*a_).ok());
  EXPECT_TRUE(Comes(*a_, *b_));
  EXPECT_THAT(b_->events, ElementsAre(AsyncEventType::kPathMigrated));
  EXPECT_TRUE(Comes(*b_, *a_));
}

TEST_F(QueuePairMigrationTest, GoesBackOnceItIsArmedAgain) {
  ConnectArmed();
  Cut(1, 1);
  EXPECT_TRUE(Comes(*a_, *b_));
  lab_.SetLink(lab_.Host(1), 1, true);
  lab_.Configure();
  Rearm(*a_, *b_, 1);
  Rearm(*b_, *a_, 1);
  EXPECT_TRUE(Comes(*a_, *b_));
  ASSERT_EQ(StateOf(*a_), MigrationState::kArmed);
  Cut(1, 2);
  EXPECT_TRUE(Comes(*a_, *b_));
  EXPECT_EQ(a_->qp->Query().port_num, 1);
  EXPECT_THAT(a_->events, SizeIs(2));
}

TEST_F(QueuePairMigrationTest, FailsWhereTheAlternatePathLeadsNowhereEither) {
  ConnectArmed();
  Cut(1, 1);
  Cut(1, 2);
  ASSERT_TRUE(a_->Send(0, 10).ok());
  lab_.timers.RunFor(absl::Seconds(10));
  EXPECT_THAT(a_->PollStatuses(),
              ElementsAre(verbs::wc_status::kRetriesExceeded));
  EXPECT_THAT(a_->events, ElementsAre(AsyncEventType::kPathMigrated));
}

TEST_F(QueuePairMigrationTest, DoesNotFollowOutOfItsPartition) {
  ConnectArmed(QpType::kUc);
  lab_.PortOf(lab_.Host(2), 2).SetPKey(0, 0x8001);
  lab_.PortOf(lab_.Host(2), 2).SetPKey(1, 0xffff);
  EXPECT_TRUE(Move(*a_).ok());
  EXPECT_FALSE(Comes(*a_, *b_));
  EXPECT_EQ(StateOf(*b_), MigrationState::kArmed);
  EXPECT_EQ(b_->qp->Query().port_num, 1);
}

// As loaded and asked for by one call.
TEST_F(QueuePairMigrationTest, AProgramMayLoadAnotherPathAsItMoves) {
  ConnectArmed();
  verbs::QpAttributes path =
      VerbsEnd::AlternatePath(1, b_->provider.QueryPort(2)->lid);
  path.alt_timeout = 9;
  path.qp_attr_mask |= verbs::qp_attribute::kMigrationState;
  EXPECT_TRUE(a_->qp->Modify(path).ok());
  const verbs::QpAttributes now = a_->qp->Query();
  EXPECT_EQ(StateOf(*a_), MigrationState::kMigrated);
  EXPECT_EQ(now.port_num, 1);
  EXPECT_EQ(now.ah_attr.dlid, b_->provider.QueryPort(2)->lid);
  EXPECT_EQ(now.timeout, 9);
}

TEST_F(QueuePairMigrationTest, MovesWhileItsSendQueueIsDrained) {
  ConnectArmed();
  a_->Drain();
  lab_.timers.RunPending();
  verbs::QpAttributes move{};
  move.timeout = 9;
  EXPECT_TRUE(a_->TryModify(move, verbs::QpState::kSendQueueDrain,
                            verbs::qp_attribute::kMigrationState |
                                verbs::qp_attribute::kTimeout)
                  .ok());
  EXPECT_EQ(a_->qp->Query().timeout, 9) << "as the same call says";
  a_->Modify({}, verbs::QpState::kReadyToSend);
  EXPECT_EQ(a_->qp->Query().port_num, 2);
  EXPECT_TRUE(Comes(*a_, *b_));
  EXPECT_EQ(b_->qp->Query().port_num, 2);
}

TEST_F(QueuePairMigrationTest, UsesTheAlternatePathsPKey) {
  constexpr int kIndex = 2;
  constexpr uint16_t kPartition = 0x8005;
  Connect();
  for (const int host : {1, 2}) {
    lab_.PortOf(lab_.Host(host), 2).SetPKey(0, 0x7001 + host);
    lab_.PortOf(lab_.Host(host), 2).SetPKey(kIndex, kPartition);
  }
  for (auto [end, peer] :
       {std::pair(a_.get(), b_.get()), std::pair(b_.get(), a_.get())}) {
    verbs::QpAttributes path =
        VerbsEnd::AlternatePath(2, peer->provider.QueryPort(2)->lid);
    path.alt_pkey_index = kIndex;
    ASSERT_TRUE(end->Rearm(path).ok());
  }
  EXPECT_TRUE(Comes(*a_, *b_));
  EXPECT_TRUE(Comes(*b_, *a_));
  Cut(1, 1);
  EXPECT_TRUE(Comes(*a_, *b_));
  for (const auto& end : {a_.get(), b_.get()}) {
    EXPECT_EQ(end->qp->Query().port_num, 2);
    EXPECT_EQ(end->qp->Query().pkey_index, kIndex);
  }
}

// A stranger at the peer's second port knows the queue pair's number.
TEST_F(QueuePairMigrationTest, DoesNotFollowAnotherQueuePair) {
  ConnectArmed();
  const auto stranger = End(1, QpType::kRc);
  verbs::QpAttributes to = VerbsEnd::Towards(*b_);
  to.port_num = to.ah_attr.port_num = 2;
  to.ah_attr.dlid = b_->provider.QueryPort(2)->lid;
  stranger->Connect(to);
  EXPECT_FALSE(Comes(*stranger, *b_));
  EXPECT_EQ(StateOf(*b_), MigrationState::kArmed);
  EXPECT_EQ(b_->qp->Query().port_num, 1);
  EXPECT_THAT(b_->events, IsEmpty());
}

TEST_F(QueuePairMigrationTest, IsForgottenByAReset) {
  ConnectArmed();
  a_->Modify({}, verbs::QpState::kReset);
  EXPECT_EQ(StateOf(*a_), MigrationState::kMigrated);
  EXPECT_EQ(a_->qp->Query().alt_port_num, 0);
}

}  // namespace
}  // namespace ibemu::fabric
