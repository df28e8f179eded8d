#include "fabric/subnet/node.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

namespace ibemu::fabric {

namespace {

uint8_t LanesOf(uint8_t operational_vls) {
  // OperationalVLs of PortInfo is a code: 1, 2, 3, 4, 5 stand for 1, 2, 4, 8
  // and 15 VLs.
  constexpr std::array<uint8_t, 6> kLanes = {1, 1, 2, 4, 8, 15};
  return operational_vls < kLanes.size() ? kLanes[operational_vls]
                                         : kLanes.back();
}

// Returns the first half of a table by opensm's defaults: VL 0 is of high
// priority, and all others share the low one.
mad::VlArbitrationTable UsualWeights(bool high, uint8_t lanes, uint8_t cap) {
  constexpr uint8_t kWeight = 4;
  mad::VlArbitrationTable table;
  const auto count =
      std::min({size_t{lanes}, size_t{cap}, table.entries.size()});
  for (size_t vl = 0; vl < count; ++vl) {
    table.entries[vl] = {.vl = static_cast<uint8_t>(vl),
                         .weight = (vl == 0) == high ? kWeight : uint8_t{0}};
  }
  return table;
}

}  // namespace

uint8_t SlToVlDefault(uint8_t sl, uint8_t operational_vls) {
  return sl % LanesOf(operational_vls);
}

mad::VlArbitrationTable NodePort::VlArbitration(unsigned block) const {
  constexpr unsigned kLow = 0, kHigh = 2;
  if (tables && tables->vl_arbitration[block] != nullptr) {
    return wire::Decode<mad::VlArbitrationTable>(
        std::as_bytes(std::span(*tables->vl_arbitration[block])));
  }
  const uint8_t lanes = LanesOf(info.operational_vls);
  if (!has_usual_weights || lanes == 1) return {};
  if (block == kLow) {
    return UsualWeights(false, lanes, info.vl_arbitration_low_cap);
  }
  if (block == kHigh) {
    return UsualWeights(true, lanes, info.vl_arbitration_high_cap);
  }
  return {};
}

uint16_t NodePort::PKeyAt(int index) const {
  if (!tables || tables->p_keys.empty()) return index == 0 ? kDefaultPKey : 0;
  const auto entry = static_cast<size_t>(index);
  return entry < tables->p_keys.size() ? tables->p_keys[entry] : 0;
}

namespace {

// The index of the first entry that matches, or -1.
template <class Matches>
int FindPKeyEntry(const NodePort& port, Matches matches) {
  if (!port.tables || port.tables->p_keys.empty()) {
    return matches(kDefaultPKey) ? 0 : -1;
  }
  const auto& keys = port.tables->p_keys;
  const auto found = std::find_if(keys.begin(), keys.end(), matches);
  return found == keys.end() ? -1 : static_cast<int>(found - keys.begin());
}

}  // namespace

int NodePort::FindPKey(uint16_t p_key) const {
  return FindPKeyEntry(
      *this, [p_key](uint16_t entry) { return wire::MayTalk(p_key, entry); });
}

bool NodePort::AdmitsFromPeer(uint16_t p_key) const {
  return FindPKeyEntry(*this, [p_key](uint16_t entry) {
           return wire::MaySend(entry, p_key);
         }) >= 0;
}

void NodePort::SetPKey(int index, uint16_t p_key) {
  if (PKeyAt(index) == p_key) return;
  auto& keys = Tables().p_keys;
  if (keys.empty()) {
    keys.resize(kPKeyTableEntries);
    keys[0] = kDefaultPKey;
  }
  keys[static_cast<size_t>(index)] = p_key;
}

uint64_t NodePort::GuidAt(int index) const {
  if (index == 0) return static_cast<uint64_t>(guid);
  if (!tables) return 0;
  const auto entry = static_cast<size_t>(index);
  return entry < tables->guids.size() ? tables->guids[entry] : 0;
}

void NodePort::SetGuid(int index, uint64_t value) {
  if (GuidAt(index) == value || index == 0) return;
  auto& guids = Tables().guids;
  if (guids.empty()) guids.resize(kGuidTableEntries);
  guids[static_cast<size_t>(index)] = value;
}

void Node::Describe(std::string_view text) {
  text = text.substr(0, 64);
  if (description == text) return;
  if (first_description == nullptr) {
    first_description = std::make_unique<std::string>(std::move(description));
  }
  description = text;
}

}  // namespace ibemu::fabric
