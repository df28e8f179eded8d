#include "control/control_server.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <string>

#include "control/client.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "loop/epoll_loop.h"
#include "nlohmann/json.hpp"
#include "testing/socket_pair.h"

namespace ibemu::control {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kGreeting[] = "hello";

class ControlServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    loop_ = EpollLoop::Create().value();
    dispatcher_.Add(
        "echo", [](Parameters& parameters, Caller&) -> absl::StatusOr<json> {
          return json(parameters.Text("text", ""));
        });
    dispatcher_.Add(
        "big", [](Parameters& parameters, Caller&) -> absl::StatusOr<json> {
          return json(std::string(
              static_cast<size_t>(parameters.Number("size", 0, 0, 1 << 30)),
              'x'));
        });
    dispatcher_.Add("descriptor",
                    [](Parameters&, Caller& caller) -> absl::StatusOr<json> {
                      return json(caller.TakeDescriptor().valid());
                    });
    dispatcher_.Add(
        "keep", [this](Parameters&, Caller& caller) -> absl::StatusOr<json> {
          caller.Keep(std::shared_ptr<void>(&kept_ended_, [](void* flag) {
            *static_cast<bool*>(flag) = true;
          }));
          return json(caller.pid());
        });
    server_ = std::make_unique<ControlServer>(*loop_, dispatcher_, kGreeting);
    Connect([this] { ended_ = true; });
    Settle();
  }

  // Makes a new connection, which is `client_` from now on.
  void Connect(const std::function<void()>& on_end) {
    auto [ours, servers] = testing::SocketPair();
    client_ = std::move(ours);
    server_->Adopt(std::move(servers), on_end);
  }

  // Runs what is ready until nothing is.
  void Settle() {
    for (int i = 0; i < 3; ++i) {
      loop_->RunAfter(absl::ZeroDuration(), [this] {
        loop_->RunAfter(absl::ZeroDuration(), [this] { loop_->Stop(); });
      });
      loop_->Run();
    }
  }

  void Say(const std::string& text) {
    ASSERT_EQ(send(client_.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }

  void SayWith(const std::string& text, int fd) {
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    iovec data{const_cast<char*>(text.data()), text.size()};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
    ASSERT_GT(sendmsg(client_.get(), &message, 0), 0);
  }

  // Everything that has arrived; "EOF" at the end of a closed connection.
  std::string Hear() {
    std::string text;
    std::array<char, 65536> buffer;
    while (true) {
      const ssize_t size =
          recv(client_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (size == 0) return text + "EOF";
      if (size < 0) return text;
      text.append(buffer.data(), static_cast<size_t>(size));
    }
  }

  static std::string Echo(const std::string& text) {
    return R"({"id":1,"method":"echo","params":{"text":")" + text + "\"}}\n";
  }
  static std::string Answer(const std::string& text) {
    return R"({"id":1,"jsonrpc":"2.0","result":")" + text + "\"}\n";
  }

  std::unique_ptr<Loop> loop_;
  MethodTable dispatcher_;
  bool kept_ended_ = false;
  bool ended_ = false;
  std::unique_ptr<ControlServer> server_;
  UniqueFd client_;
};

TEST_F(ControlServerTest, TellsItsClientsThatItEndsWhenItWasAskedTo) {
  Hear();
  server_->AnnounceEnd();
  EXPECT_EQ(Hear(), "{\"jsonrpc\":\"2.0\",\"method\":\"ending\"}\n");
}

TEST_F(ControlServerTest, EachClientIsGreeted) { EXPECT_EQ(Hear(), "hello\n"); }

TEST_F(ControlServerTest, RequestsThatArriveTogetherAreAnsweredInOrder) {
  Hear();
  Say(Echo("a") + Echo("b"));
  Settle();
  EXPECT_EQ(Hear(), Answer("a") + Answer("b"));
}

TEST_F(ControlServerTest, ARequestMayArriveInPieces) {
  Hear();
  const std::string request = Echo("a");
  for (const char c : request) {
    Say(std::string(1, c));
    Settle();
  }
  EXPECT_EQ(Hear(), Answer("a"));
}

TEST_F(ControlServerTest, AnOversizedLineIsRefusedAndTheClientToo) {
  Hear();
  const std::string flood(64 * 1024, 'x');
  for (int i = 0; i < 5; ++i) {
    send(client_.get(), flood.data(), flood.size(),
         MSG_NOSIGNAL | MSG_DONTWAIT);
    for (int round = 0; round < 3; ++round) Settle();
  }
  EXPECT_THAT(Hear(), HasSubstr("a line may have 262144 bytes"));
  EXPECT_TRUE(ended_);
}

// Its responses wait for it, and nothing more is read; others are served.
TEST_F(ControlServerTest, AClientThatDoesNotReadStopsNobodyElse) {
  Hear();
  const std::string big = R"({"id":1,"method":"big","params":{"size":4000000}})"
                          "\n";
  Say(big + big + Echo("at last"));
  Settle();

  UniqueFd patient = std::move(client_);
  Connect(nullptr);
  Say(Echo("b"));
  Settle();
  EXPECT_EQ(Hear(), "hello\n" + Answer("b"));

  client_ = std::move(patient);
  std::string heard;
  for (int i = 0; i < 1000 && heard.size() < 8'000'000; ++i) {
    heard += Hear();
    Settle();
  }
  heard += Hear();
  EXPECT_GT(heard.size(), 8'000'000u);
  EXPECT_TRUE(heard.ends_with(Answer("at last")));
}

TEST_F(ControlServerTest, AClosedConnectionLetsGoOfWhatItKept) {
  Hear();
  Say("{\"id\":1,\"method\":\"keep\"}\n");
  Settle();
  EXPECT_THAT(Hear(), HasSubstr("\"result\":" + std::to_string(getpid())));
  EXPECT_FALSE(kept_ended_);
  client_.Reset();
  Settle();
  EXPECT_TRUE(kept_ended_);
  EXPECT_TRUE(ended_);
}

TEST_F(ControlServerTest, ADescriptorBelongsToTheRequestThatItCameWith) {
  Hear();
  const std::string request = "{\"id\":1,\"method\":\"descriptor\"}\n";
  SayWith(request, client_.get());
  Say(request);
  Settle();
  EXPECT_EQ(Hear(),
            "{\"id\":1,\"jsonrpc\":\"2.0\",\"result\":true}\n"
            "{\"id\":1,\"jsonrpc\":\"2.0\",\"result\":false}\n");
}

TEST_F(ControlServerTest, TooManyConnectionsAreTurnedAway) {
  std::vector<UniqueFd> clients;
  for (size_t i = 1; i < ControlServer::kMaxConnections; ++i) {
    clients.push_back(std::move(client_));
    Connect(nullptr);
  }
  clients.push_back(std::move(client_));
  Connect(nullptr);
  Settle();
  const std::string answer = Hear();
  EXPECT_THAT(answer, HasSubstr("has 256 connections already"));
  EXPECT_TRUE(answer.ends_with("EOF"));
}

}  // namespace
}  // namespace ibemu::control
