// guest-mlx4-client DDDD:BB:DD.F: takes a ConnectX-3 over by vfio-pci with
// ibemu's driver, and has it read memory that it can and can't reach.  Prints
// what it saw, a word and its value a line.  Then it holds the adapter for
// ever, as to give it up is not its part: it is to be killed.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "hca/bus/pci_address.h"
#include "hca/bus/pci_sysfs.h"
#include "hca/bus/vfio_pci.h"
#include "hca/mlx4/core/mlx4_adapter.h"
#include "hca/prm/mlx4_hca.h"
#include "loop/loop.h"

namespace {

using ibemu::hca::DmaMemory;
using ibemu::hca::mlx4::Mlx4Adapter;

// INIT_HCA, with this mailbox.
void Initialise(Mlx4Adapter& adapter, const char* what, uint64_t mailbox) {
  const absl::Status done =
      adapter.commands()
          .Run(ibemu::hca::prm::Opcode::kInitHca, {}, mailbox)
          .status();
  std::printf("%s %s\n", what, std::string(done.message()).c_str());
}

absl::Status Try(const std::string& name) {
  IBEMU_ASSIGN_OR_RETURN(const auto address,
                         ibemu::hca::PciAddress::Parse(name));
  IBEMU_ASSIGN_OR_RETURN(const auto facts,
                         ibemu::hca::PciSysfs().Read(address));
  IBEMU_ASSIGN_OR_RETURN(const auto function, ibemu::hca::VfioPci::Open(facts));
  IBEMU_ASSIGN_OR_RETURN(const auto loop, ibemu::MakeLoop());
  IBEMU_ASSIGN_OR_RETURN(
      const auto adapter,
      Mlx4Adapter::Inquire(*function, *loop,
                           {.pause = absl::SleepFor, .name = name},
                           [](const ibemu::hca::mlx4::FirmwareAnswer&) {}));
  IBEMU_ASSIGN_OR_RETURN(std::unique_ptr<DmaMemory> memory,
                         function->Allocate(4096));
  // A version that firmware refuses: so that it was read can be seen.
  ibemu::wire::Encode(ibemu::hca::prm::InitHca{.version = 9, .tables = {}},
                      memory->bytes());
  const uint64_t iova = memory->iova();
  Initialise(*adapter, "mapped", iova);
  memory.reset();
  Initialise(*adapter, "unmapped", iova);
  std::puts("holding");
  std::fflush(stdout);
  for (;;) pause();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const absl::Status tried = Try(argv[1]);
  std::fprintf(stderr, "%s\n", std::string(tried.message()).c_str());
  return 1;
}
