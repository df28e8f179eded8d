// What finds reasons in a lab, and answers who asks for them.
#ifndef IBEMU_TESTS_DAEMON_WHY_LAB_DIAGNOSIS_H_
#define IBEMU_TESTS_DAEMON_WHY_LAB_DIAGNOSIS_H_

#include <optional>

#include "control/method_table.h"
#include "daemon/adapters/fabric_adapters.h"
#include "daemon/adapters/host_table.h"
#include "daemon/why/diagnosis.h"
#include "daemon/why/link_outages.h"
#include "daemon/why/mad_history.h"
#include "daemon/why/why_methods.h"
#include "nlohmann/json.hpp"
#include "testing/lab.h"

namespace ibemu::daemon {

// A LabDiagnosis is that of a lab in which each fault is called "loss-1".
struct LabDiagnosis {
  explicit LabDiagnosis(testing::Lab& lab)
      : outages(lab.timers, lab.fabric),
        diagnosis(
            lab.fabric, outages, [](uint32_t) { return "loss-1"; },
            lab.timers.Now()) {}

  const LinkOutages outages;
  const Diagnosis diagnosis;
};

// A LabWhy answers queue_pair.why for a lab.
struct LabWhy : LabDiagnosis {
  LabWhy(testing::Lab& lab, control::MethodTable& dispatcher)
      : LabDiagnosis(lab), adapters(lab.fabric), hosts(lab.timers, adapters) {
    mads.emplace(lab.timers, lab.fabric, diagnosis, hosts);
    calls.emplace(lab.timers, files);
    methods.emplace(lab.timers, lab.fabric, diagnosis, *mads, *calls,
                    [this](const auto&, uint64_t) { return acted; });
    methods->AddTo(dispatcher);
  }

  nlohmann::json acted = nlohmann::json::array();  // what faults have done
  FabricAdapters adapters;
  std::optional<MadHistory> mads;  // outlives the hosts, and asks for them
  HostTable hosts;
  cuse::UverbsFiles files;
  std::optional<RefusedCalls> calls;
  std::optional<WhyMethods> methods;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_TESTS_DAEMON_WHY_LAB_DIAGNOSIS_H_
