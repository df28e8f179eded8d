// The set-up of one end of a connection: its private data and its queue pair,
// as both directions have them.
#ifndef IBEMU_IPOIB_CONNECTED_RC_CONNECTION_H_
#define IBEMU_IPOIB_CONNECTED_RC_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/random.h"
#include "cm/cm_id.h"
#include "verbs/provider.h"

namespace ibemu::ipoib {

// The times that a packet is sent again: after no answer, and after one that
// the receiver is not ready (7 would be without an end).
constexpr uint8_t kRetries = 7, kRnrRetries = 6;

// Returns the PSN with which a peer is to begin.
uint32_t FirstPsn(Random& random);

// Returns the private data of an interface whose datagrams have that queue
// pair.
std::vector<std::byte> EncodeConnectionData(uint32_t qpn);

// Returns how long a message may be that the sender of these private data
// takes.
//
// Errors: InvalidArgument, so short that no packet fits.
absl::StatusOr<size_t> LongestMessage(std::span<const std::byte> private_data);

// Returns the queue pair of the sender's datagrams, of any private data.
uint32_t PeerQpn(std::span<const std::byte> private_data);

// Makes a queue pair ready to send and to receive, as its connection has it.
// `receive_psn`: the starting PSN of the own REQ or REP.
//
// Errors: those of both.
absl::Status BringUp(const cm::CmId& id, uint32_t receive_psn, verbs::Qp& qp);

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_CONNECTED_RC_CONNECTION_H_
