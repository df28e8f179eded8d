#include "daemon/why/ended_contexts.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "daemon/why/lint_methods.h"
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/daemon/method_caller.h"
#include "tests/daemon/uverbs_programs.h"
#include "tests/daemon/why/lab_diagnosis.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class EndedContextsTest : public UverbsProgramsTest, protected MethodCaller {
 protected:
  EndedContextsTest() { methods_.AddTo(dispatcher); }

  static uint32_t AllocPd(UverbsProgram& program) {
    auto made = verbs::Blank<ib_uverbs_alloc_pd_resp>();
    program.Write(testing::PlainCommand(
        IB_USER_VERBS_CMD_ALLOC_PD,
        testing::Answered<ib_uverbs_alloc_pd>(UverbsProgram::AddressOf(made)),
        sizeof made));
    return made.pd_handle;
  }
  // Returns the last one's handle.  Without a GRH its fields are what was in
  // memory before.
  static uint32_t CreateAhs(UverbsProgram& program, uint32_t pd, int count,
                            uint16_t lid) {
    auto made = verbs::Blank<ib_uverbs_create_ah_resp>();
    auto request =
        testing::Answered<ib_uverbs_create_ah>(UverbsProgram::AddressOf(made));
    request.pd_handle = pd;
    request.attr.dlid = lid;
    request.attr.port_num = 1;
    for (int i = 0; i < count; ++i) {
      request.attr.grh.flow_label = static_cast<uint32_t>(i);
      program.Write(testing::PlainCommand(IB_USER_VERBS_CMD_CREATE_AH, request,
                                          sizeof made));
    }
    return made.ah_handle;
  }
  static testing::CommandBytes DestroyAh(uint32_t handle) {
    return testing::PlainCommand(IB_USER_VERBS_CMD_DESTROY_AH,
                                 ib_uverbs_destroy_ah{handle}, 0);
  }
  json Findings(const char* node, int64_t since = 0) {
    return Result("queue_pair.lint",
                  {{"node", node}, {"since_ns", since}})["findings"];
  }

  const LabDiagnosis why_{lab_};
  const EndedContexts contexts_{lab_.timers, files_};
  LintMethods methods_{lab_.timers, lab_.fabric, why_.diagnosis, contexts_};
};

TEST_F(EndedContextsTest, WhatIsLeftOverIsToldOnceTheFileIsClosed) {
  UverbsProgram& program = Open("host-1");
  const uint32_t pd = AllocPd(program);
  CreateAhs(program, pd, 60, 1);
  CreateAhs(program, pd, 60, 2);
  EXPECT_THAT(Findings("host-1"), IsEmpty()) << "they may be destroyed yet";
  programs_.clear();
  const json findings = Findings("host-1");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0]["rule"], "ah-leak");
  EXPECT_EQ(findings[0]["node"], "host-1");
  EXPECT_EQ(findings[0]["qpn"], nullptr);
  EXPECT_EQ(findings[0]["pid"], getpid());
  EXPECT_THAT(findings[0]["what"].get<std::string>(),
              HasSubstr("120 address handles were never destroyed, and lead to "
                        "2 destinations"));
  EXPECT_THAT(Findings("host-2"), IsEmpty());
  const int64_t now =
      Result("queue_pair.lint", {{"node", "host-1"}})["now_ns"].get<int64_t>();
  EXPECT_THAT(Findings("host-1", now + 1), IsEmpty());
}

TEST_F(EndedContextsTest, WhoDestroysItsHandlesLeavesNone) {
  UverbsProgram& program = Open("host-1");
  const uint32_t pd = AllocPd(program);
  for (int i = 0; i < 150; ++i) {
    program.Write(DestroyAh(CreateAhs(program, pd, 1, 1)));
  }
  programs_.clear();
  EXPECT_THAT(contexts_.all(), IsEmpty());
}

// A child of this process, which does nothing by itself.
class Child {
 public:
  Child() : pid_(fork()) {
    if (pid_ == 0) {
      pause();
      _exit(0);
    }
  }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Writes a command, which has no answer, to the file of a program.
  void Write(UverbsProgram& program,
             const testing::CommandBytes& command) const {
    program.driver.StartWrite(command, pid_);
  }

 private:
  const pid_t pid_;
};

TEST_F(EndedContextsTest, AForkedChildsCommandsAreCounted) {
  UverbsProgram& program = Open("host-1");
  const uint32_t handle = CreateAhs(program, AllocPd(program), 2, 1);
  Child().Write(program, DestroyAh(handle));
  programs_.clear();
  ASSERT_THAT(contexts_.all(), SizeIs(1));
  const EndedContexts::Ended& ended = contexts_.all().front();
  ASSERT_THAT(ended.pitfalls, SizeIs(1));
  EXPECT_EQ(ended.pitfalls[0].rule, "used-after-fork");
  EXPECT_THAT(ended.pitfalls[0].what, HasSubstr("1 command came from another"));
}

TEST_F(EndedContextsTest, TheLastOnesAreKept) {
  const Child child;
  for (size_t i = 0; i < EndedContexts::kMax + 1; ++i) {
    child.Write(Open(i == 0 ? "host-2" : "host-1"), DestroyAh(0));
    programs_.clear();
  }
  EXPECT_THAT(contexts_.all(), SizeIs(EndedContexts::kMax));
  EXPECT_THAT(Findings("host-2"), IsEmpty());
}

}  // namespace
}  // namespace ibemu::daemon
