#include "cuse/fuse/fuse_tree_operations.h"

#include <fcntl.h>
#include <linux/fuse.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "cuse/fuse/adapter_identity.h"
#include "cuse/umad/issm_file.h"
#include "cuse/umad/umad_file.h"
#include "cuse/uverbs/uverbs_file.h"

namespace ibemu::cuse {
namespace {

// Without FOPEN_STREAM a write() would wait for a read() by another thread on
// the same descriptor, because both take the lock of the file position.
constexpr uint32_t kDeviceFlags = FOPEN_DIRECT_IO | FOPEN_STREAM;

// From this minor version on, Linux lets several threads write to an inode at
// once, if the open file has FOPEN_PARALLEL_DIRECT_WRITES and no write goes
// beyond the size of the inode.  Otherwise each has the inode's lock until it
// is answered.
constexpr uint32_t kParallelWrites = 38;

// A size that no write reaches, for each begins at 0.
constexpr off_t kBeyondWrites = off_t{1} << 62;

constexpr mode_t kEverybody = 0666;  // uverbsN (rdma-core's udev rule), rdma_cm

constexpr size_t kMaxWrite = size_t{1} << 20;  // what Linux's 256 pages hold
// Before this minor version a request of Linux has 32 pages at most.  libfuse
// 3.14 lowers max_write to that before it calls Init(), 3.17 after it.
constexpr uint32_t kManyPages = 28;
constexpr size_t kFewPagesHold = size_t{128} << 10;

// In seconds.  The kernel looks up a device's name each time, and drops what is
// below it when the device goes.
constexpr double kTimeout = 3600;
double EntryTimeout(const TreeNode& parent) {
  return parent.changes ? 0 : kTimeout;
}

// True of devices to which clients give commands by write(), which may wait.
bool IsForEverybody(const DeviceNode& device) {
  return device.kind == DeviceNode::Kind::kUverbs ||
         device.kind == DeviceNode::Kind::kRdmaCm;
}

}  // namespace

FuseTreeOperations::FuseTreeOperations(Timers& timers, const sysfs::View& view,
                                       WorkerPool& workers,
                                       const FuseTree::Options& options)
    : options_(options),
      view_(view),
      made_(absl::ToTimespec(timers.Now())),
      nodes_(view),
      timers_(timers),
      workers_(workers),
      devices_(timers, workers, options.uid) {}

void FuseTreeOperations::Update() { nodes_.Update(view_); }

void FuseTreeOperations::Init(fuse_conn_info& connection) {
  const size_t most =
      connection.proto_minor < kManyPages ? kFewPagesHold : kMaxWrite;
  connection.max_write =
      std::min(connection.max_write, static_cast<unsigned>(most));
  devices_.SetPiece(connection.max_write);
  has_parallel_writes_ = connection.proto_minor >= kParallelWrites;
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
      result.st_mode =
          S_IFREG |
          (IsForEverybody(node.device) ? kEverybody : options_.device_mode);
      if (HasParallelWrites(node.device)) result.st_size = kBeyondWrites;
      break;
    case TreeNode::Kind::kCharacter:
      result.st_mode = S_IFCHR | kEverybody;
      result.st_rdev =
          makedev(static_cast<unsigned>(node.device_number.major_number),
                  static_cast<unsigned>(node.device_number.minor_number));
      break;
  }
  return result;
}

// A umad keeps no writer waiting, and is a file that all see: with a size,
// 32-bit programs could not open it, and others would try to read it to its
// end.
bool FuseTreeOperations::HasParallelWrites(const DeviceNode& device) const {
  return has_parallel_writes_ && IsForEverybody(device);
}

uint32_t FuseTreeOperations::OpenFlagsOf(const DeviceNode& device) const {
  return HasParallelWrites(device) ? kDeviceFlags | FOPEN_PARALLEL_DIRECT_WRITES
                                   : kDeviceFlags;
}

