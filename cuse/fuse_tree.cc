#include "cuse/fuse_tree.h"

#include <utility>

#include "base/unique_fd.h"
#include "cuse/fuse_tree_operations.h"

namespace ibemu::cuse {
namespace {

// So that one busy mount does not keep the loop from the others.
constexpr int kRequestsAtOnce = 16;

// A client that waits for each answer never has a second request ready, and
// looking for one costs a system call a request.  So unless there lately was
// one, only every so many calls look.
constexpr int kLookEvery = 16;

}  // namespace

class FuseTree::Impl {
 public:
  Impl(Timers& timers, const sysfs::View& view, WorkerPool& workers,
       const Options& options)
      : operations_(timers, view, workers, options) {}

  absl::Status Serve(UniqueFd fd) {
    return session_.Start(std::move(fd), FuseTreeOperations::Table(),
                          &operations_);
  }

  int fd() const { return session_.fd(); }

  bool OnReadable() {
    const bool look = more_is_likely_ || ++calls_ % kLookEvery == 0;
    for (int i = 0; i < (look ? kRequestsAtOnce : 1); ++i) {
      switch (session_.HandleOne()) {
        case FuseSession::Result::kEnded:
          return false;
        case FuseSession::Result::kNothing:
          more_is_likely_ = i > 1;
          return true;
        case FuseSession::Result::kHandled:
          break;
      }
      // The answer to what was written may be there before the client asks.
      if (operations_.TakeWritten()) return true;
    }
    more_is_likely_ = look;
    return true;
  }

 private:
  FuseSession session_;  // outlives the files, which still have replies
  FuseTreeOperations operations_;
  bool more_is_likely_ = false;
  unsigned calls_ = 0;
};

FuseTree::FuseTree(Timers& timers, const sysfs::View& view, WorkerPool& workers,
                   const Options& options)
    : impl_(std::make_unique<Impl>(timers, view, workers, options)) {}

FuseTree::~FuseTree() = default;

absl::Status FuseTree::Serve(int fuse_fd) {
  return impl_->Serve(UniqueFd(fuse_fd));
}

int FuseTree::fd() const { return impl_->fd(); }

bool FuseTree::OnReadable() { return impl_->OnReadable(); }

}  // namespace ibemu::cuse
