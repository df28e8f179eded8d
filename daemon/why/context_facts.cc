#include "daemon/why/context_facts.h"

#include <cstring>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "verbs/uverbs/context_objects.h"

namespace ibemu::daemon {
namespace {

// The bytes that tell destinations apart.  Without a GRH its fields are what
// happened to be in the program's memory.
std::string BytesOf(verbs::AddressAttributes to) {
  if (to.is_global == 0) to.grh = {};
  std::string bytes(sizeof to, '\0');
  std::memcpy(bytes.data(), &to, sizeof to);
  return bytes;
}

}  // namespace

ContextFacts FactsOf(const cuse::UverbsFile& file) {
  const verbs::ContextObjects& objects = file.context().objects();
  absl::flat_hash_set<std::string> destinations;
  objects.ahs.ForEach([&](uint32_t /*handle*/, const verbs::AhObject& ah) {
    destinations.insert(BytesOf(ah.attributes));
  });
  return {.process = objects.process,
          .address_handles = static_cast<uint32_t>(objects.ahs.size()),
          .destinations = static_cast<uint32_t>(destinations.size()),
          .late_arms = objects.late_arms,
          .others_commands = file.others_commands()};
}

}  // namespace ibemu::daemon
