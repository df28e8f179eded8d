// Names of link rates, and their parsers.
#ifndef IBEMU_TOPOLOGY_RATE_TEXT_H_
#define IBEMU_TOPOLOGY_RATE_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "topology/topology.h"

namespace ibemu::topology {

// Returns the rate of links whose description has none: 4x HDR, the fastest
// that every tool of Debian 12 can print.
LinkRate DefaultLinkRate();

inline constexpr std::string_view kLinkSpeedNames[] = {
    "sdr", "ddr", "qdr", "fdr10", "fdr", "edr", "hdr", "ndr", "xdr"};

// Parses a width such as "4x", "4X" or "4".  Returns zero if there is no such
// width.
uint8_t ParseLinkWidth(std::string_view text);

// Sets the speeds of `rate` from a name such as "SDR", "FDR10" or "xdr".
// Returns false if there is no such speed.
bool ParseLinkSpeed(std::string_view text, LinkRate& rate);

// Parses a rate such as "4xEDR", as ibnetdiscover prints it.
std::optional<LinkRate> ParseLinkRate(std::string_view text);

// Returns the name that ibnetdiscover prints for a link that trained to the
// best rate of `rate`.
std::string LinkRateName(const LinkRate& rate);

// Returns the widths and speeds that two ends have in common; nullopt if there
// is no common width or no common speed.
std::optional<LinkRate> CommonLinkRate(const LinkRate& a, const LinkRate& b);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_RATE_TEXT_H_
