// SPDX-License-Identifier: Apache-2.0
// The passes between a graph and a plan, each in its own file, in the order in which they run. Planning holds what they
// know and decide. Each pass has a text of its result, which is also the input of the next one.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/plan.h"

namespace penstock {

struct Planning {
  Planning(const Graph& g, const PlanOptions& o);
  Plan plan;
  const Graph& graph = plan.graph;  // place() rewrites it
  const PlanOptions options;
  std::set<ValueRef> outputs;

  // prune()
  std::vector<char> needed;                      // by node
  std::map<ValueRef, std::vector<int>> readers;  // needed nodes that read a value
  // push_down()
  std::vector<int> decoder;  // by node: the decoder whose region it helps to choose; -1: none
  // place()
  std::set<ValueRef> asked;          // moved by the user's .cpu() or .gpu()
  std::vector<std::string> devices;  // by node: as given by the user

  bool runs_on_gpu(int node) const { return graph.node(node).device == "gpu"; }  // valid after place()
  bool read_once(ValueRef v) const;  // by one node, on any device, and not an output of the pipeline
};

// Types and layouts of a node's outputs, as far as they follow from its arguments and inputs. Graph::add() runs it on
// each new node, so that an error shows the line that made the node.
void infer(const Graph& g, Node& node);
// Keeps what outputs need, and readers: they define the length of an epoch.
void prune(Planning& p);
// Per output of a node: whether it is an output of the pipeline, or needed for one.
std::vector<char> read_outputs(const Graph& g, int node);
void find_readers(Planning& p);
// Decides where each node runs, and makes every reference name the device that its reader needs: "gpu" in Node::device,
// or "" for the CPU. Sources run on the CPU, and so does what the GPU cannot run; argument values are needed there.
void place(Planning& p);
// Finds the maps whose window a decoder can apply: it then decodes only what they read.
void push_down(Planning& p);
// Makes steps: merges neighbors into one stage if the result keeps its bytes.
void group(Planning& p);
// Determines the samples of each node, now that all domains are known, and puts steps after the one that makes their
// samples.
void settle_domains(Planning& p);
void order_by_domains(Planning& p);
void find_step_domains(Planning& p);
// Puts the steps of bodies between the parts of their control-flow nodes.
void arrange(Planning& p);
// Determines what bodies read from outside, and the jump targets of their parts.
void find_captures(Planning& p);
// Copies a value to the other device, before the first step that needs it there.
void add_transfers(Planning& p);
// Readers output file names. A step that needs bytes gets a step that reads them; a single decoder reads by itself.
void add_reads(Planning& p);
// If only one stage reads a decoder's pixels, through a map, the decoder makes only what that stage reads of
// them.
void find_decode_regions(Planning& p);
// Determines the step after which a value's memory is free.
void find_last_uses(Planning& p);
// Determines where a value may be changed in place, and which values bodies that do so receive.
void find_reuse(Planning& p);

std::string traced_text(const Graph& g);  // before infer()
std::string inferred_text(const Graph& g);
std::string pruned_text(const Planning& p);
std::string pushed_down_text(const Planning& p);
std::string last_uses_text(const Planning& p);

}  // namespace penstock
