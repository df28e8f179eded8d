// PciAddress: the address of a function on the PCI buses.
#ifndef IBEMU_HCA_BUS_PCI_ADDRESS_H_
#define IBEMU_HCA_BUS_PCI_ADDRESS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace ibemu::hca {

// An address such as 0000:3b:00.0, as Linux writes it.
struct PciAddress {
  uint32_t domain = 0;
  uint8_t bus = 0, device = 0, function = 0;

  // Parses "DDDD:BB:DD.F", or "BB:DD.F", as lspci prints it on a machine with
  // one domain.
  //
  // Errors: InvalidArgument.
  static absl::StatusOr<PciAddress> Parse(std::string_view text);

  std::string Text() const;

  bool operator==(const PciAddress&) const = default;
};

}  // namespace ibemu::hca

#endif  // IBEMU_HCA_BUS_PCI_ADDRESS_H_