void FuseTreeOperations::Lookup(fuse_req_t request, fuse_ino_t parent,
                                const char* name) {
  const TreeNodes::NodePtr node = nodes_.Child(parent, name);
  if (node == nullptr) return ReplyError(request, Errno::kNoEntry);
  fuse_entry_param entry{};
  entry.ino = nodes_.Remember(node);
  entry.attr = StatOf(*node);
  entry.attr_timeout = kTimeout;
  entry.entry_timeout = EntryTimeout(*nodes_.Find(parent));
  if (fuse_reply_entry(request, &entry) != 0) nodes_.Forget(entry.ino, 1);
}

void FuseTreeOperations::GetAttributes(fuse_req_t request, fuse_ino_t id) {
  const TreeNodes::NodePtr node = nodes_.Find(id);
  if (node == nullptr) return ReplyError(request, Errno::kNoEntry);
  const struct stat attributes = StatOf(*node);
  fuse_reply_attr(request, &attributes, kTimeout);
}

// Times have no meaning here, but programs set them in passing, as they
// truncate a text file of sysfs before they write to it.  A device can't be
// truncated (open() with O_TRUNC, which is no error, does not come here).
void FuseTreeOperations::SetAttributes(fuse_req_t request, fuse_ino_t id,
                                       int which) {
  constexpr int kOwnership =
      FUSE_SET_ATTR_MODE | FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID;
  if ((which & kOwnership) != 0) {
    return ReplyError(request, Errno::kNotPermitted);
  }
  const TreeNodes::NodePtr node = nodes_.Find(id);
  if ((which & FUSE_SET_ATTR_SIZE) != 0 && node != nullptr &&
      node->kind == TreeNode::Kind::kDevice) {
    return ReplyError(request, Errno::kInvalid);
  }
  GetAttributes(request, id);
}

void FuseTreeOperations::ReadLink(fuse_req_t request, fuse_ino_t id) {
  const TreeNodes::NodePtr node = nodes_.Find(id);
  if (node == nullptr || node->kind != TreeNode::Kind::kLink) {
    return ReplyError(request, Errno::kInvalid);
  }
  // The beginning of a link's text that leads from class/NAME/ to its device.
  constexpr std::string_view kFromClass = "../../devices/";
  const std::string& target = node->entry->target;
  if (options_.sys_path.empty() || !target.starts_with(kFromClass)) {
    fuse_reply_readlink(request, target.c_str());
    return;
  }
  const std::string absolute =
      options_.sys_path + target.substr(std::string_view("../..").size());
  fuse_reply_readlink(request, absolute.c_str());
}

// The kernel may cache a listing that never changes.
void FuseTreeOperations::OpenDirectory(fuse_req_t request, fuse_ino_t id) {
  const TreeNodes::NodePtr node = nodes_.Find(id);
  if (node == nullptr) return ReplyError(request, Errno::kNoEntry);
  fuse_file_info info{};
  info.cache_readdir = info.keep_cache = node->changes ? 0 : 1;
  fuse_reply_open(request, &info);
}

// Offsets: 1 and 2 are the places after "." and "..", and the number of a child
// plus 2 is the place after that child.  So children may come and go between
// two calls.
void FuseTreeOperations::ReadDirectory(fuse_req_t request, fuse_ino_t id,
                                       size_t size, off_t offset) {
  const TreeNodes::NodePtr node = nodes_.Find(id);
  if (node == nullptr || node->kind != TreeNode::Kind::kDirectory) {
    return ReplyError(request, Errno::kNotDirectory);
  }
  std::vector<char> buffer(std::min(size, kMaxWrite));
  size_t used = 0;
  const auto add = [&](const char* name, const struct stat& attributes,
                       off_t next) {
    if (offset >= next) return true;
    const size_t needed =
        fuse_add_direntry(request, buffer.data() + used, buffer.size() - used,
                          name, &attributes, next);
    if (needed > buffer.size() - used) return false;
    used += needed;
    return true;
  };
  struct stat parent = StatOf(*node);
  parent.st_ino = node->parent;
  bool room = add(".", StatOf(*node), 1) && add("..", parent, 2);
  for (const auto& child : node->children) {
    if (!child->listed()) continue;
    room = room && add(child->name.c_str(), StatOf(*child),
                       static_cast<off_t>(child->number + 2));
  }
  fuse_reply_buf(request, buffer.data(), used);
}

