package onnx

import (
	"container/heap"

	"github.com/gotorch-dev/torch/internal/onnxpb"
)

// ordered are nodes in an order in which each stands behind those whose results it reads. ONNX wants files to be so,
// and most are; ONNX Runtime sorts the nodes of others, and its own converter to float16 puts the casts of inputs at
// the end. Nodes that are in order stay as they are. Of several nodes that could come next the first one of the file
// does (Kahn's algorithm). Nodes that wait for each other stay as they are, which is an error later.
func ordered(nodes []*onnxpb.Node) []*onnxpb.Node {
	made := map[string]int{} // the node that computes a value
	for i, n := range nodes {
		for _, name := range n.Outputs {
			if name != "" {
				made[name] = i
			}
		}
	}
	waits := make([]int, len(nodes))     // for so many nodes
	readers := make([][]int, len(nodes)) // that wait for a node
	inOrder := true
	for i := range nodes {
		reads(nodes[i:i+1], func(name string) {
			if j, ok := made[name]; ok && j != i {
				readers[j] = append(readers[j], i)
				waits[i]++
				inOrder = inOrder && j < i
			}
		})
	}
	if inOrder {
		return nodes
	}
	var next numbers
	for i := range nodes {
		if waits[i] == 0 {
			next = append(next, i) // in order, and so a heap
		}
	}
	out := make([]*onnxpb.Node, 0, len(nodes))
	for len(next) > 0 {
		i := heap.Pop(&next).(int)
		out = append(out, nodes[i])
		for _, j := range readers[i] {
			if waits[j]--; waits[j] == 0 {
				heap.Push(&next, j)
			}
		}
	}
	if len(out) < len(nodes) {
		return nodes
	}
	return out
}

// numbers is a heap with the smallest one on top.
type numbers []int

func (l numbers) Len() int           { return len(l) }
func (l numbers) Less(i, j int) bool { return l[i] < l[j] }
func (l numbers) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *numbers) Push(x any)        { *l = append(*l, x.(int)) }
func (l *numbers) Pop() any {
	s := *l
	x := s[len(s)-1]
	*l = s[:len(s)-1]
	return x
}
