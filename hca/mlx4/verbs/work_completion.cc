#include "hca/mlx4/verbs/work_completion.h"

#include <rdma/ib_user_verbs.h>

#include "verbs/wc_status.h"

namespace ibemu::hca::mlx4 {

uint32_t StatusOf(prm::CqeSyndrome syndrome) {
  using enum prm::CqeSyndrome;
  namespace status = verbs::wc_status;
  switch (syndrome) {
    case kNone:
      return status::kSuccess;
    case kLocalLength:
      return status::kLocalLength;
    case kLocalQpOperation:
      return status::kLocalQpOperation;
    case kLocalProtection:
      return status::kLocalProtection;
    case kFlushed:
      return status::kFlushed;
    case kWindowBind:
      return status::kWindowBind;
    case kBadResponse:
      return status::kBadResponse;
    case kLocalAccess:
      return status::kLocalAccess;
    case kRemoteInvalidRequest:
      return status::kRemoteInvalidRequest;
    case kRemoteAccess:
      return status::kRemoteAccess;
    case kRemoteOperation:
      return status::kRemoteOperation;
    case kTransportRetryExceeded:
      return status::kRetriesExceeded;
    case kRnrRetryExceeded:
      return status::kRnrRetriesExceeded;
    case kRemoteAborted:
      return status::kRemoteAborted;
  }
  return status::kGeneral;
}

uint32_t CompletionOpcodeOf(uint32_t opcode) {
  switch (opcode) {
    case IB_UVERBS_WR_RDMA_WRITE:
    case IB_UVERBS_WR_RDMA_WRITE_WITH_IMM:
      return IB_UVERBS_WC_RDMA_WRITE;
    case IB_UVERBS_WR_RDMA_READ:
      return IB_UVERBS_WC_RDMA_READ;
    case IB_UVERBS_WR_ATOMIC_CMP_AND_SWP:
      return IB_UVERBS_WC_COMP_SWAP;
    case IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD:
      return IB_UVERBS_WC_FETCH_ADD;
    default:
      return IB_UVERBS_WC_SEND;
  }
}

}  // namespace ibemu::hca::mlx4