// Checks the permission on mounts without default_permissions, where the kernel
// asks only in access() and open().
bool FuseTreeOperations::MayWrite(const fuse_ctx& caller,
                                  const TreeNode& node) const {
  const mode_t mode = StatOf(node).st_mode;
  if (caller.uid == 0) return (mode & 0222) != 0;
  return (mode & (caller.uid == options_.uid ? 0200 : 0002)) != 0;
}

void FuseTreeOperations::Access(fuse_req_t request, fuse_ino_t id, int mask) {
  const TreeNodes::NodePtr node = nodes_.Find(id);
  if (node == nullptr) return ReplyError(request, Errno::kNoEntry);
  const bool execute =
      (mask & X_OK) == 0 || node->kind == TreeNode::Kind::kDirectory;
  const bool write =
      (mask & W_OK) == 0 || MayWrite(*fuse_req_ctx(request), *node);
  ReplyError(request, execute && write ? Errno::kOk : Errno::kAccess);
}

void FuseTreeOperations::Open(fuse_req_t request, fuse_ino_t id,
                              const fuse_file_info& info) {
  const TreeNodes::NodePtr node = nodes_.Find(id);
  if (node == nullptr) return ReplyError(request, Errno::kNoEntry);
  switch (node->kind) {
    case TreeNode::Kind::kDevice:
      return devices_.Open(request, NewFile(node->device, info.flags),
                           info.flags, OpenFlagsOf(node->device));
    case TreeNode::Kind::kText:
      return OpenText(request, node, info.flags);
    case TreeNode::Kind::kCharacter:
      return ReplyError(request, Errno::kAccess);
    default:
      return ReplyError(request, Errno::kIsDirectory);
  }
}

std::unique_ptr<File> FuseTreeOperations::NewFile(const DeviceNode& device,
                                                  int flags) {
  switch (device.kind) {
    case DeviceNode::Kind::kIssm:
      return std::make_unique<IssmFile>(device.host, device.port);
    case DeviceNode::Kind::kUverbs:
      return NewUverbsFile(device, flags);
    case DeviceNode::Kind::kRdmaCm:
      return options_.rdma_cm_file();
    case DeviceNode::Kind::kUmad:
      break;
  }
  return std::make_unique<UmadFile>(device.host, device.port, options_.rings);
}

std::unique_ptr<File> FuseTreeOperations::NewUverbsFile(
    const DeviceNode& device, int flags) {
  // No command can be written to this descriptor, so it serves only for events.
  if ((flags & O_ACCMODE) == O_RDONLY) {
    return std::make_unique<UverbsEventFile>(offers_, options_.uid);
  }
  return std::make_unique<UverbsFile>(
      device.host, options_.provider_of(device.slot),
      AdapterIdentityOf(view_.profile), timers_, workers_, offers_, pinned_,
      options_.rings, options_.uverbs_files);
}

void FuseTreeOperations::OpenText(fuse_req_t request,
                                  const TreeNodes::NodePtr& node, int flags) {
  if (node->gone) return ReplyError(request, Errno::kNoDevice);
  if ((flags & O_ACCMODE) != O_RDONLY &&
      !MayWrite(*fuse_req_ctx(request), *node)) {
    return ReplyError(request, Errno::kAccess);
  }
  fuse_file_info info{};
  info.fh = texts_.Open(node) | kText;
  info.direct_io = 1;  // made when read, so the size is unknown
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
