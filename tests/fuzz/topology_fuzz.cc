// Any text is either refused or a sound subnet, which survives being written
// and read again.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "topology/formats/load_topology.h"
#include "topology/ibnetdiscover_writer.h"
#include "topology/topology.h"

using ibemu::topology::FormatIbnetdiscover;
using ibemu::topology::NormalizeTopology;
using ibemu::topology::ParseTopology;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Files on this machine are none of a fuzzer's business.
  if (text.find("include") != text.npos) return 0;
  const auto topology = ParseTopology(text, "fuzz.net");
  if (!topology.ok()) return 0;

  const std::string written = FormatIbnetdiscover(NormalizeTopology(*topology));
  const auto again = ParseTopology(written, "again.net");
  if (!again.ok()) std::abort();
  if (FormatIbnetdiscover(NormalizeTopology(*again)) != written) std::abort();
  return 0;
}
