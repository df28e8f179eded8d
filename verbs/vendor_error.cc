#include "verbs/vendor_error.h"

#include <algorithm>

#include "verbs/wc_status.h"

namespace ibemu::verbs {
namespace {

constexpr VendorError kErrors[] = {
    {.value = 0x33,
     .status = wc_status::kLocalProtection,
     .cause = "as 0x51",
     .report = "notes on a ConnectX-6"},
    {.value = 0x51,
     .status = wc_status::kLocalProtection,
     .given = true,
     .cause = "a local key does not cover the request's memory: wrong, "
              "deregistered, too short, of another protection domain, or "
              "without the right to write",
     .report = "NVIDIA/nccl#928"},
    {.value = 0x52,
     .status = wc_status::kLocalProtection,
     .cause = "as 0x51",
     .report = "notes on a ConnectX-6"},
    {.value = 0x53,
     .status = wc_status::kLocalProtection,
     .cause = "as 0x51",
     .report = "notes on a ConnectX-6"},
    {.value = 0x68,
     .status = wc_status::kLocalQpOperation,
     .given = true,
     .cause = "the queue pair can't carry out such a request, for example one "
              "with an address handle of another protection domain",
     .report = "openucx/ucx#3618"},
    {.value = 0x70,
     .status = wc_status::kLocalQpOperation,
     .cause = "as 0x68, of a ConnectX-3",
     .report = "openucx/ucx#5318"},
    {.value = 0x81,
     .status = wc_status::kRetriesExceeded,
     .given = true,
     .cause = "nothing was acknowledged in 1 + retry_cnt tries: the peer is "
              "gone, in error or not ready to receive yet, or the way to it "
              "is cut or wrong (LID, GID index, MTU, P_Key)",
     .report = "openucx/ucx#6669"},
    {.value = 0x83,
     .status = wc_status::kRetriesExceeded,
     .cause = "as 0x81, of a ConnectX-7",
     .report = "NVIDIA/nccl#2383"},
    {.value = 0x87,
     .status = wc_status::kRnrRetriesExceeded,
     .given = true,
     .cause = "the peer had no receive request posted in 1 + rnr_retry tries",
     .report = "notes on a ConnectX-6"},
    {.value = 0x88,
     .status = wc_status::kRemoteAccess,
     .given = true,
     .cause = "the peer refused the remote key: wrong, deregistered, too "
              "short, or without the right to do this",
     .report = "openucx/ucx#2915"},
    {.value = 0x89,
     .status = wc_status::kRemoteOperation,
     .given = true,
     .cause = "the peer could not carry out the operation, for example because "
              "the local key of its receive request is bad",
     .report = "openucx/ucx#10755"},
    {.value = 0x8a,
     .status = wc_status::kRemoteInvalidRequest,
     .given = true,
     .cause = "the peer found the request invalid: longer than its receive "
              "request, or what its queue pair or memory is not open to",
     .report = "charmplusplus/charm#2532"},
    {.value = 0xf5,
     .status = wc_status::kFlushed,
     .cause = "the request was under way when its queue pair was moved to ERR",
     .report = "notes on a ConnectX-6"},
    {.value = 0xf9,
     .status = wc_status::kFlushed,
     .given = true,
     .cause = "the queue pair was in error before the request's turn came: "
              "what counts is the first completion that is not WR_FLUSH_ERR",
     .report = "NVIDIA/nccl#1353"},
};

}  // namespace

std::span<const VendorError> VendorErrors() { return kErrors; }

std::optional<VendorError> FindVendorError(uint32_t value) {
  const auto* const found =
      std::ranges::find(kErrors, value, &VendorError::value);
  if (found == std::ranges::end(kErrors)) return std::nullopt;
  return *found;
}

uint32_t VendorErrorOf(uint32_t status) {
  const auto* const found =
      std::ranges::find_if(kErrors, [status](const VendorError& error) {
        return error.given && error.status == status;
      });
  return found == std::ranges::end(kErrors) ? 0 : found->value;
}

}  // namespace ibemu::verbs
