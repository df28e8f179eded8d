// UmadFile, part 2: the ioctls, which register agents, remove them, and choose
// the layout of the header.
#include <rdma/rdma_user_ioctl.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "cuse/umad/umad_file.h"
#include "cuse/umad/umad_registration.h"

namespace ibemu::cuse {
namespace {

template <class T>
bool Decode(Bytes in, T& value) {
  if (in.size() < sizeof value) return false;
  std::memcpy(&value, in.data(), sizeof value);
  return true;
}

template <class T>
Bytes BytesOf(const T& value) {
  return {reinterpret_cast<const std::byte*>(&value), sizeof value};
}

}  // namespace

void UmadFile::Ioctl(const IoctlRequest& request, IoctlReply reply) {
  Errno result = Errno::kNotTty;
  switch (request.command) {
    case IB_USER_MAD_REGISTER_AGENT:
      return RegisterAgent<ib_user_mad_reg_req>(request, std::move(reply));
    case IB_USER_MAD_REGISTER_AGENT2:
      return RegisterAgent<ib_user_mad_reg_req2>(request, std::move(reply));
    case IB_USER_MAD_UNREGISTER_AGENT:
      result = UnregisterAgent(request);
      break;
    case IB_USER_MAD_ENABLE_PKEY:
      result = EnablePKey();
      break;
    default:
      break;
  }
  if (result != Errno::kOk) return reply.Fail(result);
  reply.Done();
}

Errno UmadFile::EnablePKey() {
  if (used_) return Errno::kInvalid;
  header_size_ = kUmadHeader;
  return Errno::kOk;
}

// Programs can see the order of the checks, so keep it.
template <class Request>
void UmadFile::RegisterAgent(const IoctlRequest& ioctl, IoctlReply reply) {
  constexpr bool kSecond = std::is_same_v<Request, ib_user_mad_reg_req2>;
  if (host_->removed()) return reply.Fail(Errno::kPipe);
  Request request;
  if (!Decode(ioctl.in, request)) return reply.Fail(Errno::kFault);

  if (const Errno error = CheckRequest(request); error != Errno::kOk) {
    if constexpr (kSecond) {
      if (request.qpn <= 1) {  // so the flags are wrong: report the valid ones
        request.flags = IB_USER_MAD_REG_FLAGS_CAP;
        return reply.FailWith(error, BytesOf(request));
      }
    }
    return reply.Fail(error);
  }
  const std::optional<uint32_t> id = FreeId();
  if (!id) return reply.Fail(Errno::kNoMemory);
  if (const Errno error = CheckClass(request); error != Errno::kOk) {
    return reply.Fail(error);
  }
  if (const Errno error = Register(*id, ToRegistration(request));
      error != Errno::kOk) {
    return reply.Fail(error);
  }
  if (!ioctl.writable) {
    agents_[*id].reset();
    return reply.Fail(Errno::kFault);
  }
  if (kSecond && !used_) header_size_ = kUmadHeader;
  used_ = true;
  request.id = *id;
  reply.Done(BytesOf(request));
}

Errno UmadFile::Register(uint32_t id, const mad::Registration& registration) {
  auto agent = host_->Register(port_, registration, *this);
  if (absl::IsUnavailable(agent.status())) return Errno::kPipe;
  if (!agent.ok()) return ToErrno(agent.status());
  agents_[id] = *std::move(agent);
  return Errno::kOk;
}

// Messages that the agent received before stay readable.  Those that it sent
// are forgotten.
Errno UmadFile::UnregisterAgent(const IoctlRequest& ioctl) {
  uint32_t id = 0;
  if (!Decode(ioctl.in, id)) return Errno::kFault;
  if (id >= kMaxAgents || agents_[id] == nullptr) return Errno::kInvalid;
  agents_[id].reset();
  sends_.DropAgent(id);
  return Errno::kOk;
}

std::optional<uint32_t> UmadFile::FreeId() const {
  const auto it = std::find(agents_.begin(), agents_.end(), nullptr);
  if (it == agents_.end()) return std::nullopt;
  return static_cast<uint32_t>(it - agents_.begin());
}

}  // namespace ibemu::cuse
