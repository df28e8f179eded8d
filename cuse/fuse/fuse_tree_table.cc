// FuseTreeOperations::Table(): libfuse's table of functions, bound to a
// FuseTreeOperations.
#include <sys/statvfs.h>

#include "cuse/fuse/fuse_tree_operations.h"

namespace ibemu::cuse {

// The parameters are libfuse's.  Requests without a function here are answered
// with ENOSYS, which makes the kernel stop sending them: FLUSH, extended
// attributes.
struct FuseTreeOperations::Calls {
  using Info = fuse_file_info*;

  static FuseTreeOperations& Self(fuse_req_t request) {
    return *static_cast<FuseTreeOperations*>(fuse_req_userdata(request));
  }

  static bool IsDevice(const fuse_file_info& info) {
    return (info.fh & kText) == 0;
  }

  static void Init(void* user, fuse_conn_info* connection) {
    static_cast<FuseTreeOperations*>(user)->Init(*connection);
  }

  static void Lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
    Self(request).Lookup(request, parent, name);
  }

  static void Forget(fuse_req_t request, fuse_ino_t id, uint64_t times) {
    Self(request).nodes_.Forget(id, times);
    fuse_reply_none(request);
  }

  static void ForgetMulti(fuse_req_t request, size_t count,
                          fuse_forget_data* forgets) {
    for (size_t i = 0; i < count; ++i) {
      Self(request).nodes_.Forget(forgets[i].ino, forgets[i].nlookup);
    }
    fuse_reply_none(request);
  }

  static void GetAttr(fuse_req_t request, fuse_ino_t id, Info /*info*/) {
    Self(request).GetAttributes(request, id);
  }

  static void SetAttr(fuse_req_t request, fuse_ino_t id, struct stat* /*to*/,
                      int which, Info /*info*/) {
    Self(request).SetAttributes(request, id, which);
  }

  static void ReadLink(fuse_req_t request, fuse_ino_t id) {
    Self(request).ReadLink(request, id);
  }

  static void OpenDir(fuse_req_t request, fuse_ino_t id, Info /*info*/) {
    Self(request).OpenDirectory(request, id);
  }

  static void ReadDir(fuse_req_t request, fuse_ino_t id, size_t size,
                      off_t offset, Info /*info*/) {
    Self(request).ReadDirectory(request, id, size, offset);
  }

  static void StatFs(fuse_req_t request, fuse_ino_t /*id*/) {
    struct statvfs result {};
    result.f_bsize = result.f_frsize = 4096;
    result.f_namemax = 255;
    fuse_reply_statfs(request, &result);
  }

  static void Access(fuse_req_t request, fuse_ino_t id, int mask) {
    Self(request).Access(request, id, mask);
  }

  static void Open(fuse_req_t request, fuse_ino_t id, Info info) {
    Self(request).Open(request, id, *info);
  }

  static void Read(fuse_req_t request, fuse_ino_t /*id*/, size_t size,
                   off_t offset, Info info) {
    FuseTreeOperations& self = Self(request);
    if (IsDevice(*info)) {
      return self.devices_.Read(request, size, offset, *info);
    }
    self.ReadText(request, info->fh, size, offset);
  }

  static void Write(fuse_req_t request, fuse_ino_t /*id*/, const char* data,
                    size_t size, off_t offset, Info info) {
    const Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
    FuseTreeOperations& self = Self(request);
    if (IsDevice(*info)) {
      return self.devices_.Write(request, bytes, offset, *info);
    }
    self.WriteText(request, info->fh, bytes);
  }

  static void Ioctl(fuse_req_t request, fuse_ino_t /*id*/, unsigned command,
                    void* argument, Info info, unsigned /*flags*/,
                    const void* in, size_t in_size, size_t out_room) {
    FuseTreeOperations& self = Self(request);
    if (!IsDevice(*info)) return ReplyError(request, Errno::kNotTty);
    const IoctlRequest ioctl = {
        .command = command,
        .argument = reinterpret_cast<uintptr_t>(argument),
        .in = {static_cast<const std::byte*>(in), in_size},
        .out_room = out_room,
    };
    self.devices_.Ioctl(request, ioctl, *info);
  }

  static void Poll(fuse_req_t request, fuse_ino_t /*id*/, Info info,
                   fuse_pollhandle* handle) {
    FuseTreeOperations& self = Self(request);
    if (IsDevice(*info)) return self.devices_.Poll(request, *info, handle);
    if (handle != nullptr) fuse_pollhandle_destroy(handle);
    fuse_reply_poll(request, static_cast<unsigned>(info->poll_events));
  }

  static void FSync(fuse_req_t request, fuse_ino_t /*id*/, int /*data_only*/,
                    Info /*info*/) {
    ReplyError(request, Errno::kInvalid);
  }

  static void Release(fuse_req_t request, fuse_ino_t /*id*/, Info info) {
    FuseTreeOperations& self = Self(request);
    if (IsDevice(*info)) return self.devices_.Release(request, *info);
    self.ReleaseText(request, info->fh);
  }
};

const fuse_lowlevel_ops& FuseTreeOperations::Table() {
  static const fuse_lowlevel_ops table = [] {
    fuse_lowlevel_ops ops{};
    ops.init = Calls::Init;
    ops.lookup = Calls::Lookup;
    ops.forget = Calls::Forget;
    ops.forget_multi = Calls::ForgetMulti;
    ops.getattr = Calls::GetAttr;
    ops.setattr = Calls::SetAttr;
    ops.readlink = Calls::ReadLink;
    ops.opendir = Calls::OpenDir;
    ops.readdir = Calls::ReadDir;
    ops.statfs = Calls::StatFs;
    ops.access = Calls::Access;
    ops.open = Calls::Open;
    ops.read = Calls::Read;
    ops.write = Calls::Write;
    ops.ioctl = Calls::Ioctl;
    ops.poll = Calls::Poll;
    ops.fsync = Calls::FSync;
    ops.release = Calls::Release;
    return ops;
  }();
  return table;
}

}  // namespace ibemu::cuse
