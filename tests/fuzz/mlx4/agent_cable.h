// AgentCable: a cable whose port answers questions of subnet management.
#ifndef IBEMU_TESTS_FUZZ_MLX4_AGENT_CABLE_H_
#define IBEMU_TESTS_FUZZ_MLX4_AGENT_CABLE_H_

#include <span>

#include "mad/wire/smp.h"
#include "mad/wire/subnet_tables.h"
#include "tests/hca/model/fake_cable.h"

namespace ibemu::hca::model {

// An AgentCable is a FakeCable whose port has an agent (SMA) that says what
// there is.
class AgentCable : public FakeCable {
 public:
  mad::LocalVerdict ProcessLocal(const mad::Arrival& request,
                                 mad::MadBytes& reply) override {
    const mad::LocalVerdict verdict = FakeCable::ProcessLocal(request, reply);
    const auto data = std::span(reply).subspan(mad::kSmpDataOffset);
    switch (wire::Get<&mad::Smp::attr_id>(request.mad)) {
      case mad::AttributeId::kPortInfo:
        wire::Encode(Info(), data);
        break;
      case mad::AttributeId::kGuidInfo: {
        mad::GuidInfo info;
        info.guids[0] = gid0;
        wire::Encode(info, data);
        break;
      }
      case mad::AttributeId::kPKeyTable: {
        mad::PKeyTable table;
        table.p_keys[0] = p_key;
        wire::Encode(table, data);
        break;
      }
      default:
        break;
    }
    arrivals.clear();
    sent.clear();
    return verdict;
  }
};

}  // namespace ibemu::hca::model

#endif  // IBEMU_TESTS_FUZZ_MLX4_AGENT_CABLE_H_
