#include "launch/supervisor/call_shares.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <vector>

namespace ibemu::launch {
namespace {

using Owner = CallShares::Owner;
using Ticket = CallShares::Ticket;

class CallSharesTest : public ::testing::Test {
 protected:
  // Calls of `count` threads of a process that are let in.
  int Begin(Owner owner, int count) {
    int begun = 0;
    for (int i = 0; i < count; ++i) {
      owners_[++last_tid_] = owner;
      if (const std::optional<Ticket> call = shares_.Begin(last_tid_)) {
        calls_.push_back(*call);
        ++begun;
      }
    }
    return begun;
  }

  int asked_ = 0;
  pid_t last_tid_ = 0;
  std::map<pid_t, Owner> owners_;
  std::vector<Ticket> calls_;
  CallShares shares_{{.free = 3, .of_process = 5, .of_user = 8},
                     [this](pid_t tid) -> std::optional<Owner> {
                       ++asked_;
                       const auto found = owners_.find(tid);
                       if (found == owners_.end()) return std::nullopt;
                       return found->second;
                     }};
};

TEST_F(CallSharesTest, AFewCallsCostNoLook) {
  EXPECT_EQ(Begin({.process = 1, .user = 1}, 3), 3);
  shares_.End(calls_.front());
  EXPECT_EQ(Begin({.process = 1, .user = 1}, 1), 1);
  EXPECT_EQ(asked_, 0);
}

TEST_F(CallSharesTest, AProcessHasItsShareAndOthersTheirs) {
  EXPECT_EQ(Begin({.process = 1, .user = 1}, 9), 5);
  EXPECT_EQ(Begin({.process = 2, .user = 2}, 9), 5);
  shares_.End(calls_.front());
  EXPECT_EQ(Begin({.process = 1, .user = 1}, 9), 1);
}

TEST_F(CallSharesTest, ManyProcessesOfAUserHaveOneShare) {
  EXPECT_EQ(Begin({.process = 1, .user = 1}, 5), 5);
  EXPECT_EQ(Begin({.process = 2, .user = 1}, 5), 3);
  EXPECT_EQ(Begin({.process = 3, .user = 1}, 5), 0);
  EXPECT_EQ(Begin({.process = 4, .user = 2}, 5), 5);
}

TEST_F(CallSharesTest, AThreadThatHasGoneBeginsNothingAndCountsForNobody) {
  EXPECT_EQ(Begin({.process = 1, .user = 1}, 3), 3);
  owners_.clear();
  EXPECT_EQ(Begin({.process = 1, .user = 1}, 9), 5);
  owners_.clear();
  EXPECT_FALSE(shares_.Begin(99));
}

}  // namespace
}  // namespace ibemu::launch
