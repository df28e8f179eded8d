#include "base/observer_list.h"

#include <functional>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ibemu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Observer {
  int name = 0;
  std::function<void()> on_call = [] {};  // once
};

class ObserverListTest : public ::testing::Test {
 protected:
  // The names of those that are called.
  std::vector<int> Called() {
    std::vector<int> names;
    list_.ForEach([&](Observer& observer) {
      names.push_back(observer.name);
      const auto on_call = std::exchange(observer.on_call, [] {});
      on_call();
    });
    return names;
  }

  ObserverList<Observer> list_;
  Observer one_{1}, two_{2}, three_{3};
};

TEST_F(ObserverListTest, CallsInTheOrderOfComing) {
  EXPECT_TRUE(list_.empty());
  list_.Add(two_);
  list_.Add(one_);
  EXPECT_FALSE(list_.empty());
  EXPECT_THAT(Called(), ElementsAre(2, 1));
}

TEST_F(ObserverListTest, OneThatIsGoneIsNotCalled) {
  list_.Add(one_);
  list_.Add(two_);
  list_.Remove(one_);
  EXPECT_THAT(Called(), ElementsAre(2));
  list_.Remove(two_);
  EXPECT_TRUE(list_.empty());
}

TEST_F(ObserverListTest, OneMayGoWhileItIsCalled) {
  for (Observer* observer : {&one_, &two_, &three_}) list_.Add(*observer);
  two_.on_call = [this] { list_.Remove(two_); };
  EXPECT_THAT(Called(), ElementsAre(1, 2, 3));
  EXPECT_THAT(Called(), ElementsAre(1, 3));
}

TEST_F(ObserverListTest, OneMaySendAwayAnotherBeforeItsTurn) {
  for (Observer* observer : {&one_, &two_, &three_}) list_.Add(*observer);
  one_.on_call = [this] { list_.Remove(two_); };
  EXPECT_THAT(Called(), ElementsAre(1, 3));
}

TEST_F(ObserverListTest, OneThatComesDuringACallWaitsForTheNext) {
  list_.Add(one_);
  one_.on_call = [this] { list_.Add(two_); };
  EXPECT_THAT(Called(), ElementsAre(1));
  EXPECT_THAT(Called(), ElementsAre(1, 2));
}

TEST_F(ObserverListTest, CallsMayNest) {
  for (Observer* observer : {&one_, &two_, &three_}) list_.Add(*observer);
  std::vector<int> inner;
  one_.on_call = [&] {
    list_.Remove(one_);
    inner = Called();
    list_.Remove(three_);
  };
  EXPECT_THAT(Called(), ElementsAre(1, 2));
  EXPECT_THAT(inner, ElementsAre(2, 3));
  list_.Remove(two_);
  EXPECT_TRUE(list_.empty());
  EXPECT_THAT(Called(), IsEmpty());
}

}  // namespace
}  // namespace ibemu
