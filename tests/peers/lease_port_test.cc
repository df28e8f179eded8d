// Connections between machines, here by way of localhost.
#include "peers/lease_port.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "control/method_table.h"
#include "launch/pass_descriptor.h"
#include "loop/epoll_loop.h"
#include "nlohmann/json.hpp"
#include "peers/certificates.h"
#include "peers/token_connection.h"
#include "testing/other_threads.h"
#include "testing/socket_pair.h"
#include "testing/temp_directory.h"
#include "tests/daemon/connection.h"

namespace ibemu::peers {
namespace {

using nlohmann::json;

class LeasePortTest : public ::testing::Test {
 protected:
  LeasePortTest() { port_->AddTo(methods_); }
  void TearDown() override {
    port_.reset();
    testing::AwaitOtherThreads();
  }

  // The line by which the connection comes.
  UniqueFd Meet(const std::string& token, const std::string& address = "") {
    return Meet(methods_, token, address);
  }
  UniqueFd Meet(const control::MethodTable& methods, const std::string& token,
                const std::string& address) {
    json parameters = {{"token", token}};
    if (!address.empty()) parameters["address"] = address;
    return Ask(methods, "lease.meet", parameters);
  }
  // The same for a connection of packets.
  UniqueFd AwaitPackets(const std::string& token) {
    return Ask(methods_, "packets.await", {{"token", token}});
  }
  UniqueFd Ask(const control::MethodTable& methods, const char* method,
               const json& parameters) {
    daemon::Connection connection;
    UniqueFd line;
    std::tie(line, connection.descriptor) = testing::SocketPair();
    const json request = {
        {"id", 1}, {"method", method}, {"params", parameters}};
    said_ = json::parse(methods.Handle(request.dump(), connection));
    return line;
  }
  std::string Here() const {
    return absl::StrCat("127.0.0.1:", port_->number());
  }

  void TurnLoop() {
    loop_->Post([this] { loop_->Stop(); });
    loop_->Run();
  }
  // Until something comes, or the end of it.
  void Await(const UniqueFd& line) {
    ASSERT_TRUE(loop_->Watch(line.get(), [this] { loop_->Stop(); }).ok());
    loop_->Run();
    loop_->Forget(line.get());
  }
  UniqueFd Connection(const UniqueFd& line) {
    Await(line);
    return launch::ReceiveDescriptor(line.get());
  }

  // Whoever knows the port.
  UniqueFd Stranger() const {
    UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(port_->number());
    EXPECT_EQ(connect(socket.get(), reinterpret_cast<const sockaddr*>(&to),
                      sizeof to),
              0);
    return socket;
  }
  // Waits for the end of it, before which nothing may come but, where
  // `encrypted`, the reason.
  bool IsClosed(const UniqueFd& stranger, bool encrypted = false) {
    char byte = 0;
    while (true) {
      Await(stranger);
      if (recv(stranger.get(), &byte, 1, MSG_DONTWAIT) <= 0) return true;
      if (!encrypted) return false;
    }
  }

  // Makes a folder of certificates below directory_ for "here", of an authority
  // `name`.
  std::string Certificates(const std::string& name) const {
    const std::string folder = absl::StrCat(directory_.path(), "/", name);
    EXPECT_EQ(MakeCertificates(folder, {{{"here"}}}, 1), absl::OkStatus());
    return absl::StrCat(folder, "/here");
  }

