#include "hca/model/mlx4/firmware/connectx3_model.h"

#include <utility>

#include "hca/prm/mlx4_registers.h"

namespace ibemu::hca::model {

namespace {

constexpr uint32_t Swap(uint32_t value) { return __builtin_bswap32(value); }

PciIdentity IdentityOfConnectX3() {
  constexpr uint32_t kInfiniBandController = 0x0c0600;
  constexpr uint16_t kSubsystem = 0x0050;
  return {.vendor = prm::kMellanoxVendor,
          .device = prm::kConnectX3,
          .subsystem_vendor = prm::kMellanoxVendor,
          .subsystem = kSubsystem,
          .class_code = kInfiniBandController};
}

constexpr MsixPlace kMsixPlace{.bar = prm::kControlBar,
                               .table_offset = mlx4::kMsixTable,
                               .pending_offset = mlx4::kMsixPending};

}  // namespace

ConnectX3Model::ConnectX3Model(Timers& timers,
                               const std::vector<Cable*>& cables)
    : PciEndpoint(IdentityOfConnectX3(), kMsixPlace, mlx4::kMsixVectors),
      timers_(timers),
      core_(*this, timers, faults_,
            mlx4::DeviceCapabilities(static_cast<int>(cables.size()))),
      events_(core_,
              [this](int vector) {
                if (!faults_.TakeInterrupt()) Interrupt(vector);
              }),
      completions_(core_, events_),
      memory_(core_),
      multicast_(core_),
      shared_(core_, events_),
      queue_pairs_(core_, memory_, completions_, shared_, events_, multicast_),
      ports_(cables, events_,
             [this](int port, std::span<const std::byte> packet) {
               queue_pairs_.Receive(port, packet);
             }),
      firmware_({core_, events_, completions_, memory_, multicast_, shared_,
                 queue_pairs_, ports_}) {
  config().AddMemoryBar(prm::kControlBar, mlx4::kControlBarBytes);
  config().AddMemoryBar(prm::kUarBar, mlx4::kUarBarBytes);
  config().AddPciExpress({});
  queue_pairs_.SetPorts(&ports_);
}

void ConnectX3Model::Fail(uint32_t code) {
  error_buffer_.fill(code);
  events_.Report(prm::EqeType::kLocalCatastrophicError, 0, prm::QueueEvent{});
  // Queues have no use any more, as nothing serves them.
  queue_pairs_.Reset();
  shared_.Reset();
  completions_.Reset();
  events_.Reset();
}

uint64_t ConnectX3Model::ReadRegister(int bar, size_t offset, size_t size) {
  if (resetting()) return ~uint64_t{0};
  // Registers are dwords; doorbells can't be read.
  if (bar != prm::kControlBar || size != 4) return 0;
  return Swap(ReadControl(offset));
}

void ConnectX3Model::WriteRegister(int bar, size_t offset, size_t size,
                                   uint64_t value) {
  if (resetting()) return;
  if (bar == prm::kUarBar) {
    // Programs may still ring doorbells while a driver brings the adapter up
    // again.
    const bool up = firmware_.stage() == mlx4::Firmware::Stage::kUp;
    if (up && !failed()) WriteUar(offset, size, value);
  } else if (size == 4) {
    WriteControl(offset, Swap(static_cast<uint32_t>(value)));
  }
}

uint32_t ConnectX3Model::ReadControl(size_t offset) {
  if (offset >= prm::kHcr && offset < prm::kHcr + prm::kHcrBytes) {
    return hcr_.Read(offset - prm::kHcr);
  }
  if (offset >= mlx4::kErrorBuffer &&
      offset < mlx4::kErrorBuffer + 4 * mlx4::kErrorBufferWords) {
    return error_buffer_[(offset - mlx4::kErrorBuffer) / 4];
  }
  if (offset == prm::kOwner) return std::exchange(owned_, true) ? 1 : 0;
  if (offset == prm::kResetSemaphore) {
    return std::exchange(reset_taken_, true) ? 1 : 0;
  }
  return 0;
}

void ConnectX3Model::WriteControl(size_t offset, uint32_t value) {
  if (offset >= prm::kHcr && offset < prm::kHcr + prm::kHcrBytes) {
    if (const auto posted = hcr_.Write(offset - prm::kHcr, value)) {
      Run(*posted);
    }
  } else if (offset == prm::kOwner && value == 0) {
    owned_ = false;
  } else if (offset == prm::kResetSemaphore && value == 0) {
    reset_taken_ = false;
  } else if (offset == prm::kReset && value == prm::kResetValue) {
    SoftwareReset();
  }
}

void ConnectX3Model::Run(const mlx4::Hcr::Posted& posted) {
  const mlx4::CommandRequest& request = posted.request;
  if (failed() || faults_.TakeHang(request.opcode)) return;
  inbox_.clear();
  if (!observers_.empty() && mlx4::Firmware::TakesInbox(request.opcode)) {
    inbox_place_ = request.in_param;
  }
  mlx4::CommandReply reply;
  if (const auto refusal = faults_.TakeRefusal(request.opcode)) {
    // Firmware reads the mailbox before it refuses the command, so the record
    // has it as well.
    if (inbox_place_) KeepInbox();
    reply.status = *refusal;
  } else if (posted.by_event && !events_.Maps(prm::EqeType::kCommand)) {
    // Software would never learn of its completion.
    reply.status = prm::CommandStatus::kBadSysState;
  } else {
    reply = firmware_.Execute(request);
  }
  inbox_place_.reset();
  if (reply.status != prm::CommandStatus::kOk) ++refusals_;
  const CommandRecord record{.opcode = request.opcode,
                             .op_modifier = request.op_modifier,
                             .in_modifier = request.in_modifier,
                             .in_param = request.in_param,
                             .by_event = posted.by_event,
                             .status = reply.status,
                             .inbox = std::move(inbox_)};
  observers_.ForEach(
      [&record](CommandObserver& observer) { observer.OnCommand(record); });
  hcr_.Complete(reply);
  if (posted.by_event) {
    events_.Report(
        prm::EqeType::kCommand, 0,
        prm::CommandEvent{.token = posted.token,
                          .status = static_cast<uint8_t>(reply.status),
                          .out_param = reply.out_param});
  }
}

bool ConnectX3Model::Read(uint64_t address, std::span<std::byte> into) {
  if (!ReadMemory(address, into)) return false;
  const auto page = [](uint64_t place) { return place / prm::kMailboxBytes; };
  if (inbox_place_ && page(address) == page(*inbox_place_)) KeepInbox();
  return true;
}

// Called right after firmware has read from the mailbox's page.  The page
// exists then, so that observing causes no fault of its own.  It is also still
// unchanged, which matters because both mailboxes of a command may be the same.
void ConnectX3Model::KeepInbox() {
  const uint64_t place = *inbox_place_;
  inbox_place_.reset();
  inbox_.resize(prm::kMailboxBytes - place % prm::kMailboxBytes);
  if (!ReadMemory(place, inbox_)) inbox_.clear();
}

void ConnectX3Model::WriteUar(size_t offset, size_t size, uint64_t value) {
  const auto page = static_cast<uint32_t>(offset / prm::kUarPageSize);
  const size_t place = offset % prm::kUarPageSize;
  const uint32_t low = Swap(static_cast<uint32_t>(value));
  if (place == prm::kSendDoorbell && size == 4) {
    queue_pairs_.Doorbell(page, low >> 8);
    return;
  }
  if (place >= prm::kCqDoorbell && place < prm::kCqDoorbell + 8) {
    // It comes in two halves if software has no 64-bit writes.
    if (size == 4 && place == prm::kCqDoorbell) half_doorbell_ = low;
    const bool whole = size == 8;
    if (!whole && place == prm::kCqDoorbell) return;
    const uint32_t first = whole ? low : half_doorbell_;
    const uint32_t second =
        whole ? Swap(static_cast<uint32_t>(value >> 32)) : low;
    std::array<std::byte, wire::kBytes<prm::CqDoorbell>> bytes;
    for (size_t i = 0; i < 4; ++i) {
      bytes[i] = static_cast<std::byte>(first >> (24 - 8 * i));
      bytes[i + 4] = static_cast<std::byte>(second >> (24 - 8 * i));
    }
    completions_.Doorbell(page, wire::Decode<prm::CqDoorbell>(bytes));
    return;
  }
  constexpr size_t kEqDoorbellStride = 8;
  if (place >= prm::kEqDoorbell && size == 4 &&
      (place - prm::kEqDoorbell) % kEqDoorbellStride == 0) {
    const size_t which = (place - prm::kEqDoorbell) / kEqDoorbellStride;
    if (which < size_t{prm::kEqsPerUar}) {
      events_.Doorbell(page * prm::kEqsPerUar + static_cast<uint32_t>(which),
                       low & prm::kEqIndexMask, (low & prm::kEqArm) != 0);
    }
  }
}

void ConnectX3Model::SoftwareReset() {
  if (!reset_taken_) return;  // the semaphore must be taken first
  PciEndpoint::Reset();
  reset_until_ = timers_.Now() + kResetTime;
}

void ConnectX3Model::ResetRegisters() {
  firmware_.Reset();
  hcr_.Reset();
  owned_ = false;
  reset_taken_ = false;
  error_buffer_.fill(0);
  half_doorbell_ = 0;
}

}  // namespace ibemu::hca::model
