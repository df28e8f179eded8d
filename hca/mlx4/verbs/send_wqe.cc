#include "hca/mlx4/verbs/send_wqe.h"

#include <endian.h>

namespace ibemu::hca::mlx4 {
namespace {

prm::WqeOpcode OpcodeOf(uint32_t opcode) {
  using enum prm::WqeOpcode;
  switch (opcode) {
    case IB_UVERBS_WR_SEND_WITH_IMM:
      return kSendImmediate;
    case IB_UVERBS_WR_RDMA_WRITE:
      return kRdmaWrite;
    case IB_UVERBS_WR_RDMA_WRITE_WITH_IMM:
      return kRdmaWriteImmediate;
    case IB_UVERBS_WR_RDMA_READ:
      return kRdmaRead;
    case IB_UVERBS_WR_ATOMIC_CMP_AND_SWP:
      return kCompareSwap;
    case IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD:
      return kFetchAdd;
    default:
      return kSend;
  }
}

template <wire::Structure T>
void AppendSegment(const T& segment, std::vector<std::byte>& wqe) {
  const size_t at = wqe.size();
  wqe.resize(at + wire::kBytes<T>);
  wire::Encode(segment, std::span(wqe).subspan(at));
}

void AppendRemote(const ib_uverbs_send_wr& work, std::vector<std::byte>& wqe) {
  if (IsAtomic(work)) {
    const auto& atomic = work.wr.atomic;
    const bool compares = work.opcode == IB_UVERBS_WR_ATOMIC_CMP_AND_SWP;
    AppendSegment(prm::RemoteAddressSegment{.address = atomic.remote_addr,
                                            .rkey = atomic.rkey},
                  wqe);
    AppendSegment(
        prm::AtomicSegment{
            .swap_add = compares ? atomic.swap : atomic.compare_add,
            .compare = compares ? atomic.compare_add : 0},
        wqe);
    return;
  }
  AppendSegment(prm::RemoteAddressSegment{.address = work.wr.rdma.remote_addr,
                                          .rkey = work.wr.rdma.rkey},
                wqe);
}

}  // namespace

std::vector<std::byte> MakeSendWqe(const ib_uverbs_send_wr& work,
                                   const prm::Mlx4Av* to,
                                   const WqePointer& data) {
  constexpr uint32_t kFence = 1 << 0, kSolicited = 1 << 2;
  constexpr size_t kUnit = 16;
  std::vector<std::byte> wqe(wire::kBytes<prm::ControlSegment>);
  if (to != nullptr) {
    AppendSegment(prm::DatagramSegment{.address = *to,
                                       .remote_qpn = work.wr.ud.remote_qpn,
                                       .qkey = work.wr.ud.remote_qkey},
                  wqe);
  } else if (OpcodeOf(work.opcode) != prm::WqeOpcode::kSend &&
             OpcodeOf(work.opcode) != prm::WqeOpcode::kSendImmediate) {
    AppendRemote(work, wqe);
  }
  if (data.size != 0) {
    AppendSegment(
        prm::DataSegment{
            .byte_count = data.size, .lkey = data.lkey, .address = data.iova},
        wqe);
  }
  const bool immediate = work.opcode == IB_UVERBS_WR_SEND_WITH_IMM ||
                         work.opcode == IB_UVERBS_WR_RDMA_WRITE_WITH_IMM;
  wire::Encode(
      prm::ControlSegment{
          .opcode = OpcodeOf(work.opcode),
          .fence = (work.send_flags & kFence) != 0,
          .size = static_cast<uint8_t>(wqe.size() / kUnit),
          .completion = prm::kCompletionRequested,
          .solicited = (work.send_flags & kSolicited) != 0,
          .immediate = immediate ? be32toh(work.ex.imm_data) : 0},
      wqe);
  return wqe;
}

std::vector<std::byte> MakeFailingWqe(const prm::Mlx4Av* to) {
  ib_uverbs_send_wr work{};
  work.opcode = IB_UVERBS_WR_SEND;
  return MakeSendWqe(work, to,
                     {.iova = 0, .size = 1, .lkey = prm::kInvalidLKey});
}

}  // namespace ibemu::hca::mlx4
