// FuseTreeOperations: the answers of a FuseTree to each kind of FUSE request.
#ifndef IBEMU_CUSE_FUSE_FUSE_TREE_OPERATIONS_H_
#define IBEMU_CUSE_FUSE_FUSE_TREE_OPERATIONS_H_

#include <sys/stat.h>

#include <memory>

#include "cuse/client/pinned_pages.h"
#include "cuse/fuse/fuse_devices.h"
#include "cuse/fuse/fuse_session.h"
#include "cuse/fuse/fuse_tree.h"
#include "cuse/fuse/text_files.h"
#include "cuse/fuse/tree_nodes.h"
#include "cuse/uverbs/uverbs_offers.h"

namespace ibemu::cuse {

// The operations on the nodes, texts and device files of one FuseTree.  Those
// that take a request answer it; FuseTreeTable() says which function of libfuse
// each belongs to.
class FuseTreeOperations {
 public:
  FuseTreeOperations(Timers& timers, const sysfs::View& view,
                     WorkerPool& workers, const FuseTree::Options& options);

  // Called when the devices of the view have changed.
  void Update();

  // Settles with the kernel how it sends its requests.
  void Init(fuse_conn_info& connection);

  // Nodes, by the ids that a look-up gave them.  The kernel forgets `times`
  // look-ups at a time.
  void Lookup(fuse_req_t request, fuse_ino_t parent, const char* name);
  void Forget(fuse_ino_t id, uint64_t times) { nodes_.Forget(id, times); }
  void GetAttributes(fuse_req_t request, fuse_ino_t id);
  void SetAttributes(fuse_req_t request, fuse_ino_t id, int which);
  void ReadLink(fuse_req_t request, fuse_ino_t id);
  void OpenDirectory(fuse_req_t request, fuse_ino_t id);
  void ReadDirectory(fuse_req_t request, fuse_ino_t id, size_t size,
                     off_t offset);
  void Access(fuse_req_t request, fuse_ino_t id, int mask);
  void Open(fuse_req_t request, fuse_ino_t id, const fuse_file_info& info);

  // Open files.  Device files have all their requests answered by devices().
  static bool IsDevice(const fuse_file_info& info) {
    return (info.fh & kText) == 0;
  }
  FuseDevices& devices() { return devices_; }
  void ReadText(fuse_req_t request, uint64_t file, size_t size, off_t offset);
  void WriteText(fuse_req_t request, uint64_t file, Bytes data);
  void ReleaseText(fuse_req_t request, uint64_t file);

 private:
  // A bit of file handles: set for texts, clear for device files.
  static constexpr uint64_t kText = uint64_t{1} << 63;

  std::unique_ptr<File> NewFile(const DeviceNode& device, int flags);
  std::unique_ptr<File> NewUverbsFile(const DeviceNode& device, int flags);
  void OpenText(fuse_req_t request, const TreeNodes::NodePtr& node, int flags);
  struct stat StatOf(const TreeNode& node) const;
  // True if a write() that is not answered yet holds up no other.
  bool HasParallelWrites(const DeviceNode& device) const;
  uint32_t OpenFlagsOf(const DeviceNode& device) const;
  bool MayWrite(const fuse_ctx& caller, const TreeNode& node) const;

  FuseTree::Options options_;
  const sysfs::View& view_;
  timespec made_;                     // the time that every entry shows
  bool has_parallel_writes_ = false;  // the kernel
  TreeNodes nodes_;
  TextFiles texts_;
  Timers& timers_;
  WorkerPool& workers_;
  const std::shared_ptr<UverbsOffers> offers_ =
      std::make_shared<UverbsOffers>();
  const std::shared_ptr<PinnedPages> pinned_ = PinnedPages::OfThisMachine();
  FuseDevices devices_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_FUSE_FUSE_TREE_OPERATIONS_H_
