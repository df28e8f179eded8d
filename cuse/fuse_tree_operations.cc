#include "cuse/fuse_tree_operations.h"

#include <linux/fuse.h>
#include <unistd.h>

#include <string_view>
#include <utility>
#include <vector>

namespace ibemu::cuse {
namespace {

// Without FOPEN_STREAM a write() waits for a read() of another thread on the
// same descriptor: both want the lock of the file position.
constexpr uint32_t kDeviceFlags = FOPEN_DIRECT_IO | FOPEN_STREAM;

constexpr size_t kMaxWrite = size_t{1} << 20;  // what Linux's 256 pages hold

// The shape of sysfs doesn't change, that of dev/ does with each look-up.
constexpr double kEntryTimeout = 3600;  // seconds
constexpr double kAttributeTimeout = 3600;

}  // namespace

FuseTreeOperations::FuseTreeOperations(Timers& timers, const sysfs::View& view,
                                       WorkerPool& workers,
                                       const FuseTree::Options& options)
    : options_(options),
      made_(absl::ToTimespec(timers.Now())),
      nodes_(view),
      devices_(timers, workers, kDeviceFlags) {}

void FuseTreeOperations::Init(fuse_conn_info& connection) {
  if (connection.max_write > kMaxWrite) connection.max_write = kMaxWrite;
  devices_.SetPiece(connection.max_write);
  // Requests are small: copying one is cheaper than moving its pages.
  connection.want &=
      ~(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE);
}

struct stat FuseTreeOperations::StatOf(const TreeNode& node) const {
  struct stat result {};
  result.st_ino = node.number;
  result.st_uid = options_.uid;
  result.st_gid = options_.gid;
  result.st_blksize = 4096;
  result.st_nlink = 1;
  result.st_atim = result.st_mtim = result.st_ctim = made_;
  switch (node.kind) {
    case TreeNode::Kind::kDirectory:
      result.st_mode = S_IFDIR | 0755;
      result.st_nlink = 2;
      break;
    case TreeNode::Kind::kText:
      result.st_mode = S_IFREG | static_cast<mode_t>(node.entry->mode);
      result.st_size = node.entry->size;
      break;
    case TreeNode::Kind::kLink:
      result.st_mode = S_IFLNK | 0777;
      result.st_size = static_cast<off_t>(node.entry->target.size());
      break;
    case TreeNode::Kind::kDevice:
      result.st_mode = S_IFREG | options_.device_mode;
      break;
  }
  return result;
}

void FuseTreeOperations::Lookup(fuse_req_t request, fuse_ino_t parent,
                                const char* name) {
  const TreeNode* const node = nodes_.Child(parent, name);
  if (node == nullptr) return ReplyError(request, Errno::kNoEntry);
  const bool device = node->kind == TreeNode::Kind::kDevice;
  fuse_entry_param entry{};
  entry.ino = nodes_.Remember(*node);
  entry.attr = StatOf(*node);
  entry.attr_timeout = kAttributeTimeout;
  entry.entry_timeout = device ? 0 : kEntryTimeout;
  if (fuse_reply_entry(request, &entry) != 0) nodes_.Forget(entry.ino);
}

void FuseTreeOperations::GetAttributes(fuse_req_t request, fuse_ino_t id) {
  const TreeNode* const node = nodes_.Find(id);
  if (node == nullptr) return ReplyError(request, Errno::kNoEntry);
  const struct stat attributes = StatOf(*node);
  fuse_reply_attr(request, &attributes, kAttributeTimeout);
}

// Truncation and times mean nothing here, but programs do them in passing.
void FuseTreeOperations::SetAttributes(fuse_req_t request, fuse_ino_t id,
                                       int which) {
  constexpr int kOwnership =
      FUSE_SET_ATTR_MODE | FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID;
  if ((which & kOwnership) != 0) {
    return ReplyError(request, Errno::kNotPermitted);
  }
  GetAttributes(request, id);
}

void FuseTreeOperations::ReadLink(fuse_req_t request, fuse_ino_t id) {
  const TreeNode* const node = nodes_.Find(id);
  if (node == nullptr || node->kind != TreeNode::Kind::kLink) {
    return ReplyError(request, Errno::kInvalid);
  }
  fuse_reply_readlink(request, node->entry->target.c_str());
}

// Offsets: 1 and 2 stand behind "." and "..", the rest counts children.
void FuseTreeOperations::ReadDirectory(fuse_req_t request, fuse_ino_t id,
                                       size_t size, off_t offset) {
  const TreeNode* const node = nodes_.Find(id);
  if (node == nullptr || node->kind != TreeNode::Kind::kDirectory) {
    return ReplyError(request, Errno::kNotDirectory);
  }
  std::vector<char> buffer(std::min(size, kMaxWrite));
  size_t used = 0;
  const auto end = static_cast<off_t>(node->children.size() + 2);
  for (off_t i = std::max<off_t>(offset, 0); i < end; ++i) {
    const uint64_t number = i == 0 ? node->number
                            : i == 1
                                ? node->parent
                                : node->children[static_cast<size_t>(i - 2)];
    const TreeNode& child = *nodes_.Find(number);
    if (child.gone()) continue;
    const struct stat attributes = StatOf(child);
    const char* const name = i == 0 ? "." : i == 1 ? ".." : child.name.c_str();
    const size_t needed =
        fuse_add_direntry(request, buffer.data() + used, buffer.size() - used,
                          name, &attributes, i + 1);
    if (needed > buffer.size() - used) break;
    used += needed;
  }
  fuse_reply_buf(request, buffer.data(), used);
}

// For mounts without default_permissions; the kernel asks only here and in
// open().
bool FuseTreeOperations::MayWrite(const fuse_ctx& caller,
                                  const TreeNode& node) const {
  const mode_t mode = StatOf(node).st_mode;
  if (caller.uid == 0) return (mode & 0222) != 0;
  return (mode & (caller.uid == options_.uid ? 0200 : 0002)) != 0;
}

void FuseTreeOperations::Access(fuse_req_t request, fuse_ino_t id, int mask) {
  const TreeNode* const node = nodes_.Find(id);
  if (node == nullptr) return ReplyError(request, Errno::kNoEntry);
  const bool execute =
      (mask & X_OK) == 0 || node->kind == TreeNode::Kind::kDirectory;
  const bool write =
      (mask & W_OK) == 0 || MayWrite(*fuse_req_ctx(request), *node);
  ReplyError(request, execute && write ? Errno::kOk : Errno::kAccess);
}

void FuseTreeOperations::Open(fuse_req_t request, fuse_ino_t id,
                              const fuse_file_info& info) {
  const TreeNode* const node = nodes_.Find(id);
  if (node == nullptr) return ReplyError(request, Errno::kNoEntry);
  switch (node->kind) {
    case TreeNode::Kind::kDevice:
      return devices_.Open(request, node->device.NewFile(), info.flags);
    case TreeNode::Kind::kText:
      return OpenText(request, *node, info.flags);
    default:
      return ReplyError(request, Errno::kIsDirectory);
  }
}

void FuseTreeOperations::OpenText(fuse_req_t request, const TreeNode& node,
                                  int flags) {
  if ((flags & O_ACCMODE) != O_RDONLY &&
      !MayWrite(*fuse_req_ctx(request), node)) {
    return ReplyError(request, Errno::kAccess);
  }
  fuse_file_info info{};
  info.fh = texts_.Open(*node.entry) | kText;
  info.direct_io = 1;  // live, and of a size that nobody knows before
  if (fuse_reply_open(request, &info) != 0) texts_.Release(info.fh & ~kText);
}

void FuseTreeOperations::ReadText(fuse_req_t request, uint64_t file,
                                  size_t size, off_t offset) {
  const absl::StatusOr<std::string_view> text =
      texts_.Read(file & ~kText, static_cast<uint64_t>(offset), size);
  if (!text.ok()) return ReplyError(request, ToErrno(text.status()));
  fuse_reply_buf(request, text->data(), text->size());
}

void FuseTreeOperations::WriteText(fuse_req_t request, uint64_t file,
                                   Bytes data) {
  const std::string_view text(reinterpret_cast<const char*>(data.data()),
                              data.size());
  const absl::Status status = texts_.Write(file & ~kText, text);
  if (!status.ok()) return ReplyError(request, ToErrno(status));
  fuse_reply_write(request, data.size());
}

void FuseTreeOperations::ReleaseText(fuse_req_t request, uint64_t file) {
  texts_.Release(file & ~kText);
  ReplyError(request, Errno::kOk);
}

}  // namespace ibemu::cuse
