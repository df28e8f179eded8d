// A FuseTree of one fake adapter that has verbs, and a kernel to ask it.
#ifndef IBEMU_TESTS_CUSE_FUSE_VERBS_TREE_FIXTURE_H_
#define IBEMU_TESTS_CUSE_FUSE_VERBS_TREE_FIXTURE_H_

#include <gtest/gtest.h>
#include <sys/types.h>

#include <memory>

#include "cuse/fuse/fuse_tree.h"
#include "testing/fake_device.h"
#include "testing/fake_provider.h"
#include "testing/kernel_side.h"
#include "testing/post_box.h"
#include "testing/virtual_timers.h"

namespace ibemu::cuse {

// A file that opens, and answers nothing else.
class SilentFile final : public File {
 public:
  void Open(bool /*nonblock*/, OpenReply reply) override { reply.Opened(); }
  void Read(bool /*nonblock*/, ReadReply reply) override {
    reply.Fail(Errno::kInvalid);
  }
  void Write(Written /*data*/, WriteReply reply) override {
    reply.Fail(Errno::kInvalid);
  }
  void Ioctl(const IoctlRequest& /*request*/, IoctlReply reply) override {
    reply.Fail(Errno::kNotTty);
  }
  uint32_t Poll() override { return 0; }
  void Interrupt(RequestId /*id*/) override {}
};

// A fixture with the tree.  Its tests call kernel_.Init() themselves.
class VerbsTreeTest : public ::testing::Test {
 protected:
  // `owner`: of the files, and its group.
  explicit VerbsTreeTest(uid_t owner = 0)
      : tree_(timers_, view_, workers_,
              FuseTree::Options{
                  .uid = owner,
                  .gid = owner,
                  .provider_of = [this](int) -> verbs::Provider& {
                    return provider_;
                  },
                  .rdma_cm_file =
                      [] { return std::make_unique<SilentFile>(); }}) {
    EXPECT_TRUE(tree_.Serve(kernel_.TakeServerFd()).ok());
    kernel_.SetPump([this] { Pump(); });
  }

  void Pump() {
    while (tree_.HandleOne() == FuseResult::kHandled) timers_.RunPending();
  }

  testing::VirtualTimers timers_;
  testing::PostBox posts_;
  testing::FakeDevice device_{1};
  testing::FakeProvider provider_;
  sysfs::View view_{
      .devices = {{.name = "ibemu0",
                   .host = std::make_shared<mad::Host>(timers_, device_),
                   .umads = {0},
                   .uverbs = 0}},
      .rdma_cm = true};
  WorkerPool workers_{timers_, posts_.Poster()};
  FuseTree tree_;
  testing::KernelSide kernel_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_TESTS_CUSE_FUSE_VERBS_TREE_FIXTURE_H_
