// Package par is the worker pool on which every CPU kernel runs.
//
// It has one verb, [For]: cut the range [0,n) into blocks of a fixed size and run them on the
// calling goroutine and the pool's workers. [Sweep] is a For that alternates between ascending and
// descending order.
//
// Three promises shape the package:
//
//   - Same bits. Block boundaries depend on n and grain alone, never on the
//     number of threads. A kernel whose blocks do not communicate therefore
//     yields identical results with 1 or 64 threads.
//   - No deadlock. There is one pool and one job at a time. A For that finds
//     the pool taken, because it is nested inside another For or because
//     another goroutine got there first, runs its blocks serially.
//   - No hostage. The caller works too and never waits for a worker that has
//     not started: on a busy machine the worst case is the serial time plus the
//     block that a worker has in hand.
//
// Each thread begins with its own part of the range, the same part in every loop of the same size,
// and finds there what an earlier loop has left in its cache. A thread that is done with its part
// helps the others from the far end of their parts.
//
// Workers spin for a short while after a job and then park: handing work to a
// spinning worker costs a fraction of a microsecond, waking a parked one about
// a hundred. Because of that, blocks should be worth at least a few
// microseconds; and because the garbage collector cannot interrupt assembly,
// they should call it in pieces of at most 100 µs.
package par
