#include "hca/model/mlx4/core/command_trace.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "hca/prm/mlx4_completion.h"
#include "hca/prm/mlx4_events.h"
#include "hca/prm/mlx4_hca.h"
#include "hca/prm/mlx4_management.h"
#include "hca/prm/mlx4_memory.h"
#include "hca/prm/mlx4_qp.h"
#include "hca/prm/mlx4_query.h"
#include "mad/wire/mad_header.h"
#include "wire/layout.h"

namespace ibemu::hca::model {
namespace {

using prm::Opcode;
using Bytes = std::span<const std::byte>;

template <class V>
bool IsBusAddress(std::string_view name) {
  // In an MPT, "pa" is a single bit.
  return !std::is_same_v<V, bool> && (name == "pa" || name == "db_record_addr");
}

template <class V>
void AppendValue(std::string_view name, const V& value,
                 const std::string& prefix, std::string& text) {
  name = name.substr(0, name.find(','));
  if constexpr (wire::Structure<V>) {
    wire::ForEach(value, [&, inner = absl::StrCat(prefix, Absl(name), ".")](
                             std::string_view part, const auto& component) {
      AppendValue(part, component, inner, text);
    });
  } else if constexpr (std::is_integral_v<V> || std::is_enum_v<V>) {
    const auto number = static_cast<uint64_t>(value);
    if (number == 0) return;
    absl::StrAppend(&text, " ", prefix, Absl(name), "=");
    if (IsBusAddress<V>(name)) {
      absl::StrAppend(&text, "bus");
    } else {
      absl::StrAppendFormat(&text, "%#x", number);
    }
  } else if (value != V{}) {
    absl::StrAppend(&text, " ", prefix, Absl(name), "=0x");
    for (const uint8_t byte : value) absl::StrAppendFormat(&text, "%02x", byte);
  }
}

// Appends the structure at the start of `mailbox`; nothing if that is too
// short.
template <wire::Structure T>
void Append(Bytes mailbox, std::string& text) {
  if (mailbox.size() < wire::kBytes<T>) return;
  const T value = wire::Decode<T>(mailbox);
  wire::ForEach(value, [&](std::string_view name, const auto& component) {
    AppendValue(name, component, "", text);
  });
  std::array<std::byte, wire::kBytes<T>> declared;
  wire::Encode(value, declared);
  for (size_t i = 0; i < declared.size(); ++i) {
    const auto extra = static_cast<int>(mailbox[i] & ~declared[i]);
    if (extra != 0) absl::StrAppendFormat(&text, " ?%#x=%#x", i, extra);
  }
}

void AppendMappings(const CommandRecord& record, std::string& text) {
  constexpr size_t kEach = wire::kBytes<prm::VirtualPhysicalMapping>;
  Bytes left = record.inbox;
  for (uint32_t i = 0; i < record.in_modifier && left.size() >= kEach; ++i) {
    Append<prm::VirtualPhysicalMapping>(left, text);
    left = left.subspan(kEach);
  }
}

void AppendMad(Bytes mad, std::string& text) {
  if (mad.size() < wire::kBytes<mad::MadHeader>) return;
  const auto header = wire::Decode<mad::MadHeader>(mad);
  absl::StrAppendFormat(&text, " class=%#x method=%#x attribute=%#x",
                        static_cast<int>(header.mgmt_class),
                        static_cast<int>(header.method),
                        static_cast<int>(header.attr_id));
  if (header.attr_mod != 0) {
    absl::StrAppendFormat(&text, " modifier=%#x", header.attr_mod);
  }
}

void AppendQpContext(Bytes mailbox, std::string& text) {
  if (mailbox.size() < prm::kQpContextInMailbox) return;
  uint32_t optional = 0;
  for (size_t i = 0; i < sizeof optional; ++i) {
    optional = optional << 8 | static_cast<uint8_t>(mailbox[i]);
  }
  if (optional != 0) {
    absl::StrAppendFormat(&text, " opt_param_mask=%#x", optional);
  }
  Append<prm::QpContext>(mailbox.subspan(prm::kQpContextInMailbox), text);
}

void AppendInbox(const CommandRecord& record, std::string& text) {
  const Bytes inbox = record.inbox;
  switch (record.opcode) {
    case Opcode::kMapFa:
    case Opcode::kMapIcmAux:
    case Opcode::kMapIcm:
      return AppendMappings(record, text);
    case Opcode::kModStatCfg:
      return Append<prm::PageSizeConfiguration>(inbox, text);
    case Opcode::kInitHca:
      return Append<prm::InitHca>(inbox, text);
    case Opcode::kSetPort:
      return Append<prm::SetPort>(inbox, text);
    case Opcode::kSw2HwMpt:
      return Append<prm::Mpt>(inbox, text);
    case Opcode::kSw2HwEq:
      return Append<prm::EqContext>(inbox, text);
    case Opcode::kSw2HwCq:
    case Opcode::kModifyCq:
      return Append<prm::CqContext>(inbox, text);
    case Opcode::kSw2HwSrq:
      return Append<prm::SrqContext>(inbox, text);
    case Opcode::kWriteMtt:
      return Append<prm::WriteMtt>(inbox, text);
    case Opcode::kWriteMcg:
      return Append<prm::McgHeader>(inbox, text);
    case Opcode::kMadIfc:
      return AppendMad(inbox, text);
    case Opcode::kRst2InitQp:
    case Opcode::kInit2InitQp:
    case Opcode::kInit2RtrQp:
    case Opcode::kRtr2RtsQp:
    case Opcode::kRts2RtsQp:
    case Opcode::kSqErr2RtsQp:
    case Opcode::kRts2SqdQp:
    case Opcode::kSqd2SqdQp:
    case Opcode::kSqd2RtsQp:
      return AppendQpContext(inbox, text);
    default:
      return;
  }
}

// Returns true if the input parameter of `opcode` is a value, not a mailbox.
bool TakesValue(Opcode opcode) {
  return opcode == Opcode::kSetIcmSize || opcode == Opcode::kUnmapIcm ||
         opcode == Opcode::kMapEq || opcode == Opcode::kArmSrq;
}

}  // namespace

std::string CommandText(const CommandRecord& record) {
  std::string text =
      absl::StrFormat("%s %s in=%#x op=%d", Absl(prm::Name(record.opcode)),
                      record.by_event ? "event" : "poll", record.in_modifier,
                      record.op_modifier);
  if (prm::Name(record.opcode) == "?") {
    absl::StrAppendFormat(&text, " opcode=%#x",
                          static_cast<int>(record.opcode));
  }
  if (TakesValue(record.opcode)) {
    absl::StrAppendFormat(&text, " value=%#x", record.in_param);
  }
  if (record.status != prm::CommandStatus::kOk) {
    absl::StrAppend(&text, " status=", Absl(prm::Name(record.status)));
  }
  AppendInbox(record, text);
  return text;
}

}  // namespace ibemu::hca::model
