// A client thread that is blocked in read().
#ifndef IBEMU_TESTS_CUSE_BLOCKED_READER_H_
#define IBEMU_TESTS_CUSE_BLOCKED_READER_H_

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "cuse/client/caller_memory.h"

namespace ibemu::cuse {

// It reads from a pipe, which looks the same to whoever asks what it is doing.
class BlockedReader {
 public:
  explicit BlockedReader(size_t size) : buffer_(size) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    from_.Reset(ends[0]);
    to_.Reset(ends[1]);
    thread_ = std::thread([this] {
      tid_ = gettid();
      EXPECT_EQ(read(from_.get(), buffer_.data(), buffer_.size()), 0);
      end_.wait();
    });
    while (tid_ == 0 || !IsBlocked()) std::this_thread::yield();
  }
  ~BlockedReader() {
    to_.Reset();  // end of file
    end_.count_down();
    thread_.join();
  }

  // Ends the read(), and waits until the thread is in another call.
  void BreakOff() {
    to_.Reset();
    while (IsReading()) std::this_thread::yield();
  }

  pid_t tid() const { return tid_; }
  const std::vector<std::byte>& buffer() const { return buffer_; }

 private:
  bool IsReading() const {
    const absl::StatusOr<BlockedCall> call = CallOf(tid_);
    return !call.ok() || call->number == SYS_read;
  }

  // Its state in stat of proc(5).
  bool IsBlocked() const {
    std::ifstream stat("/proc/self/task/" + std::to_string(tid_) + "/stat");
    std::string text;
    std::getline(stat, text);
    const size_t name_ends = text.rfind(')');
    return name_ends != text.npos && text.compare(name_ends, 3, ") S") == 0;
  }

  std::vector<std::byte> buffer_;
  UniqueFd from_;
  UniqueFd to_;
  std::latch end_{1};
  std::atomic<pid_t> tid_ = 0;
  std::thread thread_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_TESTS_CUSE_BLOCKED_READER_H_
