#include "daemon/capture/capture_methods.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <string>

#include "daemon/adapters/fabric_adapters.h"
#include "loop/epoll_loop.h"
#include "nlohmann/json.hpp"
#include "testing/lab.h"
#include "testing/socket_pair.h"
#include "tests/daemon/connection.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using testing::Lab, testing::Chain;

class CaptureMethodsTest : public ::testing::Test {
 protected:
  CaptureMethodsTest() { methods_.AddTo(dispatcher_); }

  void GiveSocket() {
    std::tie(reader_, connection_.descriptor) = testing::SocketPair();
  }

  // The sentence of the error; empty when there is none.
  std::string Start(const json& ports) { return Ask({{"ports", ports}}); }
  std::string Ask(const json& parameters) {
    const json request = {
        {"id", 1}, {"method", "capture.start"}, {"params", parameters}};
    const json answer =
        json::parse(dispatcher_.Handle(request.dump(), connection_));
    return answer.contains("error")
               ? answer["error"]["message"].get<std::string>()
               : "";
  }

  Lab lab_{Chain(1)};
  std::unique_ptr<Loop> loop_ = EpollLoop::Create().value();
  FabricAdapters adapters_{lab_.fabric};
  HostTable hosts_{*loop_, adapters_};
  CaptureMethods methods_{*loop_, hosts_, &lab_.fabric};
  control::MethodTable dispatcher_;
  Connection connection_;
  UniqueFd reader_;
};

TEST_F(CaptureMethodsTest, ACaptureLastsAsLongAsTheConnection) {
  GiveSocket();
  EXPECT_EQ(Start({"sw1/1", "host-2/1"}), "");
  ASSERT_EQ(connection_.kept.size(), 1u);
  connection_.kept.clear();
  char byte;
  EXPECT_EQ(recv(reader_.get(), &byte, 1, MSG_DONTWAIT), 0);
}

TEST_F(CaptureMethodsTest, UnknownPortsAreNamed) {
  GiveSocket();
  EXPECT_EQ(Start({"sw1/9"}),
            "port 9 of \"sw1\" does not exist: it has ports 1 to 8");
  EXPECT_EQ(Start({"sw2/1"}), "no node \"sw2\": did you mean \"sw1\"?");
  EXPECT_EQ(Start({"sw1"}),
            "\"sw1\" names no port: write NODE/PORT, as in sw1/3");
  EXPECT_TRUE(connection_.kept.empty());
}

TEST_F(CaptureMethodsTest, AHostIsACaHostOrASwitch) {
  for (const char* name : {"host-1", "sw1"}) {
    GiveSocket();
    EXPECT_EQ(Ask({{"host", name}}), "");
  }
  EXPECT_EQ(connection_.kept.size(), 2u);
}

TEST_F(CaptureMethodsTest, AHostThatCannotBeCapturedIsNamed) {
  GiveSocket();
  EXPECT_EQ(Ask({{"host", "host-3"}}),
            "no node \"host-3\": did you mean \"host-1\"?");
  EXPECT_EQ(Ask({{"host", "host-1"}, {"ports", {"sw1/1"}}}),
            "--host=host-1 captures the MADs of a host, sw1/1 the packets of a "
            "link: name one or the other");
  ASSERT_TRUE(lab_.fabric.RemoveDevice(lab_.Host(1)).ok());
  EXPECT_EQ(Ask({{"host", "host-1"}}),
            "the device of \"host-1\" is removed: put it back with \"ibemu "
            "device host-1 add\"");
  EXPECT_TRUE(connection_.kept.empty());
}

TEST_F(CaptureMethodsTest, WhereThereIsNoFabricThereAreNoLinks) {
  CaptureMethods methods(*loop_, hosts_, nullptr);
  dispatcher_ = {};
  methods.AddTo(dispatcher_);
  GiveSocket();
  const std::string refusal =
      "this daemon drives adapters and has no simulated subnet whose links "
      "could be captured: name an adapter with --host";
  EXPECT_EQ(Start(json::array()), refusal);
  EXPECT_EQ(Start({"sw1/1"}), refusal);
  EXPECT_EQ(Ask({{"host", "host-1"}}), "");
  connection_.kept.clear();
}

TEST_F(CaptureMethodsTest, OnlyASocketCanBeWrittenToWithoutWaiting) {
  EXPECT_EQ(Start(json::array()),
            "capture.start needs a unix stream socket with the request");
  std::array<int, 2> ends;
  ASSERT_EQ(pipe(ends.data()), 0);
  reader_.Reset(ends[0]);
  connection_.descriptor.Reset(ends[1]);
  EXPECT_EQ(Start(json::array()),
            "capture.start needs a unix stream socket with the request");
}

TEST_F(CaptureMethodsTest, ThereIsAPlaceAgainWhenOneHasEnded) {
  for (size_t i = 0; i < CaptureMethods::kMaxCaptures; ++i) {
    GiveSocket();
    EXPECT_EQ(Start(json::array()), "");
  }
  GiveSocket();
  EXPECT_EQ(Start(json::array()), "a daemon has at most 8 captures");
  connection_.kept.pop_back();
  GiveSocket();
  EXPECT_EQ(Start(json::array()), "");
}

}  // namespace
}  // namespace ibemu::daemon
