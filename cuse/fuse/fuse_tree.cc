#include "cuse/fuse/fuse_tree.h"

#include <utility>

#include "base/unique_fd.h"
#include "cuse/fuse/fuse_session.h"
#include "cuse/fuse/fuse_tree_operations.h"
#include "cuse/fuse/fuse_tree_table.h"

namespace ibemu::cuse {

class FuseTree::Impl {
 public:
  Impl(Timers& timers, const sysfs::View& view, WorkerPool& workers,
       const Options& options)
      : operations_(timers, view, workers, options) {}

  absl::Status Serve(UniqueFd fd) {
    return session_.Start(std::move(fd), FuseTreeTable(), &operations_);
  }

  void Update() { operations_.Update(); }

  int fd() const { return session_.fd(); }

  FuseResult HandleOne() { return session_.HandleOne(); }

 private:
  FuseSession session_;  // outlives the files, which may still reply
  FuseTreeOperations operations_;
};

FuseTree::FuseTree(Timers& timers, const sysfs::View& view, WorkerPool& workers,
                   const Options& options)
    : impl_(std::make_unique<Impl>(timers, view, workers, options)) {}

FuseTree::~FuseTree() = default;

absl::Status FuseTree::Serve(int fuse_fd) {
  return impl_->Serve(UniqueFd(fuse_fd));
}

void FuseTree::Update() { impl_->Update(); }

int FuseTree::fd() const { return impl_->fd(); }

FuseResult FuseTree::HandleOne() { return impl_->HandleOne(); }

}  // namespace ibemu::cuse
