#include "cuse/fuse/fuse_tree_table.h"

#include <sys/statvfs.h>

#include "cuse/fuse/fuse_tree_operations.h"

namespace ibemu::cuse {
namespace {

using Info = fuse_file_info*;

FuseTreeOperations& TreeOf(fuse_req_t request) {
  return *static_cast<FuseTreeOperations*>(fuse_req_userdata(request));
}

// The functions for names and attributes.  The parameters are libfuse's.
void AddNames(fuse_lowlevel_ops& ops) {
  ops.init = [](void* user, fuse_conn_info* connection) {
    static_cast<FuseTreeOperations*>(user)->Init(*connection);
  };
  ops.lookup = [](fuse_req_t request, fuse_ino_t parent, const char* name) {
    TreeOf(request).Lookup(request, parent, name);
  };
  ops.forget = [](fuse_req_t request, fuse_ino_t id, uint64_t times) {
    TreeOf(request).Forget(id, times);
    fuse_reply_none(request);
  };
  ops.forget_multi = [](fuse_req_t request, size_t count,
                        fuse_forget_data* forgets) {
    for (size_t i = 0; i < count; ++i) {
      TreeOf(request).Forget(forgets[i].ino, forgets[i].nlookup);
    }
    fuse_reply_none(request);
  };
  ops.getattr = [](fuse_req_t request, fuse_ino_t id, Info /*info*/) {
    TreeOf(request).GetAttributes(request, id);
  };
  ops.setattr = [](fuse_req_t request, fuse_ino_t id, struct stat* /*to*/,
                   int which, Info /*info*/) {
    TreeOf(request).SetAttributes(request, id, which);
  };
  ops.readlink = [](fuse_req_t request, fuse_ino_t id) {
    TreeOf(request).ReadLink(request, id);
  };
  ops.opendir = [](fuse_req_t request, fuse_ino_t id, Info /*info*/) {
    TreeOf(request).OpenDirectory(request, id);
  };
  ops.readdir = [](fuse_req_t request, fuse_ino_t id, size_t size, off_t offset,
                   Info /*info*/) {
    TreeOf(request).ReadDirectory(request, id, size, offset);
  };
  ops.statfs = [](fuse_req_t request, fuse_ino_t /*id*/) {
    struct statvfs result {};
    result.f_bsize = result.f_frsize = 4096;
    result.f_namemax = 255;
    fuse_reply_statfs(request, &result);
  };
  ops.access = [](fuse_req_t request, fuse_ino_t id, int mask) {
    TreeOf(request).Access(request, id, mask);
  };
}

// The functions for open files, which are device files or texts.
void AddFiles(fuse_lowlevel_ops& ops) {
  ops.open = [](fuse_req_t request, fuse_ino_t id, Info info) {
    TreeOf(request).Open(request, id, *info);
  };
  ops.read = [](fuse_req_t request, fuse_ino_t /*id*/, size_t size,
                off_t offset, Info info) {
    FuseTreeOperations& tree = TreeOf(request);
    if (FuseTreeOperations::IsDevice(*info)) {
      return tree.devices().Read(request, size, offset, *info);
    }
    tree.ReadText(request, info->fh, size, offset);
  };
  ops.write = [](fuse_req_t request, fuse_ino_t /*id*/, const char* data,
                 size_t size, off_t offset, Info info) {
    const Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
    FuseTreeOperations& tree = TreeOf(request);
    if (FuseTreeOperations::IsDevice(*info)) {
      return tree.devices().Write(request, bytes, offset, *info);
    }
    tree.WriteText(request, info->fh, bytes);
  };
  ops.ioctl = [](fuse_req_t request, fuse_ino_t /*id*/, unsigned command,
                 void* argument, Info info, unsigned /*flags*/, const void* in,
                 size_t in_size, size_t out_room) {
    if (!FuseTreeOperations::IsDevice(*info)) {
      return ReplyError(request, Errno::kNotTty);
    }
    const IoctlRequest ioctl = {
        .command = command,
        .argument = reinterpret_cast<uintptr_t>(argument),
        .in = {static_cast<const std::byte*>(in), in_size},
        .out_room = out_room,
    };
    TreeOf(request).devices().Ioctl(request, ioctl, *info);
  };
  ops.poll = [](fuse_req_t request, fuse_ino_t /*id*/, Info info,
                fuse_pollhandle* handle) {
    if (FuseTreeOperations::IsDevice(*info)) {
      return TreeOf(request).devices().Poll(request, *info, handle);
    }
    if (handle != nullptr) fuse_pollhandle_destroy(handle);
    fuse_reply_poll(request, static_cast<unsigned>(info->poll_events));
  };
  ops.fsync = [](fuse_req_t request, fuse_ino_t /*id*/, int /*data_only*/,
                 Info /*info*/) { ReplyError(request, Errno::kInvalid); };
  ops.release = [](fuse_req_t request, fuse_ino_t /*id*/, Info info) {
    FuseTreeOperations& tree = TreeOf(request);
    if (FuseTreeOperations::IsDevice(*info)) {
      return tree.devices().Release(request, *info);
    }
    tree.ReleaseText(request, info->fh);
  };
}

}  // namespace

const fuse_lowlevel_ops& FuseTreeTable() {
  static const fuse_lowlevel_ops table = [] {
    fuse_lowlevel_ops ops{};
    AddNames(ops);
    AddFiles(ops);
    return ops;
  }();
  return table;
}

}  // namespace ibemu::cuse
