#include "cuse/fuse/cuse_device.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "cuse/fuse/fuse_devices.h"
#include "cuse/fuse/fuse_session.h"

namespace ibemu::cuse {
namespace {

// CUSE needs no flag: it neither caches nor keeps a file position, and takes no
// lock.
constexpr uint32_t kOpenFlags = 0;

// The kernel's limit on a request to a character device, 32 pages
// (FUSE_DEFAULT_MAX_PAGES_PER_REQ in fs/fuse/cuse.c).
constexpr size_t kPiece = size_t{128} << 10;

}  // namespace

class CuseDevice::Impl {
 public:
  Impl(Timers& timers, WorkerPool& workers, Identity identity, Opener opener)
      : identity_(std::move(identity)),
        opener_(std::move(opener)),
        devices_(timers, workers, /*supervisor=*/std::nullopt) {
    devices_.SetPiece(kPiece);
  }

  absl::Status Serve(UniqueFd cuse) {
    const std::string name = absl::StrCat("DEVNAME=", identity_.name);
    const char* about = name.c_str();
    const cuse_info info = {.dev_major = identity_.major_number,
                            .dev_minor = identity_.minor_number,
                            .dev_info_argc = 1,
                            .dev_info_argv = &about,
                            .flags = 0};
    IBEMU_RETURN_IF_ERROR(session_.Start(std::move(cuse), info, Table(), this));
    // The first request asks for the device's identity.  The kernel makes the
    // device when it gets the answer, and ends the connection if it can't.
    // After that there may already be a request of a client that has opened the
    // device.
    if (HandleOne() == FuseResult::kHandled &&
        HandleOne() != FuseResult::kEnded) {
      return absl::OkStatus();
    }
    return absl::AlreadyExistsError(absl::StrFormat(
        "/dev/%s, character device %d:%d: the kernel refuses it: name or "
        "number are in use",
        identity_.name, identity_.major_number, identity_.minor_number));
  }

  void SetOpener(Opener opener) { opener_ = std::move(opener); }
  bool in_use() const { return !devices_.empty(); }
  int fd() const { return session_.fd(); }
  FuseResult HandleOne() { return session_.HandleOne(); }

 private:
  using Info = fuse_file_info*;

  static Impl& Self(fuse_req_t request) {
    return *static_cast<Impl*>(fuse_req_userdata(request));
  }
  static const cuse_lowlevel_ops& Table();

  const Identity identity_;
  Opener opener_;
  FuseSession session_;  // outlives the files, which may still reply
  FuseDevices devices_;
};

// The parameters are libfuse's.
const cuse_lowlevel_ops& CuseDevice::Impl::Table() {
  static const cuse_lowlevel_ops table = [] {
    cuse_lowlevel_ops ops{};
    ops.open = [](fuse_req_t request, Info info) {
      Impl& self = Self(request);
      std::unique_ptr<File> file = self.opener_(info->flags);
      if (file == nullptr) return ReplyError(request, Errno::kNoSuchAddress);
      self.devices_.Open(request, std::move(file), info->flags, kOpenFlags);
    };
    ops.read = [](fuse_req_t request, size_t size, off_t offset, Info info) {
      Self(request).devices_.Read(request, size, offset, *info);
    };
    ops.write = [](fuse_req_t request, const char* data, size_t size,
                   off_t offset, Info info) {
      const Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
      Self(request).devices_.Write(request, bytes, offset, *info);
    };
    ops.ioctl = [](fuse_req_t request, int command, void* argument, Info info,
                   unsigned /*flags*/, const void* in, size_t in_size,
                   size_t out_room) {
      const IoctlRequest ioctl = {
          .command = static_cast<uint32_t>(command),
          .argument = reinterpret_cast<uintptr_t>(argument),
          .in = {static_cast<const std::byte*>(in), in_size},
          .out_room = out_room,
      };
      Self(request).devices_.Ioctl(request, ioctl, *info);
    };
    ops.poll = [](fuse_req_t request, Info info, fuse_pollhandle* handle) {
      Self(request).devices_.Poll(request, *info, handle);
    };
    ops.release = [](fuse_req_t request, Info info) {
      Self(request).devices_.Release(request, *info);
    };
    return ops;
  }();
  return table;
}

CuseDevice::CuseDevice(Timers& timers, WorkerPool& workers, Identity identity,
                       Opener opener)
    : impl_(std::make_unique<Impl>(timers, workers, std::move(identity),
                                   std::move(opener))) {}

CuseDevice::~CuseDevice() = default;

absl::Status CuseDevice::Serve(UniqueFd cuse) {
  return impl_->Serve(std::move(cuse));
}

void CuseDevice::SetOpener(Opener opener) {
  impl_->SetOpener(std::move(opener));
}

bool CuseDevice::in_use() const { return impl_->in_use(); }

int CuseDevice::fd() const { return impl_->fd(); }

FuseResult CuseDevice::HandleOne() { return impl_->HandleOne(); }

}  // namespace ibemu::cuse
