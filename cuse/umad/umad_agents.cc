#include "cuse/umad/umad_agents.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "cuse/client/caller_memory.h"
#include "cuse/umad/umad_registration.h"

namespace ibemu::cuse {
namespace {

template <class T>
Bytes BytesOf(const T& value) {
  return {reinterpret_cast<const std::byte*>(&value), sizeof value};
}

}  // namespace

// Programs can see the order of the checks, so keep it.
template <class Request>
void UmadAgents::Register(const IoctlRequest& ioctl, IoctlReply reply) {
  constexpr bool kSecond = std::is_same_v<Request, ib_user_mad_reg_req2>;
  if (host_.removed()) return reply.Fail(Errno::kPipe);
  Request request;
  if (ioctl.in.size() < sizeof request) return reply.Fail(Errno::kFault);
  std::memcpy(&request, ioctl.in.data(), sizeof request);

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
  mad::Registration registration = ToRegistration(request);
  registration.process = static_cast<uint64_t>(ClientOf(ioctl.caller));
  if (const Errno error = Add(*id, registration); error != Errno::kOk) {
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

template void UmadAgents::Register<ib_user_mad_reg_req>(const IoctlRequest&,
                                                        IoctlReply);
template void UmadAgents::Register<ib_user_mad_reg_req2>(const IoctlRequest&,
                                                         IoctlReply);

Errno UmadAgents::Add(uint32_t id, const mad::Registration& registration) {
  auto agent = host_.Register(port_, registration, client_);
  if (absl::IsUnavailable(agent.status())) return Errno::kPipe;
  if (!agent.ok()) return ToErrno(agent.status());
  agents_[id] = *std::move(agent);
  return Errno::kOk;
}

Errno UmadAgents::EnablePKey() {
  if (used_) return Errno::kInvalid;
  header_size_ = kUmadHeader;
  return Errno::kOk;
}

bool UmadAgents::Remove(uint32_t id) {
  if (!IsId(id) || agents_[id] == nullptr) return false;
  agents_[id].reset();
  return true;
}

void UmadAgents::Clear() {
  for (auto& agent : agents_) agent.reset();
}

uint32_t UmadAgents::IdOf(const mad::Agent& agent) const {
  const auto it =
      std::find_if(agents_.begin(), agents_.end(),
                   [&](const auto& own) { return own.get() == &agent; });
  return static_cast<uint32_t>(it - agents_.begin());
}

std::optional<uint32_t> UmadAgents::FreeId() const {
  const auto it = std::find(agents_.begin(), agents_.end(), nullptr);
  if (it == agents_.end()) return std::nullopt;
  return static_cast<uint32_t>(it - agents_.begin());
}

}  // namespace ibemu::cuse
