package rng

import "math"

// The elementary functions behind the float64 samplers.

func log1p(x float64) float64 { return math.Log1p(x) }

func ln(x float64) float64 { return math.Log(x) }

func sincos(x float64) (sin, cos float64) { return math.Sincos(x) }

func exp(x float64) float64 { return math.Exp(x) }

func tan(x float64) float64 { return math.Tan(x) }

func pow(x, y float64) float64 { return math.Pow(x, y) }
