// Refusal: the reason why rdma_cm did not do what it was asked to.
#ifndef IBEMU_RDMA_CM_VALUES_REFUSAL_H_
#define IBEMU_RDMA_CM_VALUES_REFUSAL_H_

namespace ibemu::rdma_cm {

// The reasons that cma.c and ucma.c tell apart.  They are more than
// absl::StatusCode has; cuse/ knows their errnos.
enum class Refusal {
  kNone,             // done
  kInvalid,          // EINVAL: an argument, or the state of the id
  kNoSuchId,         // ENOENT
  kRemoved,          // ENXIO: the id's device is gone
  kNoDevice,         // ENODEV: no adapter has this address
  kNoSuchAddress,    // EADDRNOTAVAIL
  kAddressInUse,     // EADDRINUSE
  kUnreachable,      // ENETUNREACH: no interface is on that network
  kNoSuchPortSpace,  // EPROTONOSUPPORT
  kNotPermitted,     // EACCES: a port below 1024
  kConnected,        // EISCONN
  kTryAgain,         // EAGAIN: no subnet manager is known
  kNoMemory,         // ENOMEM: one of the limits is reached
  kFault,            // EIO: the device failed
};

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_VALUES_REFUSAL_H_
