#include "cli/hca_model/hca_model_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/run/run.h"
#include "hca/model/pci_endpoint.h"

namespace ibemu::cli {
namespace {

using ::testing::HasSubstr;

class NoRegisters : public hca::model::PciEndpoint {
 public:
  NoRegisters() : PciEndpoint({.vendor = 0x15b3}, {}, 1) {}

  void SetHost(hca::model::PciHost* its) override {
    PciEndpoint::SetHost(its);
    host = its;
  }

  hca::model::PciHost* host = nullptr;

 private:
  uint64_t ReadRegister(int, size_t, size_t) override { return 0; }
  void WriteRegister(int, size_t, size_t, uint64_t) override {}
  void ResetRegisters() override {}
};

// In QEMU's place: a shell, which takes no notice of the arguments after its
// script.  It waits by short sleeps: a long one in the background may miss the
// signal that is to end it, and then keeps the test's output open.
class HcaModelMachineTest : public ::testing::Test {
 protected:
  ~HcaModelMachineTest() override { signals_.Restore(); }

  absl::StatusOr<std::unique_ptr<HcaModelMachine>> Start(
      const std::vector<std::string>& qemu) {
    return HcaModelMachine::Start(*loop_, signals_, device_, qemu);
  }
  int ExitStatusOf(const std::vector<std::string>& qemu) {
    auto machine = Start(qemu);
    EXPECT_TRUE(machine.ok()) << machine.status();
    const int wait_status = (*machine)->Run();
    EXPECT_TRUE((*machine)->status().ok()) << (*machine)->status();
    return launch::ExitStatus(wait_status);
  }

  launch::LauncherSignals signals_;
  std::unique_ptr<Loop> loop_ = *MakeLoop();
  NoRegisters device_;
};

TEST_F(HcaModelMachineTest, EndsAsQemuEnds) {
  EXPECT_EQ(ExitStatusOf({"sh", "-c", "exit 3"}), 3);
  EXPECT_EQ(ExitStatusOf({"sh", "-c", "kill -KILL $$"}), 128 + 9);
}

TEST_F(HcaModelMachineTest, QemuInheritsBothSockets) {
  const char kScript[] =
      "for word; do case $word in *fd=*) n=${word##*fd=}; n=${n%%,*};"
      " [ -S /proc/self/fd/$n ] || exit 1; found=$found$n.;; esac; done;"
      " case $found in *.*.) exit 0;; esac; exit 2";
  EXPECT_EQ(ExitStatusOf({"sh", "-c", kScript, "sh"}), 0);
}

TEST_F(HcaModelMachineTest, PassesSignalsOn) {
  EXPECT_EQ(ExitStatusOf({"sh", "-c",
                          "trap 'exit 5' TERM; kill -TERM $PPID;"
                          " while :; do sleep 0.01; done"}),
            5);
}

TEST_F(HcaModelMachineTest, AProgramThatIsMissingIsLikeEnvsToTell) {
  EXPECT_EQ(ExitStatusOf({"no-such-qemu"}), launch::kCommandNotFound);
  EXPECT_EQ(ExitStatusOf({"/dev/null"}), launch::kCommandNotExecutable);
}

TEST_F(HcaModelMachineTest, QemuIsNotStartedWhenItCantHaveTheDevice) {
  EXPECT_THAT(std::string(Start({"sh", "-smp", "2"}).status().message()),
              HasSubstr("use -smp 1"));
}

TEST_F(HcaModelMachineTest, WhatIsNoQemuIsEndedAndTheReasonKept) {
  // It says something on the device's socket.
  const char kScript[] =
      "trap exit TERM; for word; do case $word in x-pci*)"
      " n=${word##*fd=}; n=${n%%,*}; printf 0123456789abcdef >&$n;; esac; done;"
      " while :; do sleep 0.01; done";
  auto machine = Start({"bash", "-c", kScript, "bash"});
  ASSERT_TRUE(machine.ok()) << machine.status();
  (*machine)->Run();
  EXPECT_THAT(std::string((*machine)->status().message()),
              HasSubstr("is it QEMU 7.2?"));
}

// It never looks at its sockets.
TEST_F(HcaModelMachineTest, AQemuThatTakesNoInterruptsIsToldOfOnceAndGoesOn) {
  auto machine = Start({"sh", "-c",
                        "trap 'exit 4' TERM; kill -TERM $PPID;"
                        " while :; do sleep 0.01; done"});
  ASSERT_TRUE(machine.ok()) << machine.status();
  std::vector<absl::Status> told;
  (*machine)->OnTrouble(
      [&told](const absl::Status& status) { told.push_back(status); });
  for (int i = 0; i < 20000; ++i) device_.host->SignalMessage(0xfee00000, 1);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_THAT(std::string(told[0].message()),
              HasSubstr("takes no interrupts any more"));
  EXPECT_EQ(launch::ExitStatus((*machine)->Run()), 4);
  EXPECT_TRUE((*machine)->status().ok()) << (*machine)->status();
}

}  // namespace
}  // namespace ibemu::cli
