#include "peers/tls_relay.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "peers/certificates.h"
#include "peers/node_link_carrier.h"
#include "testing/other_threads.h"
#include "testing/socket_pair.h"
#include "testing/temp_directory.h"

namespace ibemu::peers {
namespace {

// Reads until the end.
std::string ReadAll(const UniqueFd& socket) {
  std::string text;
  std::array<char, 65536> bytes;
  ssize_t count = 0;
  while ((count = read(socket.get(), bytes.data(), bytes.size())) > 0) {
    text.append(bytes.data(), static_cast<size_t>(count));
  }
  return text;
}

// Two machines, with a network between them that is listened to.
class TlsRelayTest : public ::testing::Test {
 protected:
  UniqueFd Start(TlsRelay::Side side, UniqueFd peer) {
    auto local =
        TlsRelay::Start(side, std::move(peer),
                        absl::StrCat(directory_.path(), "/lab/here"), running_);
    EXPECT_EQ(local.status(), absl::OkStatus());
    return *std::move(local);
  }

  TlsRelayTest() {
    EXPECT_EQ(MakeCertificates(absl::StrCat(directory_.path(), "/lab"),
                               {{{"here"}}}, 1),
              absl::OkStatus());
    auto [caller, from] = testing::SocketPair();
    auto [to, answerer] = testing::SocketPair();
    sender_ = Start(TlsRelay::Side::kClient, std::move(caller));
    receiver_ = Start(TlsRelay::Side::kServer, std::move(answerer));
    network_ = std::thread([this, from = std::move(from), to = std::move(to)] {
      Carry(from, to);
    });
  }
  ~TlsRelayTest() override {
    sender_.Reset();
    receiver_.Reset();
    network_.join();
    testing::AwaitOtherThreads();
    EXPECT_EQ(*running_, 0);
  }

  // Carries bytes both ways, and writes down those from `from`.
  void Carry(const UniqueFd& from, const UniqueFd& to) {
    std::thread back([&] {
      std::array<char, 4096> bytes;
      ssize_t count = 0;
      while ((count = read(to.get(), bytes.data(), bytes.size())) > 0 &&
             SendAll(from.get(), {bytes.data(), static_cast<size_t>(count)})) {
      }
      shutdown(from.get(), SHUT_RDWR);
    });
    std::array<char, 4096> bytes;
    ssize_t count = 0;
    while ((count = read(from.get(), bytes.data(), bytes.size())) > 0) {
      seen_.append(bytes.data(), static_cast<size_t>(count));
      if (!SendAll(to.get(), {bytes.data(), static_cast<size_t>(count)})) break;
    }
    shutdown(to.get(), SHUT_RDWR);
    back.join();
  }

  const testing::TempDirectory directory_;
  UniqueFd sender_, receiver_;
  std::string seen_;
  const std::shared_ptr<std::atomic<int>> running_ =
      std::make_shared<std::atomic<int>>(0);
  std::thread network_;
};

TEST_F(TlsRelayTest, AllThatWasSentArrivesBeforeTheEnd) {
  std::string sent;
  while (sent.size() < 5 << 20) absl::StrAppend(&sent, "packet ", sent.size());
  std::thread writes([&] {
    EXPECT_TRUE(SendAll(sender_.get(), sent));
    sender_.Reset();
  });
  EXPECT_TRUE(ReadAll(receiver_) == sent);
  writes.join();
}

TEST_F(TlsRelayTest, NobodyBetweenThemReadsIt) {
  const std::string secret = "the payload of a packet";
  EXPECT_TRUE(SendAll(sender_.get(), secret));
  std::string come(secret.size(), ' ');
  ASSERT_EQ(recv(receiver_.get(), come.data(), come.size(), MSG_WAITALL),
            static_cast<ssize_t>(come.size()));
  EXPECT_EQ(come, secret);
  sender_.Reset();
  receiver_.Reset();
  network_.join();
  network_ = std::thread([] {});
  EXPECT_GT(seen_.size(), secret.size());
  EXPECT_EQ(seen_.find(secret), std::string::npos);
}

TEST_F(TlsRelayTest, WhoReceivesCanHangUp) {
  EXPECT_TRUE(SendAll(sender_.get(), "!"));
  std::array<char, 8> bytes;
  ASSERT_EQ(read(receiver_.get(), bytes.data(), bytes.size()), 1);
  receiver_.Reset();
  EXPECT_EQ(ReadAll(sender_), "");
}

}  // namespace
}  // namespace ibemu::peers
