// Package pointwise holds the operators that work element by element.
package pointwise
