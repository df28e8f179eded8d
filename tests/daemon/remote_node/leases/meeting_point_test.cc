#include "daemon/remote_node/leases/meeting_point.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "launch/pass_descriptor.h"
#include "nlohmann/json.hpp"
#include "testing/socket_pair.h"
#include "testing/virtual_timers.h"
#include "tests/daemon/connection.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;

class MeetingPointTest : public ::testing::Test {
 protected:
  MeetingPointTest() { point_.AddTo(methods_); }

  // Returns the line by which the other's connection comes.
  UniqueFd Come(const std::string& token) {
    Connection connection;
    UniqueFd line;
    std::tie(line, connection.descriptor) = testing::SocketPair();
    const json request = {
        {"id", 1}, {"method", "lease.meet"}, {"params", {{"token", token}}}};
    const json answer =
        json::parse(methods_.Handle(request.dump(), connection));
    error_ = answer.contains("error") ? answer["error"]["message"] : "";
    return line;
  }
  static bool HearsNothing(const UniqueFd& line) {
    char byte = 0;
    return recv(line.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0;
  }

  const std::string kA = std::string(32, 'a'), kB = std::string(32, 'b');
  testing::VirtualTimers timers_;
  MeetingPoint point_{timers_};
  control::MethodTable methods_;
  std::string error_;
};

TEST_F(MeetingPointTest, ThoseWithOneTokenAreConnected) {
  const UniqueFd first = Come(kA), other = Come(kB);
  EXPECT_TRUE(HearsNothing(first));
  const UniqueFd second = Come(kA);
  const UniqueFd one = launch::ReceiveDescriptor(first.get());
  const UniqueFd another = launch::ReceiveDescriptor(second.get());
  ASSERT_EQ(write(one.get(), "!", 1), 1);
  char byte = 0;
  ASSERT_EQ(read(another.get(), &byte, 1), 1);
  EXPECT_EQ(byte, '!');
  EXPECT_TRUE(HearsNothing(other));
}

TEST_F(MeetingPointTest, ATokenIsGoodForTwo) {
  const UniqueFd first = Come(kA), second = Come(kA), third = Come(kA);
  EXPECT_TRUE(launch::ReceiveDescriptor(second.get()).valid());
  EXPECT_TRUE(HearsNothing(third));
}

TEST_F(MeetingPointTest, AShortTokenIsNone) {
  Come("");
  EXPECT_EQ(error_, "a token has 32 digits");
}

TEST_F(MeetingPointTest, WhoTakesNothingKeepsNobodyWaiting) {
  // The line of the first is full.
  Connection connection;
  UniqueFd line;
  std::tie(line, connection.descriptor) = testing::SocketPair();
  while (send(connection.descriptor.get(), "x", 1, MSG_DONTWAIT) == 1) {
  }
  const json request = {
      {"id", 1}, {"method", "lease.meet"}, {"params", {{"token", kA}}}};
  methods_.Handle(request.dump(), connection);
  const UniqueFd second = Come(kA);
  const UniqueFd socket = launch::ReceiveDescriptor(second.get());
  ASSERT_TRUE(socket.valid());
  char byte = 0;
  EXPECT_EQ(read(socket.get(), &byte, 1), 0);
}

TEST_F(MeetingPointTest, WhoWaitsTooLongIsLetGo) {
  const UniqueFd line = Come(kA);
  timers_.RunFor(MeetingPoint::kWaitsFor);
  EXPECT_FALSE(launch::ReceiveDescriptor(line.get()).valid());
  const UniqueFd late = Come(kA);
  EXPECT_TRUE(HearsNothing(late));
}

TEST_F(MeetingPointTest, OneThatHasGoneIsNoHarmToTheOther) {
  Come(kA).Reset();
  const UniqueFd second = Come(kA);
  const UniqueFd connection = launch::ReceiveDescriptor(second.get());
  ASSERT_TRUE(connection.valid());
  char byte = 0;
  EXPECT_EQ(read(connection.get(), &byte, 1), 0);
}

}  // namespace
}  // namespace ibemu::daemon
