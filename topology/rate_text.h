// Link rates as people write them.
#ifndef IBEMU_TOPOLOGY_RATE_TEXT_H_
#define IBEMU_TOPOLOGY_RATE_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "topology/topology.h"

namespace ibemu::topology {

// Of links that say nothing: 4x HDR, the fastest that every tool of Debian 12
// can print.
LinkRate DefaultLinkRate();

inline constexpr std::string_view kLinkSpeedNames[] = {
    "sdr", "ddr", "qdr", "fdr10", "fdr", "edr", "hdr", "ndr", "xdr"};

// "4x", "4X" or "4"; zero: no such width.
uint8_t ParseLinkWidth(std::string_view text);

// Sets the speeds of `rate`: "SDR", "FDR10", "xdr" ...  False: no such speed.
bool ParseLinkSpeed(std::string_view text, LinkRate& rate);

// "4xEDR" of ibnetdiscover.
std::optional<LinkRate> ParseLinkRate(std::string_view text);

// What ibnetdiscover prints for a link that trained to the best of `rate`.
std::string LinkRateName(const LinkRate& rate);

// What two ends have in common; nullopt: no width or no speed.
std::optional<LinkRate> CommonLinkRate(const LinkRate& a, const LinkRate& b);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_RATE_TEXT_H_
