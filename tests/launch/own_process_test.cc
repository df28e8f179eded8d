#include "launch/own_process.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/unique_fd.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ibemu::launch {
namespace {

using ::testing::HasSubstr;

// What a shell with this script writes to its descriptor $line, until it ends.
std::string Said(const std::string& script) {
  const auto process = OwnProcess::Start(
      {"/bin/bash", "-c", absl::StrCat("line=${0#--line=}\n", script)},
      "--line", absl::Minutes(1));
  if (!process.ok()) return std::string(process.status().message());
  std::string said;
  std::array<char, 256> part;
  ssize_t size = 0;
  while ((size = read(process->line().get(), part.data(), part.size())) > 0) {
    said.append(part.data(), static_cast<size_t>(size));
  }
  return said;
}

TEST(OwnProcess, ItsStandardInputAndOutputAreNobodys) {
  EXPECT_EQ(Said("names=$(readlink /proc/$$/fd/0 /proc/$$/fd/1)\n"
                 "echo \"$names\" >&$line"),
            "/dev/null\n/dev/null\n");
}

TEST(OwnProcess, HasStandardErrorAndNothingThatClosesOnExecution) {
  const UniqueFd closes(open("/dev/null", O_RDWR | O_CLOEXEC));
  const UniqueFd high(fcntl(closes.get(), F_DUPFD_CLOEXEC, 200));
  EXPECT_EQ(Said(absl::StrCat("open=; for fd in 2 ", high.get(),
                              "; do [ ! -e /proc/$$/fd/$fd ] || "
                              "open=$open$fd; done; echo $open >&$line")),
            "2\n");
}

TEST(OwnProcess, LeadsASessionOfItsOwn) {
  EXPECT_EQ(Said("read -r pid name state parent group session rest "
                 "</proc/$$/stat; [ $session = $$ ] && echo leader >&$line"),
            "leader\n");
}

TEST(OwnProcess, HasNoSignalBlocked) {
  sigset_t blocked, before;
  sigfillset(&blocked);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  const std::string said = Said("exec grep SigBlk /proc/self/status >&$line");
  sigprocmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(said, "SigBlk:\t0000000000000000\n");
}

TEST(OwnProcess, IsKilledWhenItDoesNotEnd) {
  std::array<int, 2> witness;
  ASSERT_EQ(pipe2(witness.data(), 0), 0);
  const UniqueFd ours(witness[0]);
  UniqueFd theirs(witness[1]);
  {
    const auto process =
        OwnProcess::Start({"/bin/bash", "-c", "exec sleep infinity"}, "--line",
                          absl::ZeroDuration());
    ASSERT_TRUE(process.ok()) << process.status();
    theirs.Reset();
  }
  // Nobody has the other end any more.
  char byte = 0;
  EXPECT_EQ(read(ours.get(), &byte, 1), 0);
}

TEST(OwnProcess, NamesWhatIsNotThere) {
  const absl::Status status =
      OwnProcess::Start({"/nowhere/ibemud"}, "--line", absl::ZeroDuration())
          .status();
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("/nowhere/ibemud"));
}

}  // namespace
}  // namespace ibemu::launch
