#include "cuse/umad/umad_sends.h"

#include <algorithm>
#include <cassert>

namespace ibemu::cuse {
namespace {

std::pair<uint64_t, mad::MgmtClass> KeyOf(mad::Bytes mad) {
  return {wire::Get<&mad::MadHeader::tid>(mad),
          wire::Get<&mad::MadHeader::mgmt_class>(mad)};
}

}  // namespace

bool UmadSends::IsDuplicate(const ib_user_mad_hdr& header,
                            mad::Bytes mad) const {
  const auto chain = first_.find(KeyOf(mad));
  if (chain == first_.end()) return false;

  const bool answer = mad::IsResponseMad(mad);
  for (uint32_t at = chain->second; at != kNone; at = slots_[at].next) {
    const Send& sent = slots_[at].send;
    if (mad::IsResponseMad(sent.mad_header) != answer) continue;
    if (!answer || SameDestination(header, sent.header)) return true;
  }
  return false;
}

uint64_t UmadSends::Add(uint32_t agent_id, const ib_user_mad_hdr& header,
                        mad::Bytes mad) {
  uint32_t index = free_;
  if (index == kNone) {
    index = static_cast<uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    free_ = slots_[index].next;
  }
  Slot& slot = slots_[index];
  slot.send.agent_id = agent_id;
  slot.send.header = header;
  std::copy_n(mad.begin(), mad::kMadHeaderBytes, slot.send.mad_header.begin());
  slot.used = true;

  const auto [chain, fresh] = first_.try_emplace(KeyOf(mad), index);
  slot.next = fresh ? kNone : std::exchange(chain->second, index);
  return uint64_t{slot.generation} << 32 | index;
}

std::optional<UmadSends::Send> UmadSends::Take(uint64_t cookie) {
  const auto index = static_cast<uint32_t>(cookie);
  if (index >= slots_.size() || !slots_[index].used ||
      slots_[index].generation != cookie >> 32) {
    return std::nullopt;
  }
  Remove(index);
  return slots_[index].send;
}

void UmadSends::DropAgent(uint32_t agent_id,
                          absl::FunctionRef<void(const Send&)> dropped) {
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    if (!slots_[i].used || slots_[i].send.agent_id != agent_id) continue;
    dropped(slots_[i].send);
    Remove(i);
  }
}

void UmadSends::Remove(uint32_t index) {
  Slot& slot = slots_[index];
  const auto chain = first_.find(KeyOf(slot.send.mad_header));
  assert(chain != first_.end());
  if (chain->second == index && slot.next == kNone) {
    first_.erase(chain);
  } else {
    uint32_t* link = &chain->second;
    while (*link != index) link = &slots_[*link].next;
    *link = slot.next;
  }
  slot.used = false;
  ++slot.generation;
  slot.next = free_;
  free_ = index;
}

}  // namespace ibemu::cuse
