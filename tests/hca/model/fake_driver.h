// A driver of a modelled adapter that does what a test says.
#ifndef IBEMU_TESTS_HCA_MODEL_FAKE_DRIVER_H_
#define IBEMU_TESTS_HCA_MODEL_FAKE_DRIVER_H_

#include <linux/pci_regs.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "hca/model/mlx4/firmware/connectx3_model.h"
#include "hca/prm/mlx4_events.h"
#include "hca/prm/mlx4_registers.h"
#include "testing/virtual_timers.h"
#include "tests/hca/model/fake_cable.h"
#include "tests/hca/model/fake_pci_host.h"

namespace ibemu::hca::model {

// All that have a name: twelve bits of the register say which one is meant.
inline std::vector<prm::Opcode> AllOpcodes() {
  std::vector<prm::Opcode> opcodes;
  for (uint16_t number = 0; number < 1 << 12; ++number) {
    const auto opcode = static_cast<prm::Opcode>(number);
    if (prm::Name(opcode) != "?") opcodes.push_back(opcode);
  }
  return opcodes;
}

// A FakeDriver is a machine with a modelled adapter, and as much of a driver as
// a test of the model needs: it gives commands and writes registers.
class FakeDriver : private CommandObserver {
 public:
  using Status = prm::CommandStatus;
  using Opcode = prm::Opcode;

  static constexpr uint32_t kUar = 200;  // software's page of doorbells

  explicit FakeDriver(testing::VirtualTimers& timers, int ports = 1)
      : cables(static_cast<size_t>(ports)), device(timers, Pointers(cables)) {
    device.SetHost(&machine);
    device.AddObserver(*this);
    EnableFunction();
    inbox = machine.Allocate(prm::kMailboxBytes);
    outbox = machine.Allocate(prm::kMailboxBytes);
  }

  // From now on `trace` stays as it is.
  void StopTrace() { device.RemoveObserver(*this); }

