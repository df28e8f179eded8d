#include "hca/model/mlx4/queues/send_wqe.h"

namespace ibemu::hca::model::mlx4 {

namespace {

constexpr size_t kSegmentUnit = 16;
constexpr size_t kMessageUnit = 2u << 30;  // the meaning of length 0

// Removes one structure from the front.
template <wire::Structure T>
bool Take(std::span<const std::byte>& rest, T& segment) {
  if (rest.size() < wire::kBytes<T>) return false;
  segment = wire::Decode<T>(rest);
  rest = rest.subspan(wire::kBytes<T>);
  return true;
}

bool TakeInline(std::span<const std::byte>& rest, SendWqe& wqe) {
  prm::InlineSegment segment;
  if (!Take(rest, segment) || rest.size() < segment.byte_count) return false;
  const auto bytes = rest.first(segment.byte_count);
  if (!bytes.empty()) {
    wqe.sges.push_back(
        {.bytes = bytes.size(), .inlined = {bytes.begin(), bytes.end()}});
  }
  const size_t used = wire::kBytes<prm::InlineSegment> + bytes.size();
  const size_t padding = (kSegmentUnit - used % kSegmentUnit) % kSegmentUnit;
  if (rest.size() < bytes.size() + padding) return false;
  rest = rest.subspan(bytes.size() + padding);
  return true;
}

bool TakeData(std::span<const std::byte> rest, SendWqe& wqe) {
  while (!rest.empty()) {
    if (rest.size() < kSegmentUnit) return false;
    if (wire::Get<&prm::DataSegment::is_inline>(rest)) {
      if (!TakeInline(rest, wqe)) return false;
      continue;
    }
    prm::DataSegment segment;
    if (!Take(rest, segment)) return false;
    wqe.sges.push_back(
        {.bytes = segment.byte_count == 0 ? kMessageUnit : segment.byte_count,
         .lkey = segment.lkey,
         .address = segment.address});
  }
  wqe.length = BytesOf(wqe.sges);
  return true;
}

// Takes the segments between the control segment and the data segments.
bool TakeHeaders(std::span<const std::byte>& rest, prm::QpService service,
                 SendWqe& wqe) {
  if (service == prm::QpService::kUd) return Take(rest, wqe.datagram);
  if (service == prm::QpService::kMlx) return true;
  switch (wqe.control.opcode) {
    case prm::WqeOpcode::kRdmaWrite:
    case prm::WqeOpcode::kRdmaWriteImmediate:
    case prm::WqeOpcode::kRdmaRead:
      return Take(rest, wqe.remote);
    case prm::WqeOpcode::kCompareSwap:
    case prm::WqeOpcode::kFetchAdd:
      return Take(rest, wqe.remote) && Take(rest, wqe.atomic);
    case prm::WqeOpcode::kFastRegister:
      return Take(rest, wqe.fast_register);
    case prm::WqeOpcode::kLocalInvalidate:
      return Take(rest, wqe.invalidate);
    default:
      return true;
  }
}

}  // namespace

std::optional<SendWqe> ParseSendWqe(std::span<const std::byte> bytes,
                                    prm::QpService service) {
  SendWqe wqe;
  std::span<const std::byte> rest = bytes;
  if (!Take(rest, wqe.control)) return std::nullopt;
  wqe.mlx = wire::Decode<prm::MlxSegment>(bytes);
  const size_t size = wqe.control.size * kSegmentUnit;
  if (size < wire::kBytes<prm::ControlSegment> || size > bytes.size()) {
    return std::nullopt;
  }
  rest = rest.first(size - wire::kBytes<prm::ControlSegment>);
  if (!TakeHeaders(rest, service, wqe) || !TakeData(rest, wqe)) {
    return std::nullopt;
  }
  return wqe;
}

}  // namespace ibemu::hca::model::mlx4
