#include "hca/model/mlx4/transport/queue_pairs.h"

#include <algorithm>
#include <utility>

#include "hca/model/mlx4/core/qp_transitions.h"
#include "hca/model/mlx4/transport/datagram_queue_pair.h"
#include "hca/model/mlx4/transport/rc_queue_pair.h"
#include "hca/model/mlx4/transport/uc_queue_pair.h"
#include "hca/prm/mlx4_memory.h"

namespace ibemu::hca::model::mlx4 {

using prm::Opcode;
using Status = prm::CommandStatus;

namespace {

constexpr uint32_t kSpecialQps = 4;  // QP0 and QP1 of two ports
constexpr uint32_t kSpecialAlignment = 8;

// The interval of looking for receive WQEs to flush in the error state.
constexpr absl::Duration kPollInterval = absl::Milliseconds(5);

}  // namespace

QueuePairs::~QueuePairs() { core_.timers.Cancel(poll_); }

Status QueuePairs::ConfigureSpecial(uint32_t base) {
  if (base % kSpecialAlignment != 0) return Status::kBadParam;
  if (base != 0 &&
      (base < 1u << core_.cap.log_rsvd_qp ||
       base + kSpecialQps > static_cast<uint32_t>(core_.qp_count()))) {
    return Status::kBadIndex;
  }
  const auto in_use = [this](uint32_t first) {
    const auto pair = pairs_.lower_bound(first);
    return pair != pairs_.end() && pair->first < first + kSpecialQps;
  };
  if (in_use(base) || (special_base_ && in_use(*special_base_))) {
    return Status::kResourceBusy;
  }
  special_base_ = base == 0 ? std::nullopt : std::optional(base);
  return Status::kOk;
}

std::optional<QueuePairs::Special> QueuePairs::SpecialOf(uint32_t qpn) const {
  if (!special_base_ || qpn < *special_base_ ||
      qpn >= *special_base_ + kSpecialQps) {
    return std::nullopt;
  }
  const uint32_t offset = qpn - *special_base_;
  return Special{.qp = static_cast<int>(offset / 2),
                 .port = static_cast<int>(offset % 2) + 1};
}

Status QueuePairs::CheckNew(uint32_t qpn, const prm::QpContext& context) {
  constexpr int kMinLogSqStride = 2;  // 64 bytes
  constexpr uint64_t kRecordAlignment = 4;
  const prm::QueryDevCap& cap = core_.cap;
  const auto special = SpecialOf(qpn);
  const bool mlx = context.service == prm::QpService::kMlx;
  const bool known = mlx || context.service == prm::QpService::kRc ||
                     context.service == prm::QpService::kUc ||
                     context.service == prm::QpService::kUd;
  if (!known || mlx != special.has_value() ||
      (special && !ports_->Has(static_cast<uint32_t>(special->port)))) {
    return Status::kBadParam;
  }
  if (context.log_sq_size > cap.log_max_qp_sz ||
      (!context.srq && context.log_rq_size > cap.log_max_qp_sz) ||
      context.log_sq_stride < kMinLogSqStride ||
      context.log_page_size > kMaxLogQueuePage ||
      context.mtt_base_addr % wire::kBytes<prm::MttEntry> != 0 ||
      context.db_record_addr % kRecordAlignment != 0 ||
      context.pd >> cap.log_max_pd != 0 ||
      context.usr_page < cap.num_rsvd_uar) {
    return Status::kBadParam;
  }
  if (completions_.Find(context.cqn_send) == nullptr ||
      completions_.Find(context.cqn_receive) == nullptr ||
      (context.srq && shared_.Find(context.srqn) == nullptr)) {
    return Status::kBadResourceState;
  }
  QueueBuffer buffer(core_, ModelSendQueue::Place(context, 0));
  return buffer.Translates(ModelSendQueue::SendBytes(context) +
                           ModelSendQueue::ReceiveBytes(context))
             ? Status::kOk
             : Status::kIcmError;
}

void QueuePairs::Create(uint32_t qpn, const prm::QpContext& context) {
  ReceiveSource* shared = nullptr;
  if (context.srq) {
    shared = shared_.Find(context.srqn);
    shared_.AddUser(context.srqn);
  }
  completions_.AddUser(context.cqn_send);
  completions_.AddUser(context.cqn_receive);
  QpEnvironment& environment = *this;
  if (context.service == prm::QpService::kRc) {
    pairs_[qpn] =
        std::make_unique<RcQueuePair>(environment, qpn, context, shared);
    return;
  }
  if (context.service == prm::QpService::kUc) {
    pairs_[qpn] =
        std::make_unique<UcQueuePair>(environment, qpn, context, shared);
    return;
  }
  const auto special = SpecialOf(qpn);
  pairs_[qpn] = std::make_unique<DatagramQueuePair>(
      environment, qpn, context, shared,
      special ? std::optional(special->qp) : std::nullopt);
}

void QueuePairs::Destroy(Pairs::iterator pair) {
  const prm::QpContext context = pair->second->context();
  completions_.RemoveUser(context.cqn_send);
  completions_.RemoveUser(context.cqn_receive);
  if (context.srq) shared_.RemoveUser(context.srqn);
  pairs_.erase(pair);
}

Status QueuePairs::Modify(Opcode opcode, uint32_t qpn, uint32_t optional,
                          const prm::QpContext& given, bool tell_drained) {
  if (const Status status = core_.CheckQp(IndexOf(qpn));
      status != Status::kOk) {
    return status;
  }
  const auto pair = pairs_.find(qpn);
  const prm::QpContextState before = pair == pairs_.end()
                                         ? prm::QpContextState::kReset
                                         : pair->second->state();
  const std::optional<prm::QpContextState> next = NextState(opcode, before);
  if (!next) return Status::kBadQpState;
  const prm::QpService service = before == prm::QpContextState::kReset
                                     ? given.service
                                     : pair->second->context().service;
  if ((optional & ~OptionalComponents(opcode, service)) != 0) {
    return Status::kBadParam;
  }

  if (before == prm::QpContextState::kReset) {
    if (opcode != Opcode::kRst2InitQp) {
      // Reset has no effect on an unused queue pair, and such a one can't be
      // put into the error state.
      return opcode == Opcode::k2RstQp ? Status::kOk : Status::kBadQpState;
    }
    // Two QP numbers may share an entry of the tables, but not at once.
    const bool taken = std::ranges::any_of(pairs_, [&](const auto& other) {
      return IndexOf(other.first) == IndexOf(qpn);
    });
    if (taken) return Status::kBadResourceState;
    if (const Status status = CheckNew(qpn, given); status != Status::kOk) {
      return status;
    }
    prm::QpContext context = given;
    context.state = prm::QpContextState::kInit;
    if (const auto special = SpecialOf(qpn)) {
      context.primary.sched_queue = prm::SchedQueue(special->port, 0);
    }
    Create(qpn, context);
    return Status::kOk;
  }
  if (opcode == Opcode::k2RstQp) {
    Destroy(pair);
    return Status::kOk;
  }
  prm::QpContext context = pair->second->context();
  TakeContext(opcode, optional, given, context);
  if (!ports_->Has(static_cast<uint32_t>(
          prm::PortOfSchedQueue(context.primary.sched_queue)))) {
    return Status::kBadParam;
  }
  constexpr uint8_t kMtu4096 = 5;
  if (opcode == Opcode::kInit2RtrQp &&
      (context.mtu == 0 || context.mtu > kMtu4096)) {
    return Status::kBadParam;
  }
  context.state = *next;
  pair->second->Change(context);
  if (opcode == Opcode::kRts2SqdQp && tell_drained) {
    pair->second->TellWhenDrained();
  }
  PollReceives();
  return Status::kOk;
}

std::optional<prm::QpContext> QueuePairs::Query(uint32_t qpn) const {
  if (core_.CheckQp(IndexOf(qpn)) != Status::kOk) return std::nullopt;
  const auto pair = pairs_.find(qpn);
  if (pair != pairs_.end()) return pair->second->context();
  prm::QpContext context;
  context.local_qpn = qpn;
  return context;
}

void QueuePairs::Doorbell(uint32_t page, uint32_t qpn) {
  const auto pair = pairs_.find(qpn);
  if (pair == pairs_.end() || pair->second->context().usr_page != page) {
    ++bad_doorbells_;
    return;
  }
  pair->second->Doorbell();
}

bool QueuePairs::IsForPort(int port, wire::Lid lid) const {
  const mad::PortInfo info = ports_->cable(port).Info();
  const auto base = static_cast<uint16_t>(info.lid);
  const auto number = static_cast<uint16_t>(lid);
  return wire::IsUnicast(lid) && number >= base &&
         number - base < 1 << info.lmc;
}

void QueuePairs::Send(int port, std::vector<std::byte> packet,
                      bool force_loopback) {
  if (!ports_->enabled(port)) return;
  const auto lrh = wire::Decode<wire::LocalRouteHeader>(packet);
  const bool to_itself = force_loopback || IsForPort(port, lrh.dlid);
  if (to_itself || wire::IsMulticast(lrh.dlid)) {
    core_.timers.RunSoon([weak = std::weak_ptr(alive_), port, copy = packet] {
      if (const auto alive = weak.lock()) (*alive)->Receive(port, copy);
    });
  }
  if (!to_itself) ports_->cable(port).Send(packet);
}

void QueuePairs::Receive(int port, std::span<const std::byte> bytes) {
  const std::optional<ParsedPacket> packet = ParsePacket(bytes);
  if (!packet) return;
  const uint32_t qpn = packet->bth.destination_qpn;
  if (qpn == kMulticastQpn) {
    ReceiveMulticast(port, *packet);
    return;
  }
  uint32_t number = qpn;
  if (qpn <= 1) {
    if (!special_base_) return;
    number = *special_base_ + 2 * qpn + static_cast<uint32_t>(port) - 1;
  } else if (SpecialOf(qpn)) {
    return;  // they are reached only by their well-known numbers
  }
  const auto pair = pairs_.find(number);
  if (pair == pairs_.end() || pair->second->port() != port) return;
  pair->second->Receive(*packet);
  PollReceives();
}

void QueuePairs::ReceiveMulticast(int port, const ParsedPacket& packet) {
  if (!packet.grh || !wire::IsMulticast(packet.grh->dgid)) return;
  std::array<uint8_t, 16> gid;
  wire::Encode(packet.grh->dgid, std::as_writable_bytes(std::span(gid)));
  ParsedPacket copy = packet;
  const auto deth = copy.Take<wire::DatagramHeader>();
  for (const prm::McgMember& member : multicast_.Members(gid)) {
    const auto pair = pairs_.find(member.qpn);
    if (pair == pairs_.end() || pair->second->port() != port) continue;
    // A sender receives its own packet, unless it asked not to.
    const bool own = deth && deth->source_qpn == member.qpn &&
                     IsForPort(port, packet.lrh.slid);
    if (own && member.block_loopback) continue;
    pair->second->Receive(packet);
  }
  PollReceives();
}

void QueuePairs::PollReceives() {
  const bool any = std::ranges::any_of(pairs_, [](const auto& pair) {
    return pair.second->state() == prm::QpContextState::kError;
  });
  if (!any || poll_ != TimerId::kNone) return;
  poll_ = core_.timers.RunAfter(kPollInterval, [this] {
    poll_ = TimerId::kNone;
    for (const auto& [qpn, pair] : pairs_) pair->FlushReceives();
    PollReceives();
  });
}

void QueuePairs::Reset() {
  core_.timers.Cancel(std::exchange(poll_, TimerId::kNone));
  pairs_.clear();
  special_base_.reset();
  // Drops packets on their way to the port itself as well.
  alive_ = std::make_shared<QueuePairs*>(this);
}

}  // namespace ibemu::hca::model::mlx4
