#include "cuse/client/client_memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <optional>

#include "testing/post_box.h"
#include "testing/virtual_timers.h"
#include "tests/cuse/other_process.h"

namespace ibemu::cuse {
namespace {

// The client is this process.
class ClientMemoryTest : public ::testing::Test {
 protected:
  absl::Status Run(bool write, std::vector<verbs::MemoryPiece> pieces) {
    std::optional<absl::Status> status;
    const auto done = [&status](const absl::Status& made) { status = made; };
    if (write) {
      memory_.Write(std::move(pieces), done);
    } else {
      memory_.Read(std::move(pieces), done);
    }
    EXPECT_FALSE(status.has_value()) << "not before it returned";
    while (!status) posts_.WaitAndRun();
    return *status;
  }

  testing::VirtualTimers timers_;
  testing::PostBox posts_;
  WorkerPool workers_{timers_, posts_.Poster()};
  std::shared_ptr<PinnedPages> pinned_ = std::make_shared<PinnedPages>(0);
  ClientMemory memory_{workers_, ClientId{static_cast<uint64_t>(getpid())},
                       pinned_};
  std::array<char, 16> there_ = {"hello, world"};
  verbs::Buffer buffer_ = std::make_shared<std::vector<std::byte>>(16);
  uint64_t address_ = reinterpret_cast<uintptr_t>(there_.data());
};

TEST_F(ClientMemoryTest, GathersAndScattersPieces) {
  ASSERT_TRUE(
      Run(false, {{address_ + 7, buffer_, 0, 5}, {address_, buffer_, 5, 5}})
          .ok());
  EXPECT_EQ(std::memcmp(buffer_->data(), "worldhello", 10), 0);
  ASSERT_TRUE(Run(true, {{address_, buffer_, 0, 10}}).ok());
  EXPECT_STREQ(there_.data(), "worldhellold");
}

TEST_F(ClientMemoryTest, SaysThatThereIsNothing) {
  EXPECT_TRUE(absl::IsDataLoss(Run(false, {{8, buffer_, 0, 5}})));
  EXPECT_TRUE(absl::IsDataLoss(
      Run(true, {{address_, buffer_, 0, 5}, {8, buffer_, 0, 5}})));
}

TEST_F(ClientMemoryTest, PinsWhatIsThere) {
  const auto pin = [this](uint64_t address) {
    std::optional<absl::StatusOr<std::unique_ptr<verbs::Memory::Pin>>> pinned;
    memory_.PinPages(address, 16, true,
                     [&pinned](auto made) { pinned = std::move(made); });
    while (!pinned) posts_.WaitAndRun();
    return *std::move(pinned);
  };
  EXPECT_TRUE(absl::IsDataLoss(pin(8).status()));
  EXPECT_TRUE(pin(address_).ok());
  // Beside this, what other files of the process have registered counts.
  const auto process = ClientId{static_cast<uint64_t>(getpid())};
  ClientMemory other(workers_, process, pinned_);
  const auto held = pin(address_);
  std::optional<bool> again;
  other.PinPages(address_, 16, false, [&](const auto& made) {
    const auto self = std::make_shared<UniqueFd>();
    again = made.ok() && pinned_->AccountOf(getpid(), self)->pages >= 2;
  });
  while (!again) posts_.WaitAndRun();
  EXPECT_TRUE(*again);
}

TEST_F(ClientMemoryTest, AProcessThatMayNotBeSentSignalsLives) {
  const pid_t child = fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (geteuid() == 0 && setresuid(kNobody, kNobody, kNobody) != 0) _exit(2);
    _exit(ClientMemory(workers_, ClientId{1}, pinned_).Lives() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(ClientMemoryTest, TouchesNobodyElseWhenTheProcessHasEnded) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  ClientMemory gone(workers_, ClientId{static_cast<uint64_t>(child)}, pinned_);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(gone.Lives());
  EXPECT_TRUE(memory_.Lives());
  std::optional<absl::Status> status;
  gone.Read({{address_, buffer_, 0, 5}},
            [&status](const absl::Status& made) { status = made; });
  while (!status) posts_.WaitAndRun();
  EXPECT_TRUE(absl::IsUnavailable(*status));
}

// A set-id program could take the place of the one that registered.
TEST_F(ClientMemoryTest, WhatIsRegisteredEndsWithItsProgram) {
  OtherProcess child([] {
    constexpr uid_t kOther = 65534;
    if (geteuid() == 0 && setresuid(kOther, kOther, kOther) != 0) _exit(1);
  });
  child.Change();
  ClientMemory memory(workers_, ClientId{static_cast<uint64_t>(child.pid())},
                      pinned_);
  const auto read = [&] {
    std::optional<absl::Status> status;
    memory.Read({{address_ + 7, buffer_, 0, 5}, {address_, buffer_, 5, 5}},
                [&status](const absl::Status& made) { status = made; });
    while (!status) posts_.WaitAndRun();
    return *status;
  };
  std::optional<absl::Status> pinned;
  memory.PinPages(address_, 16, true,
                  [&pinned](const auto& made) { pinned = made.status(); });
  while (!pinned) posts_.WaitAndRun();
  ASSERT_TRUE(pinned->ok());
  ASSERT_TRUE(read().ok());
  EXPECT_EQ(std::memcmp(buffer_->data(), "worldhello", 10), 0);
  EXPECT_TRUE(memory.Lives());

  child.StartProgram();
  if (geteuid() == 0) {
    EXPECT_FALSE(memory.Lives());
    EXPECT_TRUE(absl::IsUnavailable(read()));
  } else {  // then the kernel keeps us out of set-id programs
    EXPECT_TRUE(memory.Lives());
    EXPECT_FALSE(read().ok());
  }
}

}  // namespace
}  // namespace ibemu::cuse
