#include "hca/mlx4/verbs/verbs_provider.h"

#include <endian.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "hca/mlx4/core/verbs_attributes.h"
#include "hca/mlx4/verbs/mlx4_queue_pair.h"
#include "hca/mlx4/verbs/mlx4_srq.h"
#include "verbs/parts/completion_queue.h"
#include "verbs/parts/device_limits.h"
#include "verbs/parts/memory_region.h"
#include "verbs/uverbs/port_attributes.h"

namespace ibemu::hca::mlx4 {
namespace {

// The common memory for messages, in addition to each process's own piece.  A
// single process may have half of it.
constexpr size_t kSendMemory = size_t{48} << 20;
constexpr size_t kReceiveMemory = size_t{80} << 20;

// A base that keeps the provider alive until the rest of an object is
// destroyed, and counts the objects.
class Keeper {
 protected:
  Keeper(std::shared_ptr<VerbsProvider> provider, uint32_t& count)
      : provider_(std::move(provider)), count_(count) {
    ++count_;
  }
  ~Keeper() { --count_; }

 public:
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

 private:
  const std::shared_ptr<VerbsProvider> provider_;
  uint32_t& count_;  // the provider's
};

template <class Base>
class Kept final : private Keeper, public Base {
 public:
  template <class... Arguments>
  Kept(std::shared_ptr<VerbsProvider> provider, uint32_t& count,
       Arguments&&... arguments)
      : Keeper(std::move(provider), count),
        Base(std::forward<Arguments>(arguments)...) {}
};

verbs::DeviceAttributes DeviceOf(const VerbsParts& parts) {
  verbs::DeviceAttributes device =
      DeviceAttributesOf(parts.resources.adapter().firmware());
  device.node_guid = htobe64(parts.node_guid);
  device.sys_image_guid = htobe64(parts.system_image_guid);
  device.hw_ver = parts.revision;
  return device;
}

// Returns none if `type` is not an event of a queue pair or a shared receive
// queue.
std::optional<verbs::AsyncEventType> AsyncEventTypeOf(prm::EqeType type) {
  using enum prm::EqeType;
  using verbs::AsyncEventType;
  switch (type) {
    case kCommunicationEstablished:
      return AsyncEventType::kCommunicationEstablished;
    case kSendQueueDrained:
      return AsyncEventType::kSendQueueDrained;
    case kWqCatastrophicError:
      return AsyncEventType::kQpFatal;
    case kWqInvalidRequest:
      return AsyncEventType::kQpRequestError;
    case kWqAccessError:
      return AsyncEventType::kQpAccessError;
    case kSrqLastWqe:
      return AsyncEventType::kLastWqeReached;
    case kSrqCatastrophicError:
      return AsyncEventType::kSrqError;
    case kSrqLimit:
      return AsyncEventType::kSrqLimit;
    default:
      return std::nullopt;
  }
}

verbs::PortAttributes AttributesOf(const mad::Port& port) {
  return verbs::PortAttributesOf(port.Info(), {.max_message = kMaxMessage,
                                               .gids = port.GidCount(),
                                               .p_keys = port.PKeyCount()});
}

absl::Status Missing(const char* what) {
  return absl::UnimplementedError(
      absl::StrFormat("a real adapter has no %s here yet", what));
}

absl::Status NoMore(const char* what) {
  return absl::ResourceExhaustedError(
      absl::StrFormat("the device has no more %s", what));
}

}  // namespace

VerbsProvider::VerbsProvider(VerbsParts parts)
    : parts_(std::move(parts)),
      device_(DeviceOf(parts_)),
      keys_(device_.max_mr),
      groups_(parts_.resources) {
  Mlx4Adapter& adapter = parts_.resources.adapter();
  send_memory_.emplace(adapter.function(), adapter.timers(), kSendMemory);
  receive_memory_.emplace(adapter.function(), adapter.timers(), kReceiveMemory);
  for (const mad::Port* const port : parts_.ports) {
    port_attributes_.push_back(AttributesOf(*port));
    looks_.push_back(LookAt(*port));
  }
}

VerbsProvider::~VerbsProvider() = default;

absl::Status VerbsProvider::CheckAlive() const {
  if (alive_) return absl::OkStatus();
  return absl::UnavailableError("the adapter is gone");
}

absl::StatusOr<verbs::PortAttributes> VerbsProvider::QueryPort(int port) const {
  if (port < 1 || port > static_cast<int>(port_attributes_.size())) {
    return absl::InvalidArgumentError(
        absl::StrFormat("port %d: the device has ports 1 to %d", port,
                        port_attributes_.size()));
  }
  return port_attributes_[static_cast<size_t>(port - 1)];
}

absl::StatusOr<std::unique_ptr<verbs::Pd>> VerbsProvider::CreatePd(
    uint64_t process) {
  IBEMU_RETURN_IF_ERROR(CheckAlive());
  if (pds_ >= device_.max_pd) return NoMore("domains");
  return std::make_unique<Kept<Mlx4Pd>>(shared_from_this(), pds_, process);
}

// A region's key serves the client's own requests only, not those of peers.
absl::StatusOr<std::unique_ptr<verbs::Mr>> VerbsProvider::CreateMr(
    const verbs::MrInit& init) {
  namespace access = verbs::access;
  constexpr uint32_t kOfPeers = access::kRemoteWrite | access::kRemoteRead |
                                access::kRemoteAtomic | access::kBindWindow;
  IBEMU_RETURN_IF_ERROR(CheckAlive());
  if ((init.access & kOfPeers) != 0) return Missing("regions for peers");
  IBEMU_ASSIGN_OR_RETURN(auto key, keys_.Allocate());
  return std::make_unique<Kept<verbs::MemoryRegion>>(shared_from_this(), mrs_,
                                                     std::move(key), init);
}

absl::StatusOr<std::unique_ptr<verbs::Ah>> VerbsProvider::CreateAh(
    verbs::Pd& pd, const verbs::AddressAttributes& attributes) {
  IBEMU_RETURN_IF_ERROR(CheckAlive());
  IBEMU_RETURN_IF_ERROR(verbs::CheckAddress(device_, gids(), attributes));
  if (ahs_ >= device_.max_ah) return NoMore("address handles");
  return std::make_unique<Kept<verbs::AddressHandle>>(shared_from_this(), ahs_,
                                                      pd, attributes);
}

absl::StatusOr<std::unique_ptr<verbs::Cq>> VerbsProvider::CreateCq(
    uint32_t size, verbs::CqListener& listener) {
  IBEMU_RETURN_IF_ERROR(CheckAlive());
  IBEMU_RETURN_IF_ERROR(verbs::CheckCqSize(device_, size));
  if (cqs_ >= device_.max_cq) return NoMore("completion queues");
  return std::make_unique<Kept<verbs::CompletionQueue>>(
      shared_from_this(), cqs_, size, device_.max_cqe, listener);
}

absl::StatusOr<std::unique_ptr<verbs::Srq>> VerbsProvider::CreateSrq(
    verbs::Pd& pd, const verbs::SrqAttributes& attributes,
    verbs::ObjectListener& listener) {
  IBEMU_RETURN_IF_ERROR(CheckAlive());
  IBEMU_RETURN_IF_ERROR(verbs::CheckSrq(device_, attributes));
  if (srqs_.size() >= device_.max_srq) return NoMore("shared receive queues");
  return Mlx4Srq::Create(shared_from_this(), pd, attributes, listener);
}

absl::StatusOr<std::unique_ptr<verbs::Qp>> VerbsProvider::CreateQp(
    const verbs::QpInit& init, verbs::ObjectListener& listener) {
  IBEMU_RETURN_IF_ERROR(CheckAlive());
  if (init.type != verbs::QpType::kRc && init.type != verbs::QpType::kUc &&
      init.type != verbs::QpType::kUd) {
    return Missing("queue pairs of this type");
  }
  IBEMU_RETURN_IF_ERROR(
      verbs::CheckCapacity(device_, init.capacity, kMaxInline));
  if (qps_.size() >= device_.max_qp) return NoMore("queue pairs");
  return Mlx4QueuePair::Create(shared_from_this(), init, listener);
}

void VerbsProvider::AddListener(verbs::AsyncEventListener& listener) {
  listeners_.Add(listener);
}

void VerbsProvider::RemoveListener(verbs::AsyncEventListener& listener) {
  listeners_.Remove(listener);
}

VerbsUse VerbsProvider::Use() const {
  return {.pds = pds_,
          .mrs = mrs_,
          .ahs = ahs_,
          .cqs = cqs_,
          .qps = qps_.size(),
          .srqs = srqs_.size(),
          .send_memory = send_memory_->in_use(),
          .receive_memory = receive_memory_->in_use()};
}

VerbsProvider::PortLook VerbsProvider::LookAt(const mad::Port& port) const {
  const mad::PortInfo info = port.Info();
  PortLook look = {.active = info.port_state == mad::PortState::kActive,
                   .lid = info.lid,
                   .sm_lid = info.master_sm_lid,
                   .p_keys = {},
                   .gids = {}};
  for (int i = 0; i < port.PKeyCount(); ++i) {
    look.p_keys.push_back(port.PKeyAt(i));
  }
  for (int i = 0; i < port.GidCount(); ++i) look.gids.push_back(port.GidAt(i));
  return look;
}

void VerbsProvider::Tell(verbs::AsyncEventType type, int port) {
  listeners_.ForEach([&](verbs::AsyncEventListener& listener) {
    listener.OnDeviceEvent(type, port);
  });
}

void VerbsProvider::OnPortChange(int number) {
  using enum verbs::AsyncEventType;
  if (!alive_) return;
  const auto place = static_cast<size_t>(number - 1);
  const mad::Port& port = *parts_.ports[place];
  port_attributes_[place] = AttributesOf(port);
  const PortLook now = LookAt(port);
  const PortLook before = std::exchange(looks_[place], now);
  if (before.active != now.active) {
    Tell(now.active ? kPortActive : kPortError, number);
  }
  if (before.lid != now.lid) Tell(kLidChange, number);
  if (before.sm_lid != now.sm_lid) Tell(kSmChange, number);
  if (before.p_keys != now.p_keys) Tell(kPKeyChange, number);
  if (before.gids != now.gids) Tell(kGidChange, number);
}

void VerbsProvider::OnClientReregister(int port) {
  if (alive_) Tell(verbs::AsyncEventType::kClientReregister, port);
}

void VerbsProvider::OnShortage(const absl::Status& why) {
  if (std::exchange(told_shortage_, true)) return;
  parts_.resources.adapter().Note(absl::StrFormat(
      "%s: messages of programs fail for want of memory", why.message()));
}

int VerbsProvider::gids() const {
  return static_cast<int>(port_attributes_.front().gid_tbl_len);
}

uint32_t VerbsProvider::MtuCodeOf(int port) const {
  return port_attributes_[static_cast<size_t>(std::max(port, 1) - 1)]
      .active_mtu;
}

absl::Status VerbsProvider::AttachMulticast(const verbs::GidBytes& gid,
                                            uint32_t qpn) {
  return groups_.Attach(gid, qpn, device_.max_mcast_qp_attach);
}

// If the firmware does not end the membership, it would pass the group's
// messages to the next queue pair with this number; so the adapter is cut off.
void VerbsProvider::DetachMulticast(const verbs::GidBytes& gid, uint32_t qpn) {
  Mlx4Adapter& adapter = parts_.resources.adapter();
  if (adapter.cut_off()) return;
  const absl::Status detached = groups_.Detach(gid, qpn);
  if (!detached.ok()) adapter.CutOff(detached);
}

void VerbsProvider::Add(Mlx4QueuePair& qp) {
  qps_[qp.number()] = &qp;
  qps_by_cqn_[qp.cqn()] = &qp;
}

void VerbsProvider::Forget(Mlx4QueuePair& qp) {
  const auto is_it = [&qp](const auto& entry) { return entry.second == &qp; };
  absl::erase_if(qps_, is_it);
  absl::erase_if(qps_by_cqn_, is_it);
}

void VerbsProvider::Add(Mlx4Srq& srq) { srqs_[srq.number()] = &srq; }

void VerbsProvider::Forget(Mlx4Srq& srq) {
  absl::erase_if(srqs_,
                 [&srq](const auto& entry) { return entry.second == &srq; });
}

void VerbsProvider::OnEvent(const prm::Eqe& event) {
  if (!alive_) return;
  const uint32_t number =
      wire::Decode<prm::QueueEvent>(std::as_bytes(std::span(event.data)))
          .number;
  const auto find = [number](const auto& all) {
    const auto found = all.find(number);
    return found == all.end() ? nullptr : found->second;
  };
  if (event.type == prm::EqeType::kCompletion) {
    if (Mlx4QueuePair* const qp = find(qps_by_cqn_)) qp->OnCompletionEvent();
    return;
  }
  if (event.type == prm::EqeType::kCqError) {
    // A completion queue of the adapter belongs to one queue pair.
    if (Mlx4QueuePair* const qp = find(qps_by_cqn_)) qp->OnCqError();
    return;
  }
  const std::optional<verbs::AsyncEventType> type =
      AsyncEventTypeOf(event.type);
  if (!type) return;
  if (*type == verbs::AsyncEventType::kSrqError ||
      *type == verbs::AsyncEventType::kSrqLimit) {
    if (Mlx4Srq* const srq = find(srqs_)) srq->OnEvent(*type);
  } else if (Mlx4QueuePair* const qp = find(qps_)) {
    // Completions from before the event are reported first.
    qp->PollCompletions();
    qp->OnEvent(*type);
  }
}

void VerbsProvider::PollCompletions() {
  if (!alive_) return;
  for (const auto& [number, qp] : qps_) qp->PollCompletions();
}

void VerbsProvider::OnRemoved() {
  if (!std::exchange(alive_, false)) return;
  for (const auto& [number, qp] : qps_) qp->OnRemoved();
  Tell(verbs::AsyncEventType::kDeviceFatal, 0);
}

// Queue pairs go first, because they use shared receive queues.
void VerbsProvider::End() {
  alive_ = false;
  for (const auto& [number, qp] : qps_) qp->OnGone();
  for (const auto& [number, srq] : srqs_) srq->OnGone();
  send_memory_.reset();
  receive_memory_.reset();
}

}  // namespace ibemu::hca::mlx4
