// Connections between machines, here by way of localhost.
#include "peers/lease_port.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "control/rpc.h"
#include "launch/pass_descriptor.h"
#include "loop/epoll_loop.h"
#include "nlohmann/json.hpp"
#include "peers/certificates.h"
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
    daemon::Connection connection;
    UniqueFd line;
    std::tie(line, connection.descriptor) = testing::SocketPair();
    json parameters = {{"token", token}};
    if (!address.empty()) parameters["address"] = address;
    const json request = {
        {"id", 1}, {"method", "lease.meet"}, {"params", parameters}};
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
  for (size_t i = 0; i < LeasePort::kMostStrangers + 20; ++i) {
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
  }
}

TEST_F(LeasePortTest, ATokenIsExpectedOnce) {
  Meet(token_);
  Meet(token_);
  EXPECT_EQ(said_["error"]["message"], "the token is not new");
}

}  // namespace
}  // namespace ibemu::peers
