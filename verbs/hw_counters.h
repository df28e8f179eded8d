// HwCounters: the counters of an adapter about the transport of its queue
// pairs.
#ifndef IBEMU_VERBS_HW_COUNTERS_H_
#define IBEMU_VERBS_HW_COUNTERS_H_

#include <cstdint>
#include <string_view>

namespace ibemu::verbs {

// The counters that Linux shows in ports/N/hw_counters of an mlx5 adapter
// (drivers/infiniband/hw/mlx5/counters.c), by their names there.
struct HwCounters {
  // Of the responder.
  uint64_t duplicate_request = 0;
  uint64_t out_of_buffer = 0;    // no receive request was there
  uint64_t out_of_sequence = 0;  // a packet before was missing
  uint64_t rx_atomic_requests = 0;
  uint64_t rx_read_requests = 0;
  uint64_t rx_write_requests = 0;
  uint64_t resp_cqe_error = 0;  // receive requests that failed
  uint64_t resp_cqe_flush_error = 0;
  uint64_t resp_local_length_error = 0;
  uint64_t resp_remote_access_errors = 0;
  // Of the requester.
  uint64_t implied_nak_seq_err = 0;  // a response before was missing
  uint64_t local_ack_timeout_err = 0;
  uint64_t packet_seq_err = 0;  // NAKs for a packet that was missing
  uint64_t req_cqe_error = 0;   // send requests that failed
  uint64_t req_cqe_flush_error = 0;
  uint64_t req_remote_access_errors = 0;
  uint64_t req_remote_invalid_request = 0;
  uint64_t rnr_nak_retry_err = 0;  // RNR NAKs

  bool operator==(const HwCounters&) const = default;
};

// A counter and its name.
struct HwCounterName {
  std::string_view name;
  uint64_t HwCounters::*counter;
};

// By name.
inline constexpr HwCounterName kHwCounters[] = {
    {"duplicate_request", &HwCounters::duplicate_request},
    {"implied_nak_seq_err", &HwCounters::implied_nak_seq_err},
    {"local_ack_timeout_err", &HwCounters::local_ack_timeout_err},
    {"out_of_buffer", &HwCounters::out_of_buffer},
    {"out_of_sequence", &HwCounters::out_of_sequence},
    {"packet_seq_err", &HwCounters::packet_seq_err},
    {"req_cqe_error", &HwCounters::req_cqe_error},
    {"req_cqe_flush_error", &HwCounters::req_cqe_flush_error},
    {"req_remote_access_errors", &HwCounters::req_remote_access_errors},
    {"req_remote_invalid_request", &HwCounters::req_remote_invalid_request},
    {"resp_cqe_error", &HwCounters::resp_cqe_error},
    {"resp_cqe_flush_error", &HwCounters::resp_cqe_flush_error},
    {"resp_local_length_error", &HwCounters::resp_local_length_error},
    {"resp_remote_access_errors", &HwCounters::resp_remote_access_errors},
    {"rnr_nak_retry_err", &HwCounters::rnr_nak_retry_err},
    {"rx_atomic_requests", &HwCounters::rx_atomic_requests},
    {"rx_read_requests", &HwCounters::rx_read_requests},
    {"rx_write_requests", &HwCounters::rx_write_requests},
};

// Adds `more` to `sum`.
inline void AddCounters(const HwCounters& more, HwCounters& sum) {
  for (const HwCounterName& one : kHwCounters) {
    sum.*one.counter += more.*one.counter;
  }
}

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_HW_COUNTERS_H_
