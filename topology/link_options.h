// LinkOptions: the rate of a cable in a port line: `w=3 s=7` of ibsim, `#
// "leaf-1" lid 2 4xQDR` of ibnetdiscover.
#ifndef IBEMU_TOPOLOGY_LINK_OPTIONS_H_
#define IBEMU_TOPOLOGY_LINK_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "topology/topology.h"

namespace ibemu::topology {

// The options of a port line.  The values are masks as in PortInfo.
struct LinkOptions {
  std::optional<uint64_t> width, speed, speed_ext;

  // Parses "w=3", "s=7" or "e=2".  Returns false if `token` is none of these.
  bool Parse(std::string_view token);

  // Returns `rate` with the options applied.  A speed without an extended speed
  // means that there is no extended speed.
  LinkRate Apply(LinkRate rate) const;
};

// A reader of the rates at the end of port lines.  It keeps the last rate,
// because the next one is often the same.
class LinkRateReader {
 public:
  // Returns the rate of a line.  `options` is the text before the '#',
  // `comment` the text after it.
  //
  // Errors: InvalidArgument, without the place in the file.
  absl::StatusOr<LinkRate> Read(std::string_view options,
                                std::string_view comment, LinkOptions defaults);

 private:
  absl::StatusOr<LinkRate> ReadRate(std::string_view token);

  std::string_view last_text_;
  LinkRate last_;
};

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_LINK_OPTIONS_H_
