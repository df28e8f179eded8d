// The addresses of datagrams, made of what subnet administration says.
#ifndef IBEMU_IPOIB_ADDRESS_ATTRIBUTES_H_
#define IBEMU_IPOIB_ADDRESS_ATTRIBUTES_H_

#include "mad/wire/sa_paths.h"
#include "mad/wire/sa_services.h"
#include "verbs/provider.h"
#include "wire/types.h"

namespace ibemu::ipoib {

verbs::GidBytes BytesOf(const wire::Gid& gid);

// Return the address of what is sent from `port` by a path, or to a group.
verbs::AddressAttributes AddressBy(const mad::PathRecord& path, int port);
verbs::AddressAttributes AddressOf(const mad::McMemberRecord& group, int port);

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_ADDRESS_ATTRIBUTES_H_
