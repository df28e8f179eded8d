#include "fabric/soft_hca/transport/posted_send.h"

#include <utility>

#include "verbs/wc_status.h"
#include "wire/psn.h"

namespace ibemu::fabric {
namespace {

uint32_t CompletionOpcode(const PostedSend& send) {
  switch (send.Operation()) {
    case Transport::Operation::kWrite:
      return IB_UVERBS_WC_RDMA_WRITE;
    case Transport::Operation::kReadRequest:
      return IB_UVERBS_WC_RDMA_READ;
    case Transport::Operation::kCompareSwap:
      return IB_UVERBS_WC_COMP_SWAP;
    case Transport::Operation::kFetchAdd:
      return IB_UVERBS_WC_FETCH_ADD;
    default:
      return IB_UVERBS_WC_SEND;
  }
}

}  // namespace

PostedSend::PostedSend(verbs::SendRequest posted) : request(std::move(posted)) {
  if (request.address != nullptr) {
    const auto& handle =
        static_cast<const verbs::AddressHandle&>(*request.address);
    address = handle.attributes;
    address_pd = &handle.pd;
  }
}

std::string_view PostedSend::Name() const {
  switch (request.work.opcode) {
    case IB_UVERBS_WR_RDMA_WRITE:
      return "RDMA WRITE";
    case IB_UVERBS_WR_RDMA_WRITE_WITH_IMM:
      return "RDMA WRITE with immediate";
    case IB_UVERBS_WR_RDMA_READ:
      return "RDMA READ";
    case IB_UVERBS_WR_ATOMIC_CMP_AND_SWP:
      return "CmpSwap";
    case IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD:
      return "FetchAdd";
    case IB_UVERBS_WR_SEND_WITH_IMM:
      return "SEND with immediate";
    default:
      return "SEND";
  }
}

bool PostedSend::IsAtomic() const {
  return request.work.opcode == IB_UVERBS_WR_ATOMIC_CMP_AND_SWP ||
         request.work.opcode == IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD;
}

bool PostedSend::Fetches() const {
  return request.work.opcode == IB_UVERBS_WR_RDMA_READ || IsAtomic();
}

bool PostedSend::IsFenced() const {
  return (request.work.send_flags & verbs::send_flag::kFence) != 0;
}

bool PostedSend::HasImmediate() const {
  return request.work.opcode == IB_UVERBS_WR_SEND_WITH_IMM ||
         request.work.opcode == IB_UVERBS_WR_RDMA_WRITE_WITH_IMM;
}

Transport::Operation PostedSend::Operation() const {
  switch (request.work.opcode) {
    case IB_UVERBS_WR_RDMA_WRITE:
    case IB_UVERBS_WR_RDMA_WRITE_WITH_IMM:
      return Transport::Operation::kWrite;
    case IB_UVERBS_WR_RDMA_READ:
      return Transport::Operation::kReadRequest;
    case IB_UVERBS_WR_ATOMIC_CMP_AND_SWP:
      return Transport::Operation::kCompareSwap;
    case IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD:
      return Transport::Operation::kFetchAdd;
    default:
      return Transport::Operation::kSend;
  }
}

verbs::WorkCompletion PostedSend::Completion() const {
  verbs::WorkCompletion completion{};
  completion.wr_id = request.work.wr_id;
  completion.opcode = CompletionOpcode(*this);
  completion.byte_len = static_cast<uint32_t>(length);
  return completion;
}

absl::StatusOr<verbs::MemoryRanges> PostedSend::FindMemory(
    const QueuePairContext& qp) const {
  return qp.keys.FindAll(request.sges, qp.init.pd,
                         Fetches() ? verbs::access::kLocalWrite : 0);
}

std::shared_ptr<Transport> PostedSend::TakePackets(
    verbs::QpType service, size_t mtu, const verbs::Buffer& buffer) {
  const ib_uverbs_send_wr& work = request.work;
  auto packets = std::make_shared<Transport>();
  packets->service = service;
  packets->operation = Operation();
  packets->psn =
      wire::PsnAfter(first_psn, static_cast<uint32_t>(emitted / mtu));
  packets->first = emitted == 0;
  packets->message = buffer;
  packets->size = buffer == nullptr ? 0 : buffer->size();
  packets->packets = wire::PacketsFor(packets->size, mtu);
  packets->payload = static_cast<uint32_t>(mtu);
  packets->ack_request = true;
  emitted += packets->size;
  packets->last = emitted == length;
  if (packets->operation == Transport::Operation::kWrite) {
    packets->address = work.wr.rdma.remote_addr;
    packets->key = work.wr.rdma.rkey;
    packets->length = static_cast<uint32_t>(length);
  }
  if (packets->last) {
    packets->solicited = (work.send_flags & verbs::send_flag::kSolicited) != 0;
    packets->has_immediate = HasImmediate();
    packets->immediate = work.ex.imm_data;
  }
  return packets;
}

}  // namespace ibemu::fabric
