#include "cuse/uverbs/uverbs_offers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "base/supervisor_ioctls.h"
#include "tests/cuse/file_driver.h"
#include "verbs/uverbs/command.h"

namespace ibemu::cuse {
namespace {

// Threads that there are not stand for themselves.
constexpr pid_t kThread = 0x7ffffff0, kOther = 0x7ffffff1;
constexpr uid_t kOwner = 1000, kStranger = 1001;

// An open event file.
struct Events {
  explicit Events(const std::shared_ptr<UverbsOffers>& offers,
                  std::optional<uid_t> supervisor = kOwner)
      : file(std::make_unique<UverbsEventFile>(offers, supervisor)),
        driver(*file) {
    EXPECT_EQ(driver.Open(), Errno::kOk);
  }

  // `caller` says that the file has `number` in the client of `tid`.
  Errno Tell(pid_t caller, pid_t tid, int number, uid_t user = kOwner) {
    const EventNumber told{tid, number};
    return driver
        .Ioctl(kNumberEventFile, verbs::AsBytes(told), true, caller, user)
        .error;
  }

  // Whether the client of `tid` can do with another one.
  Errno Ask(pid_t tid, uid_t user = kOwner) {
    return driver
        .Ioctl(kOfferEventFile, verbs::AsBytes(tid), true, kOther, user)
        .error;
  }

  std::unique_ptr<UverbsEventFile> file;
  FileDriver driver;
};

class UverbsOffersTest : public ::testing::Test {
 protected:
  std::shared_ptr<UverbsOffers> offers_ = std::make_shared<UverbsOffers>();
};

TEST_F(UverbsOffersTest, ASupervisorOffersAFileToOneCommandOfAClient) {
  Events events(offers_);
  EXPECT_EQ(events.Tell(kOther, kThread, 7), Errno::kOk);
  EXPECT_EQ(offers_->Take(kOther), nullptr);
  EXPECT_EQ(offers_->Take(kThread), events.file.get());
  EXPECT_EQ(events.file->number(), 7);
  EXPECT_EQ(offers_->Take(kThread), nullptr);
}

TEST_F(UverbsOffersTest, ItIsOfferedToAllThreadsOfTheProcess) {
  Events events(offers_);
  pid_t thread = 0;
  std::thread([&] {
    thread = gettid();
    EXPECT_EQ(events.Tell(kOther, thread, 7), Errno::kOk);
  }).join();
  EXPECT_NE(thread, getpid());
  EXPECT_EQ(offers_->Take(getpid()), events.file.get());
}

TEST_F(UverbsOffersTest, TheOldestOfferIsTakenFirst) {
  Events first(offers_), second(offers_);
  EXPECT_EQ(first.Tell(kOther, kThread, 7), Errno::kOk);
  EXPECT_EQ(second.Tell(kOther, kThread, 8), Errno::kOk);
  EXPECT_EQ(offers_->Take(kThread), first.file.get());
  EXPECT_EQ(offers_->Take(kThread), second.file.get());
  EXPECT_EQ(offers_->Take(kThread), nullptr);
}

TEST_F(UverbsOffersTest, AClientWithFiveHasEnoughUntilOneIsTaken) {
  std::vector<std::unique_ptr<Events>> given;
  Events asking(offers_);
  for (int number = 0; number < 5; ++number) {
    EXPECT_EQ(asking.Ask(kThread), Errno::kOk);
    given.push_back(std::make_unique<Events>(offers_));
    EXPECT_EQ(given.back()->Tell(kOther, kThread, number), Errno::kOk);
  }
  EXPECT_EQ(asking.Ask(kThread), Errno::kBusy);
  EXPECT_EQ(asking.Ask(kOther), Errno::kOk);
  EXPECT_EQ(offers_->Take(kThread), given.front()->file.get());
  EXPECT_EQ(asking.Ask(kThread), Errno::kOk);
}

TEST_F(UverbsOffersTest, AFileThatEndsIsNotOfferedAnyMore) {
  Events kept(offers_);
  EXPECT_EQ(kept.Tell(kOther, kOther, 7), Errno::kOk);
  {
    Events events(offers_);
    EXPECT_EQ(events.Tell(kOther, kThread, 7), Errno::kOk);
  }
  EXPECT_EQ(offers_->Take(kThread), nullptr);
  EXPECT_EQ(offers_->Take(kOther), kept.file.get());
}

TEST_F(UverbsOffersTest, WithoutASupervisorAThreadSpeaksForItselfAlone) {
  Events events(offers_, std::nullopt);
  EXPECT_EQ(events.Tell(kOther, kThread, 7), Errno::kNotPermitted);
  EXPECT_EQ(events.Ask(kThread), Errno::kNotPermitted);
  EXPECT_EQ(offers_->Take(kThread), nullptr);
  EXPECT_EQ(events.Tell(kThread, 0, 7), Errno::kOk);
  EXPECT_EQ(offers_->Take(kThread), events.file.get());
  EXPECT_EQ(events.file->number(), 7);
}

TEST_F(UverbsOffersTest, OnlyTheRunsUserAndRootSpeakForOthers) {
  Events events(offers_);
  EXPECT_EQ(events.Tell(kOther, kThread, 7, kStranger), Errno::kNotPermitted);
  EXPECT_EQ(events.Ask(kThread, kStranger), Errno::kNotPermitted);
  EXPECT_EQ(offers_->Take(kThread), nullptr);
  EXPECT_EQ(events.Ask(kThread, 0), Errno::kOk);
  EXPECT_EQ(events.Tell(kOther, kThread, 7, 0), Errno::kOk);
  EXPECT_EQ(offers_->Take(kThread), events.file.get());
}

TEST_F(UverbsOffersTest, AFileHasOneNumberAndItIsADescriptors) {
  Events events(offers_);
  EXPECT_EQ(events.Tell(kOther, kThread, -1), Errno::kInvalid);
  EXPECT_EQ(events.driver.Ioctl(kNumberEventFile, {}).error, Errno::kInvalid);
  EXPECT_EQ(events.driver.Ioctl(kOfferEventFile, {}).error, Errno::kInvalid);
  EXPECT_EQ(events.Tell(kOther, kThread, 7), Errno::kOk);
  EXPECT_EQ(events.Tell(kOther, kOther, 8), Errno::kInvalid);
  EXPECT_EQ(events.file->number(), 7);
}

TEST_F(UverbsOffersTest, AnEventFileTakesNoCommands) {
  Events events(offers_);
  const EventNumber told{kThread, 7};
  EXPECT_EQ(events.driver.Write(verbs::AsBytes(told)), Errno::kInvalid);
  EXPECT_EQ(
      events.driver.Ioctl(kNumberEventFile + 1, verbs::AsBytes(told)).error,
      Errno::kNotTty);
}

TEST_F(UverbsOffersTest, EventsComeFromTheQueueThatACommandHasBound) {
  Events events(offers_);
  EXPECT_EQ(events.driver.Read(16).error, Errno::kInvalid);
  auto queue = std::make_shared<verbs::EventQueue>(sizeof(uint64_t));
  events.file->Bind(queue);
  EXPECT_EQ(events.driver.Read(16).error, Errno::kTryAgain);
  constexpr uint64_t kEvent = 0x1234;
  queue->Push(verbs::AsBytes(kEvent), nullptr);
  EXPECT_EQ(events.driver.events, 1);
  EXPECT_EQ(verbs::ReadAs<uint64_t>(events.driver.Read(16).data), kEvent);
}

}  // namespace
}  // namespace ibemu::cuse
