// Package fused holds typed functions of the operators in the namespace gotorch: helpers and fused operators of our
// own, which no layer sees. A fused operator has a body of public operators, so its function may be called whatever
// looks on and wherever its tensors are.
package fused
