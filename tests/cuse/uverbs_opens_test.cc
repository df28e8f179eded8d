#include "cuse/uverbs_opens.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "testing/fake_device.h"
#include "testing/fake_provider.h"
#include "testing/post_box.h"
#include "testing/virtual_timers.h"

namespace ibemu::cuse {
namespace {

class UverbsOpensTest : public ::testing::Test {
 protected:
  std::unique_ptr<File> Open(uint64_t inode, int flags) {
    return opens_.Open(inode, host_, provider_, timers_, workers_, flags);
  }
  static bool IsEvents(const std::unique_ptr<File>& file) {
    return dynamic_cast<UverbsEventFile*>(file.get()) != nullptr;
  }

  testing::VirtualTimers timers_;
  testing::PostBox posts_;
  testing::FakeDevice device_;
  testing::FakeProvider provider_;
  std::shared_ptr<mad::Host> host_ =
      std::make_shared<mad::Host>(timers_, device_);
  WorkerPool workers_{timers_, posts_.Poster()};
  UverbsOpens opens_;
};

TEST_F(UverbsOpensTest, MakesAnEventFileOfAnInodeThatIsOpenedAgainToRead) {
  const auto file = Open(1, O_RDWR);
  EXPECT_FALSE(IsEvents(file));
  EXPECT_TRUE(IsEvents(Open(1, O_RDONLY | O_CLOEXEC)));
}

TEST_F(UverbsOpensTest, GivesEveryOtherOpenAContextOfItsOwn) {
  const auto file = Open(1, O_RDWR);
  EXPECT_FALSE(IsEvents(Open(1, O_RDWR)));  // two at the same time
  EXPECT_FALSE(IsEvents(Open(2, O_RDWR)));
  EXPECT_FALSE(IsEvents(Open(3, O_RDONLY)));
}

TEST_F(UverbsOpensTest, ForgetsWhatWasClosed) {
  Open(1, O_RDWR).reset();
  EXPECT_FALSE(IsEvents(Open(1, O_RDONLY)));
}

}  // namespace
}  // namespace ibemu::cuse