  const testing::TempDirectory directory_;
  const std::string certificates_ = Certificates("lab");
  std::unique_ptr<Loop> loop_ = EpollLoop::Create().value();
  std::unique_ptr<LeasePort> port_ =
      LeasePort::Open(*loop_, certificates_).value();
  control::MethodTable methods_;
  json said_;
  const std::string token_ = "000102030405060708090a0b0c0d0eff";
};

// Each with connections in the clear, and with encrypted ones.
class ClearOrEncrypted : public LeasePortTest,
                         public ::testing::WithParamInterface<bool> {
 protected:
  ClearOrEncrypted() { port_->SetEncrypts(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(All, ClearOrEncrypted, ::testing::Bool());

TEST_P(ClearOrEncrypted, ThoseWhoKnowTheTokenAreConnected) {
  const UniqueFd receiver = Meet(token_), sender = Meet(token_, Here());
  const UniqueFd from = Connection(sender), to = Connection(receiver);
  ASSERT_TRUE(from.valid());
  ASSERT_TRUE(to.valid());
  ASSERT_EQ(write(from.get(), "!", 1), 1);
  Await(to);
  std::array<char, 8> bytes;
  ASSERT_EQ(read(to.get(), bytes.data(), bytes.size()), 1);
  EXPECT_EQ(bytes[0], '!') << "and nothing of the token";
}

TEST_P(ClearOrEncrypted, ATokenIsGoodOnce) {
  const UniqueFd receiver = Meet(token_), sender = Meet(token_, Here());
  ASSERT_TRUE(Connection(sender).valid());
  ASSERT_TRUE(Connection(receiver).valid());
  const UniqueFd again = Connection(Meet(token_, Here()));
  // Where all is encrypted, the caller has waited for the answer.
  EXPECT_EQ(again.valid(), !GetParam());
  EXPECT_TRUE(!again.valid() || IsClosed(again));
}

TEST_P(ClearOrEncrypted, WhoKnowsNoTokenIsClosedUnheard) {
  const UniqueFd receiver = Meet(token_);
  const UniqueFd stranger = Stranger();
  ASSERT_EQ(write(stranger.get(), "GET / HTTP/1.1\r\n\r\n", 18), 18);
  EXPECT_TRUE(IsClosed(stranger, GetParam()));
  const UniqueFd sender = Meet(token_, Here());
  EXPECT_TRUE(Connection(receiver).valid());
}

TEST_P(ClearOrEncrypted, ManyWhoSayNothingKeepNobodyOut) {
  std::vector<UniqueFd> silent;
  for (size_t i = 0; i < LeasePort::kMaxStrangers + 20; ++i) {
    silent.push_back(Stranger());
    TurnLoop();
  }
  const UniqueFd receiver = Meet(token_), sender = Meet(token_, Here());
  EXPECT_TRUE(Connection(receiver).valid());
  EXPECT_TRUE(IsClosed(silent.front()));
}

TEST_P(ClearOrEncrypted, ALineToNobodyIsClosed) {
  for (const char* address :
       {"127.0.0.1:1", "localhost:1", "10.0.0.1", "[::1]:x"}) {
    EXPECT_FALSE(Connection(Meet(token_, address)).valid()) << address;
  }
}

TEST_F(LeasePortTest, WhoProvesNothingIsNotHeardWhereAllIsEncrypted) {
  port_->SetEncrypts(true);
  const UniqueFd receiver = Meet(token_);
  const auto in_the_clear = LeasePort::Open(*loop_, certificates_).value();
  control::MethodTable methods;
  in_the_clear->AddTo(methods);
  const UniqueFd stranger = Connection(Meet(methods, token_, Here()));
  EXPECT_TRUE(IsClosed(stranger, true));
  const UniqueFd sender = Meet(token_, Here());
  EXPECT_TRUE(Connection(receiver).valid());
}

TEST_F(LeasePortTest, APeerOfAnotherAuthorityIsNotHeard) {
  port_->SetEncrypts(true);
  const UniqueFd receiver = Meet(token_);
  const std::string others = Certificates("others");
  const auto other = LeasePort::Open(*loop_, others).value();
  other->SetEncrypts(true);
  control::MethodTable methods;
  other->AddTo(methods);
  EXPECT_FALSE(Connection(Meet(methods, token_, Here())).valid())
      << "it does not trust us";
  // Nor do we trust one that does.
  std::filesystem::copy_file(absl::StrCat(certificates_, "/", kAuthorityFile),
                             absl::StrCat(others, "/", kAuthorityFile),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_FALSE(Connection(Meet(methods, token_, Here())).valid());
  const UniqueFd sender = Meet(token_, Here());
  EXPECT_TRUE(Connection(receiver).valid());
}

TEST_F(LeasePortTest, WithoutCertificatesNothingIsEncryptedAndNobodyMet) {
  port_->SetEncrypts(true);
  std::filesystem::remove_all(certificates_);
  const UniqueFd receiver = Meet(token_);
  EXPECT_FALSE(Connection(Meet(token_, Here())).valid());
  EXPECT_TRUE(IsClosed(Stranger()));
}

TEST_F(LeasePortTest, WhatIsNoTokenIsRefused) {
  for (const std::string& token :
       {std::string("00"), std::string(32, 'g'), token_ + "00"}) {
    Meet(token);
    EXPECT_EQ(said_["error"]["message"], "a token has 32 digits");
    AwaitPackets(token);
    EXPECT_EQ(said_["error"]["message"], "a token has 32 digits");
  }
}

// As the machine does that has the subnet.
TEST_P(ClearOrEncrypted, PacketsHaveAConnectionOfWhoKnowsTheToken) {
  const UniqueFd line = AwaitPackets(token_);
  const Tls tls{.certificates = certificates_};
  absl::StatusOr<UniqueFd> from;
  std::thread caller([&] {
    from = ConnectByToken(Here(), absl::HexStringToBytes(token_),
                          kPacketsGiveUpAfter, GetParam() ? &tls : nullptr);
  });
  const UniqueFd to = Connection(line);
  caller.join();
  ASSERT_TRUE(from.ok()) << from.status();
  ASSERT_TRUE(to.valid());
  ASSERT_EQ(write(from->get(), "!", 1), 1);
  Await(to);
  std::array<char, 8> bytes;
  EXPECT_EQ(read(to.get(), bytes.data(), bytes.size()), 1);
}

// A daemon that is stopped for a while reads nothing meanwhile.
TEST_F(LeasePortTest, PacketsAreWaitedForLongerThanThoseOfALease) {
  const auto option = [](const UniqueFd& socket, int level, int name) {
    int value = 0;
    socklen_t size = sizeof value;
    EXPECT_EQ(getsockopt(socket.get(), level, name, &value, &size), 0);
    return value;
  };
  const auto gives_up_after = [&](const UniqueFd& socket) {
    const auto after =
        absl::Milliseconds(option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT));
    EXPECT_EQ(option(socket, SOL_SOCKET, SO_KEEPALIVE),
              after == kPacketsGiveUpAfter);
    return after;
  };
  const UniqueFd receiver = Meet(token_), sender = Meet(token_, Here());
  EXPECT_EQ(gives_up_after(Connection(sender)), kLeaseGivesUpAfter);
  EXPECT_EQ(gives_up_after(Connection(receiver)), kLeaseGivesUpAfter);
  const UniqueFd line = AwaitPackets(token_);
  const auto from = ConnectByToken(Here(), absl::HexStringToBytes(token_),
                                   kPacketsGiveUpAfter, nullptr);
  ASSERT_TRUE(from.ok()) << from.status();
  EXPECT_EQ(gives_up_after(*from), kPacketsGiveUpAfter);
  EXPECT_EQ(gives_up_after(Connection(line)), kPacketsGiveUpAfter);
}

TEST_F(LeasePortTest, ATokenIsExpectedForAsLongAsSomebodyWaits) {
  AwaitPackets(token_).Reset();
  for (int turn = 0; turn < 10; ++turn) TurnLoop();
  const UniqueFd line = AwaitPackets(token_);
  EXPECT_FALSE(said_.contains("error")) << said_;
}

TEST_F(LeasePortTest, ATokenIsExpectedOnce) {
  const UniqueFd line = Meet(token_);
  Meet(token_);
  EXPECT_EQ(said_["error"]["message"], "the token is not new");
}

}  // namespace
}  // namespace ibemu::peers
