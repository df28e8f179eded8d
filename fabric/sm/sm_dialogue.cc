#include "fabric/sm/sm_dialogue.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace ibemu::fabric {
namespace {

constexpr absl::Duration kTimeout = absl::Milliseconds(200);
constexpr int kSends = 4;

// The upper half of our TIDs, to tell them from those of a program on the same
// port, for which the kernel counts from 1.
constexpr uint64_t kTidSpace = uint64_t{0xffffffff} << 32;

}  // namespace

using mad::Smp;

SmDialogue::SmDialogue(PortId port, MadSender& sender, Timers& timers)
    : port_(port), sender_(sender), timers_(timers) {}

SmDialogue::~SmDialogue() { Clear(); }

void SmDialogue::Clear() {
  for (const auto& [tid, request] : requests_) timers_.Cancel(request.timer);
  requests_.clear();
}

void SmDialogue::Get(const Path& path, Answered answered) {
  Smp smp;
  smp.method = mad::Method::kGet;
  Start(path, smp, std::move(answered));
}

void SmDialogue::Set(const Path& path, SmControl control,
                     const mad::SmInfo& own, Answered answered) {
  Smp smp;
  smp.method = mad::Method::kSet;
  smp.attr_mod = static_cast<uint32_t>(control);
  wire::Encode(own, smp.data);
  Start(path, smp, std::move(answered));
}

void SmDialogue::Start(const Path& path, Smp smp, Answered answered) {
  assert(!path.empty() && path.size() <= mad::kSmpMaxHops);
  const uint64_t tid = kTidSpace | next_tid_++;
  smp.mgmt_class = mad::MgmtClass::kSubnetDirectedRoute;
  smp.attr_id = mad::AttributeId::kSmInfo;
  smp.tid = tid;
  smp.hop_pointer = 1;
  smp.hop_count = static_cast<uint8_t>(path.size());
  smp.dr_slid = smp.dr_dlid = wire::Lid::kPermissive;
  std::copy(path.begin(), path.end(), smp.initial_path.begin() + 1);
  Request& request = requests_[tid];
  request.packet.qp = 0;
  request.packet.to.dlid = wire::Lid::kPermissive;
  wire::Encode(smp, request.packet.mad);
  request.answered = std::move(answered);
  Send(tid);
}

void SmDialogue::Send(uint64_t tid) {
  Request& request = requests_.at(tid);
  if (request.sent == kSends) return Finish(tid, std::nullopt);
  ++request.sent;
  request.timer = timers_.RunAfter(kTimeout, [this, tid] { Send(tid); });
  sender_.SendMad(port_, request.packet);
}

bool SmDialogue::TakeAnswer(const mad::MadBytes& answer) {
  const auto smp = wire::Decode<Smp>(answer);
  if (!requests_.contains(smp.tid)) return false;
  if (smp.status != mad::MadStatus::kOk) {
    Finish(smp.tid, std::nullopt);
  } else {
    Finish(smp.tid, wire::Decode<mad::SmInfo>(smp.data));
  }
  return true;
}

void SmDialogue::Finish(uint64_t tid,
                        const std::optional<mad::SmInfo>& answer) {
  const auto found = requests_.find(tid);
  Answered answered = std::move(found->second.answered);
  timers_.Cancel(found->second.timer);
  requests_.erase(found);
  answered(answer);
}

}  // namespace ibemu::fabric
