#include "daemon/why/refused_calls.h"

#include <unistd.h>

#include "gmock/gmock.h"
#include "tests/daemon/uverbs_programs.h"

namespace ibemu::daemon {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class RefusedCallsTest : public UverbsProgramsTest {
 protected:
  const std::deque<RefusedCalls::Call>& Of(const char* host) {
    return calls_.Of(
        hosts_.Get(adapters_.Find(host).value())->device().node_guid());
  }

  const RefusedCalls calls_{lab_.timers, files_};
};

TEST_F(RefusedCallsTest, TellsTheReasonForAnErrno) {
  UverbsProgram& program = Open("host-1");
  program.CreateCqs(1);
  EXPECT_THAT(Of("host-1"), IsEmpty());
  program.CreateCqInVain(0);
  ASSERT_THAT(Of("host-1"), SizeIs(1));
  const RefusedCalls::Call& call = Of("host-1")[0];
  EXPECT_EQ(call.why,
            "CREATE_CQ was refused with EINVAL: cqe is 0: there may be 1 to "
            "196607");
  EXPECT_EQ(call.process, static_cast<uint64_t>(getpid()));
  EXPECT_THAT(Of("host-2"), IsEmpty());
}

TEST_F(RefusedCallsTest, CountsTheSameAgainAndPutsItLast) {
  UverbsProgram& program = Open("host-1");
  program.CreateCqInVain(0);
  const absl::Time first = lab_.timers.Now();
  program.CreateCqInVain(1000000);
  lab_.timers.RunFor(absl::Seconds(1));
  program.CreateCqInVain(0);
  ASSERT_THAT(Of("host-1"), SizeIs(2));
  EXPECT_EQ(Of("host-1")[0].count, 1u);
  EXPECT_EQ(Of("host-1")[1].count, 2u);
  EXPECT_EQ(Of("host-1")[1].first, first);
  EXPECT_EQ(Of("host-1")[1].last, first + absl::Seconds(1));
}

TEST_F(RefusedCallsTest, ForgetsTheOldestAndKeepsThoseOfClosedFiles) {
  UverbsProgram& program = Open("host-1");
  for (uint32_t i = 0; i <= RefusedCalls::kMax; ++i) {
    program.CreateCqInVain(1000000 + i);
  }
  programs_.clear();
  ASSERT_THAT(Of("host-1"), SizeIs(RefusedCalls::kMax));
  EXPECT_EQ(
      Of("host-1")[0].why,
      "CREATE_CQ was refused with EINVAL: cqe is 1000001: there may be 1 to "
      "196607");
}

TEST_F(RefusedCallsTest, ACommandThatThereIsNotHasItsNumber) {
  Open("host-1").Write(testing::PlainCommand(47, ib_uverbs_destroy_ah{}, 0),
                       cuse::Errno::kInvalid);
  ASSERT_THAT(Of("host-1"), SizeIs(1));
  EXPECT_EQ(Of("host-1")[0].why,
            "command 47 was refused with EINVAL: there is no command 47");
}

}  // namespace
}  // namespace ibemu::daemon
