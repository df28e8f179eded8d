#include "daemon/journal/topology_digest.h"

#include <initializer_list>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/random.h"

namespace ibemu::daemon {
namespace {

// A stream of random numbers begins with one that depends on the seed and on
// each byte of the name.
uint64_t Mix(uint64_t digest, std::initializer_list<uint64_t> numbers) {
  std::string text;
  for (const uint64_t number : numbers) absl::StrAppend(&text, number, " ");
  return Random::ForStream(digest, text).Next();
}

}  // namespace

uint64_t DigestOf(const topology::Topology& topology) {
  uint64_t digest = Mix(0, {topology.nodes.size(), topology.links.size()});
  for (const topology::NodeSpec& node : topology.nodes) {
    digest = Mix(digest, {static_cast<uint64_t>(node.type),
                          static_cast<uint64_t>(node.node_guid),
                          static_cast<uint64_t>(node.port_count)});
  }
  for (const topology::LinkSpec& link : topology.links) {
    digest = Mix(digest, {static_cast<uint64_t>(link.a), link.port_a,
                          static_cast<uint64_t>(link.b), link.port_b,
                          link.down ? 1u : 0u});
  }
  return digest;
}

}  // namespace ibemu::daemon
