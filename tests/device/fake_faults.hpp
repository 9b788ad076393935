// SPDX-License-Identifier: MIT
// Faults of pgtune-fake-worker, as PGTUNE_FAKE says them: separated by ';', each "op|pattern|behaviour" and where it
// matters "|file|gpu":
//   op         hello, build, prepare, trial, round, energy, ceilings, launch, lock,
//              release or list; roles of rooms have their own
//   pattern    text inside the variant's key; for round inside "STAGE ROUND " and the contenders'
//              keys, e.g. "final 3 "; for trace of a pipeline "records" or "events";
//              for energy "idle 0 ", "baseline 1 0 " or a variant's key and the window's index; empty: always
//   file       the fault is active only while this file exists; empty: always
//   gpu        the fault is active only on the GPU of this number
// behaviours:
//   segv          dies by SIGSEGV                exit3      writes to stderr, exits with 3
//   hang          never answers                  slow       answers after 50 ms
//   garbage       answers a line that is no JSON huge       answers a line over the limit
//   killed        dies by SIGKILL                killed_once likewise, and removes the fault's file
//   out_of_memory dies as LLVM does when an allocation fails
//   tell_limit    trial: launch_failed, the reason is the request's launch limit
//   noisy         writes 1 MiB to stderr first   error      answers an environment error
//   context_lost  trial: launch_failed and a lost context; others: an error and a lost context
//   fail          build: compile_failed; trial: launch_failed
//   wrong         trial: wrong_result
//   strict        prepare: a problem without its operation is an error, as it is on a GPU
//   loose_rule    prepare: an operation's null test, in which zeros pass
//   bad_reference prepare: a lost context, by the reference of an operation
//   wrong_version hello: another protocol version
//   no_devices    list: no GPU, with a problem text
//   slow_clock    round: every sample at half the clock, and twice as long
//   slow_clock_once  round: likewise, the first time only
//   slower        round: variants, not the baseline, take a tenth longer
//   capped        round, energy: at the power cap all the time
//   sample_missing, outcome_missing  round: the report lacks the last contender's
//   no_nvml       round: neither temperature nor throttle times
//   suspect       energy: counter and averaged power differ by 20 %
// e.g. PGTUNE_FAKE="build|BM=64,|fail;trial|BM=128,|segv"
#pragma once

#include <string>

namespace pgtune::device::fake {

/// What a request with this key does on the GPU of this number; empty: what it should.
std::string behaviour_of(const std::string& op, const std::string& key, const std::string& gpu);

/// Faults that need no reply, or spoil it.
void misbehave(const std::string& behaviour);

}  // namespace pgtune::device::fake
