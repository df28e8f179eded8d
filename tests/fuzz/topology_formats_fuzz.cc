// Any text in any format is either refused or a sound subnet, which survives
// being written in each format that can be read.  The first byte chooses the
// format; a NUL ends the definitions of systems that a .topo file uses.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "topology/formats/formats.h"
#include "topology/formats/text/ibstat_text.h"
#include "topology/ibnetdiscover_writer.h"
#include "topology/topology.h"

namespace {

using namespace ibemu::topology;  // NOLINT(google-build-using-namespace)

absl::StatusOr<Topology> Parse(char format, std::string_view text) {
  switch (format) {
    case 'l':
      return ParseSubnetList(text, "fuzz.lst");
    case 'c':
      return ParseContainerlab(text, "fuzz.clab.yml");
    case 'd':
      return ParseDot(text, "fuzz.dot");
    case 't': {
      const size_t end = text.find('\0');
      SystemLibrary systems;
      if (end != text.npos) systems.AddText(text.substr(0, end), "fuzz.ibnl");
      systems.AddSmallSystems();
      return ParseIbdmTopology(text.substr(end == text.npos ? 0 : end + 1),
                               "fuzz.topo", systems);
    }
    case 'i': {
      const auto adapters = ParseIbstat(text, "fuzz.ibstat");
      if (!adapters.ok()) return adapters.status();
      Topology topology;
      AddAdapters(*adapters, topology);
      return ParseSpec(FormatSpecYaml(topology), "fuzz.yaml");
    }
    default:
      return ParseSpec(text, "fuzz.yaml");
  }
}

void Survives(const Topology& topology, const std::string& text, char format) {
  const auto again = Parse(format, text);
  if (!again.ok()) std::abort();
  if (FormatIbnetdiscover(*again) != FormatIbnetdiscover(topology)) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  // Files on this machine are none of a fuzzer's business, and large
  // generators take long.
  if (all.find("include") != all.npos || all.find("generator") != all.npos) {
    return 0;
  }
  const auto topology = Parse(all.front(), all.substr(1));
  if (!topology.ok()) return 0;
  Topology without_addresses = *topology;
  without_addresses.addresses.clear();
  Survives(without_addresses, FormatDot(*topology), 'd');
  Survives(*topology, FormatSpecJson(*topology), 'y');
  Survives(*topology, FormatSpecYaml(*topology), 'y');
  FormatSlurm(*topology);
  return 0;
}
