// A context of a fake adapter, and a client that writes commands to it.
#ifndef IBEMU_TESTS_VERBS_CONTEXT_FIXTURE_H_
#define IBEMU_TESTS_VERBS_CONTEXT_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "testing/fake_provider.h"
#include "testing/uverbs_commands.h"
#include "verbs/context.h"

namespace ibemu::verbs {

class ContextTest : public ::testing::Test, private Context::Client {
 protected:
  static constexpr uint64_t kPlace = 0x1000;  // of responses
  static constexpr pid_t kThread = 4711;

  Answer Execute(const testing::CommandBytes& command) {
    return context_.Execute(command, kThread);
  }
  template <class T>
  Answer Execute(uint32_t number, const T& request, size_t room) {
    return Execute(testing::PlainCommand(number, request, room));
  }
  Answer GetContext() {
    return Execute(IB_USER_VERBS_CMD_GET_CONTEXT,
                   testing::Answered<ib_uverbs_get_context>(kPlace), 8);
  }

  testing::FakeProvider provider_;
  std::map<int, std::shared_ptr<EventQueue>> given_;  // by descriptor
  bool gives_ = true;
  Context context_{provider_, *this};

 private:
  absl::StatusOr<int> GiveDescriptor(
      Events /*events*/, pid_t caller,
      std::shared_ptr<EventQueue> queue) override {
    EXPECT_EQ(caller, kThread);
    if (!gives_) return absl::AbortedError("none");
    const int fd = 10 + static_cast<int>(given_.size());
    given_[fd] = std::move(queue);
    return fd;
  }
};

}  // namespace ibemu::verbs

#endif  // IBEMU_TESTS_VERBS_CONTEXT_FIXTURE_H_
