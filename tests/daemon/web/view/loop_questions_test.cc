#include "daemon/web/view/loop_questions.h"

#include <latch>
#include <thread>

#include "gtest/gtest.h"

namespace ibemu::daemon {
namespace {

class LoopQuestionsTest : public ::testing::Test {
 protected:
  std::unique_ptr<Loop> loop_ = *MakeLoop();
  LoopQuestions questions_{*loop_};
};

TEST_F(LoopQuestionsTest, AreAnsweredOnTheLoopThread) {
  std::thread::id where;
  bool answered = false;
  std::thread asker([&] {
    answered = questions_.Ask([&] { where = std::this_thread::get_id(); });
    loop_->Post([&] { loop_->Stop(); });
  });
  loop_->Run();
  const std::thread::id asked = asker.get_id();
  asker.join();
  EXPECT_TRUE(answered);
  EXPECT_NE(where, asked);
  EXPECT_NE(where, std::thread::id());
}

TEST_F(LoopQuestionsTest, GetNoAnswerWhenTheLoopDoesNotTurn) {
  LoopQuestions impatient(*loop_, absl::ZeroDuration());
  bool ran = false;
  EXPECT_FALSE(impatient.Ask([&] { ran = true; }));
  loop_->Post([&] { loop_->Stop(); });
  loop_->Run();
  EXPECT_FALSE(ran) << "nobody waits for it any more";
}

TEST_F(LoopQuestionsTest, GiveUpWhenTheyAreClosed) {
  std::latch begins(1);
  bool answered = true;
  std::thread asker([&] {
    begins.count_down();
    answered = questions_.Ask([] {});
  });
  begins.wait();
  questions_.Close();
  asker.join();
  EXPECT_FALSE(answered);
  EXPECT_FALSE(questions_.Ask([] {}));
}

}  // namespace
}  // namespace ibemu::daemon
