// Connections between two hosts.
#include "cm/connection_manager.h"

#include "tests/cm/fixture.h"

namespace ibemu::cm {
namespace {

using Kind = Event::Kind;

class ConnectionManagerTest : public CmTest {};

TEST_F(ConnectionManagerTest, ThreeMessagesConnectAndTwoDisconnect) {
  Connect();

  ASSERT_TRUE(id_->SendDreq({}).ok());
  Settle();
  EXPECT_THAT(server_.user.TakeKinds(), ElementsAre(Kind::kDreq));
  ASSERT_TRUE(peer().SendDrep({}).ok());
  Settle();
  EXPECT_THAT(client_.user.TakeKinds(), ElementsAre(Kind::kDrep));
  EXPECT_THAT(TakeSent(), ElementsAre(Message::kDreq, Message::kDrep));

  timers_.RunFor(absl::Seconds(3));
  EXPECT_THAT(client_.user.TakeKinds(), ElementsAre(Kind::kTimewaitExit));
  EXPECT_THAT(server_.user.TakeKinds(), ElementsAre(Kind::kTimewaitExit));
  EXPECT_TRUE(timers_.idle());
}

}  // namespace
}  // namespace ibemu::cm
