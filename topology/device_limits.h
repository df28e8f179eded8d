// DeviceLimits: the largest numbers of verbs objects, and the largest sizes,
// that an adapter offers.
#ifndef IBEMU_TOPOLOGY_DEVICE_LIMITS_H_
#define IBEMU_TOPOLOGY_DEVICE_LIMITS_H_

#include <cstdint>
#include <string_view>

namespace ibemu::topology {

// Fields of struct ib_uverbs_query_device_resp that a topology can lower.  The
// values here are those of adapters of which it says nothing.
struct DeviceLimits {
  uint64_t max_mr_size = ~uint64_t{0};  // bytes
  uint64_t max_mr = 65536;
  uint64_t max_pd = 65535;
  uint64_t max_ah = 65535;
  uint64_t max_cq = 65536;
  uint64_t max_cqe = 196607;  // of one completion queue
  uint64_t max_qp = 16384;
  uint64_t max_qp_wr = 16383;  // of each queue of a queue pair
  uint64_t max_sge = 32;
  uint64_t max_qp_rd_atom = 16;
  uint64_t max_qp_init_rd_atom = 16;
  uint64_t max_srq = 1024;
  uint64_t max_srq_wr = 16383;
  uint64_t max_srq_sge = 32;

  bool operator==(const DeviceLimits&) const = default;
};

// A field and its name.
struct DeviceLimit {
  std::string_view name;
  uint64_t DeviceLimits::*value;

  // Returns the value of which no topology says anything.
  uint64_t Most() const { return DeviceLimits{}.*value; }
};

inline constexpr DeviceLimit kDeviceLimits[] = {
    {"max_mr_size", &DeviceLimits::max_mr_size},
    {"max_mr", &DeviceLimits::max_mr},
    {"max_pd", &DeviceLimits::max_pd},
    {"max_ah", &DeviceLimits::max_ah},
    {"max_cq", &DeviceLimits::max_cq},
    {"max_cqe", &DeviceLimits::max_cqe},
    {"max_qp", &DeviceLimits::max_qp},
    {"max_qp_wr", &DeviceLimits::max_qp_wr},
    {"max_sge", &DeviceLimits::max_sge},
    {"max_qp_rd_atom", &DeviceLimits::max_qp_rd_atom},
    {"max_qp_init_rd_atom", &DeviceLimits::max_qp_init_rd_atom},
    {"max_srq", &DeviceLimits::max_srq},
    {"max_srq_wr", &DeviceLimits::max_srq_wr},
    {"max_srq_sge", &DeviceLimits::max_srq_sge},
};

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_DEVICE_LIMITS_H_
