#include "cuse/client/pinned_pages.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <limits>

#include "base/pidfd.h"

namespace ibemu::cuse {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kUsual = 100 * kPage;

std::shared_ptr<UniqueFd> ProcessOf(pid_t id) {
  return std::make_shared<UniqueFd>(pidfd_open(id, 0));
}

class PinnedPagesTest : public ::testing::Test {
 protected:
  // The code when `length` bytes from `start` are refused.
  absl::StatusCode Pin(const LockLimit& limit, uint64_t length,
                       uint64_t start = 0) {
    auto pin = pinned_.Charge(account_, limit, start, length);
    if (!pin.ok()) return pin.status().code();
    pins_.push_back(*std::move(pin));
    return absl::StatusCode::kOk;
  }

  PinnedPages pinned_{kUsual};
  std::shared_ptr<PinnedPages::Account> account_ =
      pinned_.AccountOf(getpid(), ProcessOf(getpid()));
  std::vector<std::unique_ptr<verbs::Memory::Pin>> pins_;
};

constexpr auto kOk = absl::StatusCode::kOk;
constexpr auto kTooMuch = absl::StatusCode::kResourceExhausted;

TEST_F(PinnedPagesTest, CountsEachPageThatIsTouched) {
  constexpr LockLimit kNone = {.bytes = 0, .exempt = true};
  Pin(kNone, 1);
  EXPECT_EQ(account_->pages, 1u);
  Pin(kNone, 2, kPage - 1);
  EXPECT_EQ(account_->pages, 3u);
  Pin(kNone, 2 * kPage, 5 * kPage);
  EXPECT_EQ(account_->pages, 5u);
  pins_.erase(pins_.begin() + 1);
  EXPECT_EQ(account_->pages, 3u);
  pins_.clear();
  EXPECT_EQ(account_->pages, 0u);
}

TEST_F(PinnedPagesTest, EndsAtTheLimit) {
  const LockLimit ten = {.bytes = 10 * kPage + 1};
  EXPECT_EQ(Pin(ten, 11 * kPage), kTooMuch);
  EXPECT_EQ(Pin(ten, 6 * kPage), kOk);
  EXPECT_EQ(Pin(ten, 5 * kPage), kTooMuch);
  EXPECT_EQ(Pin(ten, 4 * kPage), kOk);
  EXPECT_EQ(Pin(ten, 1), kTooMuch);
  EXPECT_EQ(Pin({.bytes = 5 * kPage}, 1), kTooMuch) << "it was lowered since";
  pins_.clear();
  EXPECT_EQ(Pin(ten, 10 * kPage), kOk);
}

TEST_F(PinnedPagesTest, RefusesWhoMayLockNothing) {
  EXPECT_EQ(Pin({}, 1), absl::StatusCode::kPermissionDenied);
}

TEST_F(PinnedPagesTest, HoldsNobodyToTheUsualLimit) {
  EXPECT_EQ(Pin({.bytes = kUsual - 1}, kUsual), kTooMuch);
  EXPECT_EQ(Pin({.bytes = kUsual}, kUsual + 1), kOk);
  EXPECT_EQ(Pin({.bytes = 0, .exempt = true}, kUsual + 1), kOk);
}

TEST_F(PinnedPagesTest, CountsForAProcessNotForItsNumber) {
  EXPECT_EQ(pinned_.AccountOf(getpid(), ProcessOf(getpid())), account_);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  const auto gone = pinned_.AccountOf(child, ProcessOf(child));
  waitpid(child, nullptr, 0);
  EXPECT_NE(pinned_.AccountOf(child, ProcessOf(getpid())), gone);
}

TEST_F(PinnedPagesTest, ReadsWhatTheKernelSays) {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  const LockLimit found = LockLimitOf(getpid());
  if (limit.rlim_cur == RLIM_INFINITY) {
    EXPECT_EQ(found.bytes, std::numeric_limits<uint64_t>::max());
  } else {
    EXPECT_EQ(found.bytes, limit.rlim_cur);
  }
  EXPECT_EQ(LockLimitOf(-1).bytes, 0u);
  EXPECT_FALSE(LockLimitOf(-1).exempt);
}

}  // namespace
}  // namespace ibemu::cuse
