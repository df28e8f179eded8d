#include "hca/mlx4/core/health.h"

#include <gtest/gtest.h>

#include <string>

#include "gmock/gmock.h"
#include "hca/bus/pci_config.h"
#include "testing/mad_builder.h"
#include "tests/hca/scripted_adapter.h"

namespace ibemu::hca::mlx4 {
namespace {

using testing::HasStatusCode;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr uint32_t kBuffer = 0x78000;

class HealthTest : public ::testing::Test {
 protected:
  HealthTest() { SetCommand(6); }

  void SetCommand(uint32_t command) {
    adapter_.WriteConfig(pci_config::kCommand, 2, command);
  }
  Health Watch() {
    const auto health = Health::Create(adapter_, fw_);
    EXPECT_TRUE(health.ok()) << health.status();
    return *health;
  }
  // What is wrong.
  std::string Fault(const Health& health) {
    const absl::Status status = health.Check();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    return std::string(status.message());
  }

  ScriptedAdapter adapter_;
  prm::QueryFw fw_{.error_buf_start = kBuffer, .error_buf_size = 2};
};

TEST_F(HealthTest, IsWellWhileTheBufferIsEmpty) {
  EXPECT_TRUE(Watch().Check().ok());
}

TEST_F(HealthTest, TellsWhatTheFirmwareSaysAtItsEnd) {
  const Health health = Watch();
  adapter_.Set(kBuffer, 0x0badcafe);
  adapter_.Set(kBuffer + 4, 0xffffffff);
  EXPECT_THAT(Fault(health),
              HasSubstr("catastrophic error: 0badcafe ffffffff"));
}

TEST_F(HealthTest, TellsThatTheAdapterIsGoneFromTheBus) {
  const Health health = Watch();
  adapter_.Set(kBuffer, 0xffffffff);
  adapter_.Set(kBuffer + 4, 0xffffffff);
  EXPECT_THAT(Fault(health), HasSubstr("does not answer on the bus any more"));
  EXPECT_THAT(Fault(health), Not(HasSubstr("catastrophic")));
}

TEST_F(HealthTest, FindsAnAdapterGoneThatHasNoBuffer) {
  fw_.error_buf_size = 0;
  const Health health = Watch();
  EXPECT_TRUE(health.Check().ok());
  // The ids at its begin vfio-pci knows by heart.
  for (size_t offset = pci_config::kCommand; offset < 0x40; offset += 4) {
    adapter_.WriteConfig(offset, 4, ~uint32_t{0});
  }
  EXPECT_THAT(Fault(health), HasSubstr("does not answer on the bus any more"));
}

TEST_F(HealthTest, TellsThatSomebodyElseHasItsBusMasteringTakenAway) {
  const Health health = Watch();
  SetCommand(pci_config::kCommandMemory);
  EXPECT_THAT(Fault(health), HasSubstr("somebody else"));
}

TEST_F(HealthTest, RefusesABufferInABarThatIsNone) {
  fw_.error_buf_bar = 1;
  EXPECT_TRUE(Health::Create(adapter_, fw_).ok());
  for (const uint8_t code : {2, 3}) {
    fw_.error_buf_bar = code;
    const auto health = Health::Create(adapter_, fw_);
    EXPECT_THAT(health, HasStatusCode(absl::StatusCode::kFailedPrecondition));
    EXPECT_THAT(std::string(health.status().message()),
                HasSubstr("error buffer is in a BAR with number " +
                          std::to_string(code)));
  }
}

TEST_F(HealthTest, RefusesABufferOutsideOfItsBar) {
  fw_.error_buf_start = adapter_.size() - 4;
  EXPECT_THAT(Health::Create(adapter_, fw_),
              HasStatusCode(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace ibemu::hca::mlx4
