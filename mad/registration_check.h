// Which agents Linux lets register, apart from conflicts with others.
#ifndef IBEMU_MAD_REGISTRATION_CHECK_H_
#define IBEMU_MAD_REGISTRATION_CHECK_H_

#include "absl/status/status.h"
#include "mad/agent.h"

namespace ibemu::mad {

// The checks of ib_register_mad_agent() that need nothing but its arguments.
//
// Errors: InvalidArgument, saying the rule.
absl::Status CheckRegistration(const Registration& registration);

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_REGISTRATION_CHECK_H_
