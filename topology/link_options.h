// What a port line says of its cable's rate: `w=3 s=7` of ibsim, `# "leaf-1"
// lid 2 4xQDR` of ibnetdiscover.
#ifndef IBEMU_TOPOLOGY_LINK_OPTIONS_H_
#define IBEMU_TOPOLOGY_LINK_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "topology/topology.h"

namespace ibemu::topology {

// Masks as in PortInfo.
struct LinkOptions {
  std::optional<uint64_t> width, speed, speed_ext;

  // "w=3", "s=7" or "e=2".  False: it is none of these.
  bool Parse(std::string_view token);

  // `rate` where no option says otherwise; a speed without an extended one
  // means that there is none.
  LinkRate Apply(LinkRate rate) const;
};

// Reads the end of port lines; keeps the last rate, as the next is often the
// same.
class LinkRateReader {
 public:
  // `options` is what stands before the '#' of a line, `comment` what stands
  // behind it.
  //
  // Errors: InvalidArgument, without a place.
  absl::StatusOr<LinkRate> Read(std::string_view options,
                                std::string_view comment, LinkOptions defaults);

 private:
  absl::StatusOr<LinkRate> ReadRate(std::string_view token);

  std::string_view last_text_;
  LinkRate last_;
};

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_LINK_OPTIONS_H_
