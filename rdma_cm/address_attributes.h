// The attributes of address handles, from records of subnet administration.
#ifndef IBEMU_RDMA_CM_ADDRESS_ATTRIBUTES_H_
#define IBEMU_RDMA_CM_ADDRESS_ATTRIBUTES_H_

#include "mad/wire/sa_paths.h"
#include "mad/wire/sa_services.h"
#include "rdma_cm/host/local_port.h"
#include "verbs/qp_attributes.h"

namespace ibemu::rdma_cm {

// Returns the way along `path` from `port`: ib_init_ah_attr_from_path().
verbs::AddressAttributes AddressOf(const LocalPort& port,
                                   const mad::PathRecord& path);

// Returns the way to a multicast group: ib_init_ah_from_mcmember().
verbs::AddressAttributes AddressOf(const LocalPort& port,
                                   const mad::McMemberRecord& group);

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_ADDRESS_ATTRIBUTES_H_
