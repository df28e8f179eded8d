// The rules by which Linux accepts agents, apart from conflicts with others.
#ifndef IBEMU_MAD_REGISTRATION_CHECK_H_
#define IBEMU_MAD_REGISTRATION_CHECK_H_

#include "absl/status/status.h"
#include "mad/agent.h"

namespace ibemu::mad {

// Makes the checks of ib_register_mad_agent() that need only its arguments.
//
// Errors: InvalidArgument, with the rule in the message.
absl::Status CheckRegistration(const Registration& registration);

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_REGISTRATION_CHECK_H_
