#include "control/send_buffer.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <vector>

#include "base/unique_fd.h"
#include "testing/socket_pair.h"

namespace ibemu::control {
namespace {

using Outcome = SendBuffer::Outcome;

class SendBufferTest : public ::testing::Test {
 protected:
  SendBufferTest() { std::tie(near_, far_) = testing::SocketPair(); }

  // More than a socket takes, each byte another than its neighbours.
  void Fill(size_t size = size_t{8} << 20) {
    for (size_t i = 0; i < size; ++i) {
      buffer_.bytes().push_back(static_cast<std::byte>(appended_++ % 251));
    }
  }
  // Reads so many bytes, and checks that they are the next ones.
  void Read(size_t size) {
    std::vector<std::byte> bytes(size);
    ASSERT_EQ(recv(far_.get(), bytes.data(), size, MSG_WAITALL | MSG_DONTWAIT),
              static_cast<ssize_t>(size));
    for (const std::byte byte : bytes) {
      ASSERT_EQ(byte, static_cast<std::byte>(read_++ % 251));
    }
  }

  UniqueFd near_, far_;
  SendBuffer buffer_;
  size_t appended_ = 0, read_ = 0;
};

TEST_F(SendBufferTest, SendsAllThatTheSocketTakes) {
  Fill(1000);
  EXPECT_EQ(buffer_.waiting(), 1000u);
  EXPECT_EQ(buffer_.Send(near_.get()), Outcome::kAllSent);
  EXPECT_EQ(buffer_.waiting(), 0u);
  EXPECT_EQ(buffer_.size(), 0u);
  Read(1000);
}

TEST_F(SendBufferTest, KeepsTheRestInItsOrder) {
  Fill();
  while (buffer_.Send(near_.get()) == Outcome::kNoRoom) {
    ASSERT_GT(buffer_.waiting(), 0u);
    Read(appended_ - buffer_.waiting() - read_);
    if (appended_ < size_t{16} << 20) Fill(size_t{1} << 20);
  }
  Read(appended_ - read_);
}

TEST_F(SendBufferTest, NeverKeepsMoreThanTwiceWhatWaits) {
  Fill();
  while (buffer_.Send(near_.get()) == Outcome::kNoRoom) {
    ASSERT_LE(buffer_.size(), 2 * buffer_.waiting());
    Read(appended_ - buffer_.waiting() - read_);
  }
  EXPECT_EQ(buffer_.size(), 0u);
}

TEST_F(SendBufferTest, DropsWhatNobodyReads) {
  Fill();
  far_.Reset();
  EXPECT_EQ(buffer_.Send(near_.get()), Outcome::kLost);
  EXPECT_EQ(buffer_.waiting(), 0u);
}

TEST_F(SendBufferTest, DropsWhatItsOwnerDoesNotWantToSend) {
  Fill();
  EXPECT_EQ(buffer_.Send(near_.get()), Outcome::kNoRoom);
  buffer_.Clear();
  EXPECT_EQ(buffer_.waiting(), 0u);
  Fill(10);
  EXPECT_EQ(buffer_.waiting(), 10u);
}

}  // namespace
}  // namespace ibemu::control
