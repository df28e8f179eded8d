// A client thread that is blocked in a long write().
#ifndef IBEMU_TESTS_CUSE_LONG_WRITER_H_
#define IBEMU_TESTS_CUSE_LONG_WRITER_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "cuse/client/caller_memory.h"

namespace ibemu::cuse {

// It writes to a pipe, which looks the same to whoever asks what it is doing.
class LongWriter {
 public:
  explicit LongWriter(size_t size) : buffer_(size) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    from_.Reset(ends[0]);
    to_.Reset(ends[1]);
    thread_ = std::thread([this] {
      tid_ = gettid();
      EXPECT_EQ(write(to_.get(), buffer_.data(), buffer_.size()),
                static_cast<ssize_t>(buffer_.size()));
      while (runs_) {
      }
      end_.wait();
    });
    while (tid_ == 0 || !SizeOfWrite(tid_).ok()) std::this_thread::yield();
  }
  ~LongWriter() {
    BreakOff();  // also of running
    end_.count_down();
    thread_.join();
  }

  pid_t tid() const { return tid_; }

  // Ends the write().
  enum class Then { kWait, kRun };  // what the thread does
  void BreakOff(Then then = Then::kWait) {
    runs_ = then == Then::kRun;
    std::vector<std::byte> page(4096);
    size_t left = ended_ ? 0 : buffer_.size();
    while (left > 0) {
      left -= static_cast<size_t>(
          read(from_.get(), page.data(), std::min(page.size(), left)));
    }
    ended_ = true;
    while (!runs_ && IsWriting()) std::this_thread::yield();
  }

 private:
  bool IsWriting() const {
    const absl::StatusOr<BlockedCall> call = CallOf(tid_);
    return !call.ok() || call->number == SYS_write;
  }

  std::vector<std::byte> buffer_;
  UniqueFd from_;
  UniqueFd to_;
  bool ended_ = false;
  std::atomic<bool> runs_ = false;
  std::latch end_{1};
  std::atomic<pid_t> tid_ = 0;
  std::thread thread_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_TESTS_CUSE_LONG_WRITER_H_
