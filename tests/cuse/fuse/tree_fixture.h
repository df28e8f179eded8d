// A FuseTree of one fake adapter with two ports, and a kernel to ask it.
#ifndef IBEMU_TESTS_CUSE_FUSE_TREE_FIXTURE_H_
#define IBEMU_TESTS_CUSE_FUSE_TREE_FIXTURE_H_

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cuse/fuse/fuse_tree.h"
#include "testing/fake_device.h"
#include "testing/kernel_side.h"
#include "testing/post_box.h"
#include "testing/virtual_timers.h"
#include "tests/cuse/umad_messages.h"

namespace ibemu::cuse {

class TreeTest : public ::testing::Test {
 protected:
  TreeTest() {
    EXPECT_TRUE(tree_->Serve(kernel_.TakeServerFd()).ok());
    kernel_.SetPump([this] { Pump(); });
    kernel_.SetWorkerWait([this] { posts_.WaitAndRun(); });
    kernel_.Init();
  }

  void PullDevice() {
    device_.Remove();
    PullOut(view_, 0);
    tree_->Update();
    timers_.RunPending();
  }
  // A new one in the same place.
  void PlugDevice() {
    device_.Add();
    PlugIn(view_, 0, std::make_shared<mad::Host>(timers_, device_));
    tree_->Update();
  }

  // Lets the server do all it can without time passing.
  void Pump() {
    for (int i = 0; i < 4; ++i) {
      FuseResult result = FuseResult::kHandled;
      while (serving_ && result == FuseResult::kHandled) {
        result = tree_->HandleOne();
        timers_.RunPending();
      }
      if (result == FuseResult::kEnded) serving_ = false;
      posts_.Run();
      timers_.RunPending();
    }
  }

  static std::string Text(const testing::KernelSide::Reply& reply) {
    EXPECT_EQ(reply.error, 0);
    return {reinterpret_cast<const char*>(reply.data.data()),
            reply.data.size()};
  }

  std::string ReadText(std::string_view path) {
    const auto file = kernel_.Open(path, O_RDONLY);
    std::string text = Text(kernel_.Read(file, 4096));
    kernel_.Release(file);
    return text;
  }

  static mad::Bytes Bytes(std::string_view text) {
    return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
  }

  // Where the files of ibemu0 are.
  std::string DevicePath(std::string_view file) {
    std::string path = kernel_.ReadLink(
        kernel_.Walk("sys/class/infiniband/ibemu0").out.nodeid);
    path.replace(0, std::string_view("../..").size(), "sys");
    return path.append("/").append(file);
  }

  // An open umad0 with one agent that only sends; its id is 0.
  testing::KernelSide::OpenFile OpenUmadWithAgent() {
    const auto file = kernel_.Open("dev/umad0", O_RDWR);
    RegisterSender(file);
    return file;
  }

  // An agent of QP1 that only sends.
  void RegisterSender(const testing::KernelSide::OpenFile& file,
                      uint8_t rmpp_version = 0) {
    ib_user_mad_reg_req request{};
    request.qpn = 1;
    request.rmpp_version = rmpp_version;
    EXPECT_EQ(kernel_
                  .Ioctl(file, IB_USER_MAD_REGISTER_AGENT,
                         testing::AsBytes(request), sizeof request)
                  .error,
              0);
  }

  // Sends a request through `file` and lets its answer arrive.
  void SendAndAnswer(const testing::KernelSide::OpenFile& file,
                     uint32_t tid = 1) {
    ASSERT_EQ(kernel_.Write(file, UmadRequest(tid)).error, 0);
    port_.Receive(AnswerTo(port_.sent.back()));
    timers_.RunPending();
  }

  testing::VirtualTimers timers_;
  testing::PostBox posts_;
  testing::FakeDevice device_{2};
  testing::FakePort& port_ = device_.port(1);
  sysfs::View view_{
      .devices = {{.name = "ibemu0",
                   .host = std::make_shared<mad::Host>(timers_, device_),
                   .umads = {0, 1},
                   .uverbs = std::nullopt}}};
  WorkerPool workers_{timers_, posts_.Poster()};
  std::optional<FuseTree> tree_{
      std::in_place, timers_, view_, workers_,
      FuseTree::Options{.uid = 1000, .gid = 1000, .device_mode = 0660}};
  testing::KernelSide kernel_;
  bool serving_ = true;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_TESTS_CUSE_FUSE_TREE_FIXTURE_H_
