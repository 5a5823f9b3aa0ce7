// Package attention registers scaled dot product attention and multi-head attention, composed of public operators.
package attention
