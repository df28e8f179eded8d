// InProcessFunction: a modelled adapter that is driven by a driver in the same
// process.
#ifndef IBEMU_HCA_MODEL_IN_PROCESS_FUNCTION_H_
#define IBEMU_HCA_MODEL_IN_PROCESS_FUNCTION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"
#include "hca/bus/pci_function.h"
#include "hca/model/pci_device.h"

namespace ibemu::hca::model {

// A PciFunction over a PciDevice, and the machine between the two: bus
// addresses that are not pointers, an IOMMU that lets the device reach mapped
// memory and nothing else, and MSI-X messages that become eventfds.
class InProcessFunction : public PciFunction, private PciHost {
 public:
  // REQUIRES: `device` outlives this object, and this object outlives the
  // memory that it allocates.
  explicit InProcessFunction(PciDevice& device);
  ~InProcessFunction() override;
  InProcessFunction(const InProcessFunction&) = delete;
  InProcessFunction& operator=(const InProcessFunction&) = delete;

  uint32_t ReadConfig(size_t offset, size_t size) override;
  void WriteConfig(size_t offset, size_t size, uint32_t value) override;
  absl::StatusOr<Bar*> OpenBar(int index) override;
  absl::StatusOr<std::unique_ptr<DmaMemory>> Allocate(size_t size) override;
  // Programs the MSI-X vectors as an operating system does.
  absl::Status EnableInterrupts(int count) override;
  int InterruptFd(int vector) override;

  // The memory that the device can reach, in bytes.
  size_t mapped() const;
  // The number of times the device accessed memory that was not mapped.
  int faults() const { return faults_; }

 private:
  class ModelBar;
  class Machine;
  class Memory;

  bool ReadMemory(uint64_t address, std::span<std::byte> into) override;
  bool WriteMemory(uint64_t address, std::span<const std::byte> from) override;
  void SignalMessage(uint64_t address, uint32_t data) override;

  PciDevice& device_;
  const std::shared_ptr<Machine> machine_;
  std::array<std::unique_ptr<ModelBar>, kBars> bars_;
  std::vector<UniqueFd> interrupts_;
  int faults_ = 0;
};

}  // namespace ibemu::hca::model

#endif  // IBEMU_HCA_MODEL_IN_PROCESS_FUNCTION_H_
