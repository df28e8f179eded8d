#include "rdma_cm/values/path_question.h"

#include "mad/wire/sa_component_mask.h"

namespace ibemu::rdma_cm {
namespace {

using Path = mad::PathRecord;

constexpr uint64_t kMask =
    mad::kComponentBit<&Path::service_id_msb> |
    mad::kComponentBit<&Path::service_id_lsb> |
    mad::kComponentBit<&Path::dgid> | mad::kComponentBit<&Path::sgid> |
    mad::kComponentBit<&Path::reversible> |
    mad::kComponentBit<&Path::num_path> | mad::kComponentBit<&Path::p_key>;
static_assert((kMask | mad::kComponentBit<&Path::qos_class>) == 0x780f);
static_assert((kMask | mad::kComponentBit<&Path::traffic_class>) == 0x3c0f);

}  // namespace

PathQuestion PathQuestion::For(const SocketAddress& source, const Wish& wish) {
  constexpr int kMsbShift = 56;
  constexpr int kTrafficClassShift = 20;
  PathQuestion question{
      .record = {.service_id_msb =
                     static_cast<uint8_t>(wish.service_id >> kMsbShift),
                 .service_id_lsb =
                     wish.service_id & ((uint64_t{1} << kMsbShift) - 1),
                 .dgid = wish.dgid,
                 .sgid = wish.sgid,
                 .reversible = true,
                 .num_path = 1,
                 .p_key = wish.pkey},
      .mask = kMask};
  if (source.family == Family::kIpv4) {
    question.record.qos_class = wish.type_of_service;
    question.mask |= mad::kComponentBit<&Path::qos_class>;
  } else {
    question.record.traffic_class =
        static_cast<uint8_t>(source.flowinfo >> kTrafficClassShift);
    question.mask |= mad::kComponentBit<&Path::traffic_class>;
  }
  return question;
}

}  // namespace ibemu::rdma_cm
