// SPDX-License-Identifier: Apache-2.0
// The passes between a graph and a plan, each in a file of its own, in the order in which they run. What they know and
// decide lies in Planning; each has a text of its result, which is the text before the next one.
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
  std::vector<int> decoder;  // by node: whose region it helps to choose, -1: none's
  // place()
  std::set<ValueRef> asked;          // moved by the user's .cpu() or .gpu()
  std::vector<std::string> devices;  // by node: as the user gave them

  bool runs_on_gpu(int node) const { return graph.node(node).device == "gpu"; }  // behind place()
  bool read_once(ValueRef v) const;  // by one node, wherever that wants it, and no output of the pipeline
};

// Types and layouts of a node's outputs, as far as they follow from its arguments and inputs. Graph::add() runs it on
// each node as it comes, so that an error shows the line that made the node.
void infer(const Graph& g, Node& node);
// Keeps what outputs need, and readers: they are what an epoch is counted by.
void prune(Planning& p);
// By output of a node: whether it is one of the pipeline's, or read on the way to one.
std::vector<char> read_outputs(const Graph& g, int node);
void find_readers(Planning& p);
// Says where each node runs and makes every reference name the device that its reader wants: "gpu" in Node::device, or
// "" for the CPU. Sources run on the CPU, and so does what the GPU cannot run; values of arguments are wanted there.
void place(Planning& p);
// Finds the maps whose window may be handed to a decoder: it then decodes just what they read.
void push_down(Planning& p);
// Makes steps: neighbors become one stage where the result keeps its bytes.
void group(Planning& p);
// Says whose samples each node works on, now that all of it is known, and puts steps behind the one that makes their
// samples.
void settle_domains(Planning& p);
void order_by_domains(Planning& p);
void find_step_domains(Planning& p);
// Puts the steps of bodies between the parts of their nodes of control flow.
void arrange(Planning& p);
// Says what bodies read from outside, and where their parts jump to.
void find_captures(Planning& p);
// Copies a value to the other device, in front of the first step that wants it there.
void add_transfers(Planning& p);
// Readers hand out names of files: who wants bytes gets a step that reads them, a single decoder reads for itself.
void add_reads(Planning& p);
// Where one stage alone reads a decoder's pixels, through a map: the decoder then makes just what that stage reads of
// them.
void find_decode_regions(Planning& p);
// Says after which step a value's memory is free.
void find_last_uses(Planning& p);
// Says where a value may be changed in place, and what bodies that do so are handed.
void find_reuse(Planning& p);

std::string traced_text(const Graph& g);  // before infer()
std::string inferred_text(const Graph& g);
std::string pruned_text(const Planning& p);
std::string pushed_down_text(const Planning& p);
std::string last_uses_text(const Planning& p);

}  // namespace penstock