  // Bus master, and as many interrupts as there are: vector n's message is n.
  void EnableFunction() {
    device.WriteConfig(PCI_COMMAND, 2, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
    for (uint32_t place = device.ReadConfig(PCI_CAPABILITY_LIST, 1); place != 0;
         place = device.ReadConfig(place + PCI_CAP_LIST_NEXT, 1)) {
      if (device.ReadConfig(place, 1) == PCI_CAP_ID_MSIX) {
        device.WriteConfig(place + PCI_MSIX_FLAGS, 2, PCI_MSIX_FLAGS_ENABLE);
      }
    }
    for (uint32_t i = 0; i < 64; ++i) {
      const size_t entry = mlx4::kMsixTable + size_t{i} * 16;
      device.WriteBar(0, entry, 4, 0xfee00000);
      device.WriteBar(0, entry + 8, 4, i);
      device.WriteBar(0, entry + 12, 4, 0);
    }
  }

  uint32_t ReadControl(size_t offset) {
    return __builtin_bswap32(
        static_cast<uint32_t>(device.ReadBar(0, offset, 4)));
  }
  void WriteControl(size_t offset, uint32_t value) {
    device.WriteBar(0, offset, 4, __builtin_bswap32(value));
  }

  // One command, without mailboxes but those whose addresses are given.
  Status Command(Opcode opcode, uint32_t in_modifier = 0,
                 uint8_t op_modifier = 0, uint64_t in_param = 0,
                 uint64_t out_param = 0, uint32_t flags = 0,
                 uint16_t token = 0) {
    WriteControl(prm::kHcr + 0x00, static_cast<uint32_t>(in_param >> 32));
    WriteControl(prm::kHcr + 0x04, static_cast<uint32_t>(in_param));
    WriteControl(prm::kHcr + 0x08, in_modifier);
    WriteControl(prm::kHcr + 0x0c, static_cast<uint32_t>(out_param >> 32));
    WriteControl(prm::kHcr + 0x10, static_cast<uint32_t>(out_param));
    WriteControl(prm::kHcr + 0x14, uint32_t{token} << 16);
    toggle = !toggle;
    WriteControl(prm::kHcr + prm::kHcrStatus,
                 prm::kHcrGo | (toggle ? prm::kHcrToggle : 0) | flags |
                     uint32_t{op_modifier} << prm::kHcrOpModifierShift |
                     static_cast<uint32_t>(opcode));
    const uint32_t status = ReadControl(prm::kHcr + prm::kHcrStatus);
    out_value = uint64_t{ReadControl(prm::kHcr + prm::kHcrOutParam)} << 32 |
                ReadControl(prm::kHcr + prm::kHcrOutParam + 4);
    return static_cast<Status>(status >> prm::kHcrStatusShift);
  }
  // With a structure in the input mailbox.
  template <wire::Structure T>
  Status Give(Opcode opcode, uint32_t in_modifier, const T& value,
              uint8_t op_modifier = 0) {
    machine.Put(inbox, value);
    return Command(opcode, in_modifier, op_modifier, inbox, outbox);
  }
  // With an output mailbox, which Out() reads.
  Status Ask(Opcode opcode, uint32_t in_modifier = 0, uint8_t op_modifier = 0) {
    return Command(opcode, in_modifier, op_modifier, inbox, outbox);
  }
  template <wire::Structure T>
  T Out(size_t offset = 0) {
    return machine.Get<T>(outbox + offset);
  }

  // `pages` of fresh memory for MAP_FA, MAP_ICM_AUX or, at `address`, MAP_ICM.
  Status Map(Opcode opcode, uint64_t pages, uint64_t address = 0) {
    uint8_t log = 0;
    while (uint64_t{1} << log < pages) ++log;
    // A chunk is aligned to its size.
    const uint64_t size = uint64_t{4096} << log;
    uint64_t place = machine.Allocate(0);
    place = (place + size - 1) / size * size;
    while (machine.Allocate(4096) + 4096 < place + size) {
    }
    if (opcode == Opcode::kMapFa) firmware_area = place;
    if (opcode == Opcode::kMapIcmAux) auxiliary_area = place;
    if (opcode == Opcode::kMapIcm && address == Tables().mc_base) {
      multicast_table = place;
    }
    return Give(opcode, 1,
                prm::VirtualPhysicalMapping{.virtual_page = address >> 12,
                                            .physical_page = place >> 12,
                                            .log2size = log});
  }

  // From power-on to RUN_FW.
  void Boot() {
    Map(Opcode::kMapFa, mlx4::FirmwareInfo().fw_pages);
    Command(Opcode::kRunFw);
  }

  // The tables that Initialise() asks for, far enough from each other.
  static prm::HcaTables Tables() {
    constexpr uint64_t kMib = 1 << 20;
    prm::HcaTables tables;
    tables.qpc = prm::TableWord(0, 10);
    tables.srqc = prm::TableWord(1 * kMib, 8);
    tables.cqc = prm::TableWord(2 * kMib, 8);
    tables.eqc = prm::TableWord(3 * kMib, 6);
    tables.altc_base = 4 * kMib;
    tables.auxc_base = 5 * kMib;
    tables.rdmarc = prm::TableWord(6 * kMib, 2);
    tables.mc_base = 7 * kMib;
    tables.log_mc_entry_sz = 7;
    tables.log_mc_hash_sz = 5;
    tables.log_mc_table_sz = 6;
    tables.dmpt_base = 8 * kMib;
    tables.log_dmpt_sz = 8;
    tables.mtt_base = 9 * kMib;
    tables.cmpt_base = uint64_t{1} << 33;
    tables.log_max_uars = 11;
    return tables;
  }

  // Memory for all tables.
  void MapTables() {
    const uint64_t size = uint64_t{1} << 34;
    Command(Opcode::kSetIcmSize, 0, 0, size);
    Map(Opcode::kMapIcmAux, out_value);
    for (uint64_t mib = 0; mib < 10; ++mib) {
      Map(Opcode::kMapIcm, 64, mib << 20);
    }
    for (uint64_t type = 0; type < 4; ++type) {
      Map(Opcode::kMapIcm, 16,
          Tables().cmpt_base + (type * 64 << prm::kCmptShift));
    }
  }

  // From power-on to INIT_HCA.
  Status Initialise() {
    Boot();
    MapTables();
    return Give(Opcode::kInitHca, 0, prm::InitHca{.tables = Tables()});
  }

  // `bytes` of memory that MTTs name; where these start.
  struct Buffer {
    uint64_t memory = 0;
    uint64_t mtt = 0;
  };
  Buffer MakeBuffer(uint64_t bytes) {
    const Buffer buffer{.memory = machine.Allocate(bytes), .mtt = next_mtt_};
    const uint64_t pages = (bytes + 4095) / 4096;
    for (uint64_t i = 0; i < pages; ++i) {
      machine.Put(inbox, prm::WriteMtt{.first = next_mtt_ / 8});
      machine.Put(inbox + 16,
                  prm::MttEntry{.page = (buffer.memory + i * 4096) >> 3,
                                .present = true});
      Command(Opcode::kWriteMtt, 1, 0, inbox);
      next_mtt_ += 8;
    }
    return buffer;
  }

  // An event queue of 2^log entries; vector = number.
  Status StartEq(uint32_t eqn, uint8_t log) {
    eqs[eqn] = MakeBuffer(uint64_t{32} << log);
    prm::EqContext context;
    context.state = prm::kEqArmed;
    context.log_eq_size = log;
    context.intr = static_cast<uint16_t>(eqn);
    context.mtt_base_addr = eqs[eqn].mtt;
    return Give(Opcode::kSw2HwEq, eqn, context);
  }
  prm::Eqe EventAt(uint32_t eqn, uint32_t index) {
    return machine.Get<prm::Eqe>(eqs[eqn].memory + uint64_t{index} * 32);
  }
  void ArmEq(uint32_t eqn, uint32_t consumer, bool arm = true) {
    device.WriteBar(2, (eqn / 4) * 4096 + 0x800 + 8 * (eqn % 4), 4,
                    __builtin_bswap32(consumer | (arm ? prm::kEqArm : 0)));
  }

  Status StartCq(uint32_t cqn, uint8_t log, uint16_t eqn) {
    cqs[cqn] = MakeBuffer(uint64_t{32} << log);
    cq_records[cqn] = machine.Allocate(8);
    prm::CqContext context;
    context.log_cq_size = log;
    context.usr_page = kUar;
    context.comp_eqn = eqn;
    context.mtt_base_addr = cqs[cqn].mtt;
    context.db_record_addr = cq_records[cqn];
    return Give(Opcode::kSw2HwCq, cqn, context);
  }
  prm::Cqe CompletionAt(uint32_t cqn, uint32_t index) {
    return machine.Get<prm::Cqe>(cqs[cqn].memory + uint64_t{index} * 32);
  }
  void ReadCq(uint32_t cqn, uint32_t consumer) {
    machine.PutWord(cq_records[cqn], consumer);
  }
  void ArmCq(uint32_t cqn, uint8_t sequence, uint8_t command, uint32_t consumer,
             uint32_t uar = kUar) {
    std::array<std::byte, 8> bytes;
    wire::Encode(prm::CqDoorbell{.sequence = sequence,
                                 .command = command,
                                 .cqn = cqn,
                                 .consumer_index = consumer},
                 bytes);
    uint64_t value = 0;
    for (size_t i = 0; i < 8; ++i) {
      value |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
    }
    device.WriteBar(2, uar * 4096 + prm::kCqDoorbell, 8, value);
  }

  // A region of fresh memory at virtual address `start`; its key is
  // prm::KeyOfMpt(index).
  uint64_t StartRegion(uint32_t index, uint32_t pd, uint64_t start,
                       uint64_t bytes) {
    const Buffer buffer = MakeBuffer(bytes);
    prm::Mpt entry = Region(index, pd, start, bytes);
    entry.mtt_addr = buffer.mtt;
    Give(Opcode::kSw2HwMpt, index, entry);
    return buffer.memory;
  }
  // Memory that work requests register, as Linux asks for it.
  static prm::Mpt FreeRegion(uint32_t index, uint32_t pd, uint32_t mtts) {
    prm::Mpt entry = Region(index, pd, 0, 0);
    entry.status = prm::MptStatus::kFree;
    entry.local_read = entry.local_write = entry.remote_read =
        entry.remote_write = entry.atomic = false;
    entry.remote_atomic_enable = entry.fast_register_enable = true;
    entry.invalidate_enable = prm::kInvalidateLocalAndRemote;
    entry.mtt_sz = mtts;
    entry.entity_size = 0;
    return entry;
  }
  static prm::Mpt Region(uint32_t index, uint32_t pd, uint64_t start,
                         uint64_t bytes) {
    prm::Mpt entry;
    entry.status = prm::MptStatus::kSoftware;
    entry.region = entry.mio = true;
    entry.local_read = entry.local_write = true;
    entry.remote_read = entry.remote_write = entry.atomic = true;
    entry.key = index;
    entry.pd = pd;
    entry.start = start;
    entry.length = bytes;
    entry.entity_size = 12;
    return entry;
  }

  testing::VirtualTimers* timers = nullptr;
  FakePciHost machine;
  std::vector<FakeCable> cables;
  ConnectX3Model device;
  uint64_t inbox = 0, outbox = 0;
  uint64_t out_value = 0;  // of the last command
  // On the bus.
  uint64_t firmware_area = 0, auxiliary_area = 0, multicast_table = 0;
  bool toggle = false;
  std::map<uint32_t, Buffer> eqs, cqs;
  std::map<uint32_t, uint64_t> cq_records;
  std::vector<CommandRecord> trace;

 private:
  static std::vector<Cable*> Pointers(std::vector<FakeCable>& cables) {
    std::vector<Cable*> pointers;
    pointers.reserve(cables.size());
    for (FakeCable& cable : cables) pointers.push_back(&cable);
    return pointers;
  }
  void OnCommand(const CommandRecord& record) override {
    trace.push_back(record);
  }

  uint64_t next_mtt_ = 256 * 8;  // the first are firmware's
};

}  // namespace ibemu::hca::model

#endif  // IBEMU_TESTS_HCA_MODEL_FAKE_DRIVER_H_
