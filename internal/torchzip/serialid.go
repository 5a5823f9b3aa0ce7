package torchzip

import "encoding/binary"

// serializationID names the record with the fingerprint of a container: twenty
// decimal digits for the names of the records and twenty for their checksums.
//
// PyTorch computes the first half by walking an unordered set of the names, so
// that it depends on how the C++ library of its builds (libstdc++) hashes strings
// and lays out its hash tables. Readers only treat the value as opaque, but with
// it a file can be compared with PyTorch's byte for byte. This file has the two
// algorithms.
const serializationID = ".data/serialization_id"

// hashCombine is the mixing step that PyTorch took from Boost.
func hashCombine(seed, value uint64) uint64 {
	return seed ^ (value + 0x9e3779b9 + seed<<6 + seed>>2)
}

// hashString is MurmurHash64A by Austin Appleby (public domain) with the seed of libstdc++.
func hashString(s string) uint64 {
	const (
		m    = 0xc6a4a7935bd1e995
		seed = 0xc70f6907
	)
	b := []byte(s)
	h := seed ^ uint64(len(b))*m
	for ; len(b) >= 8; b = b[8:] {
		k := binary.LittleEndian.Uint64(b) * m
		k ^= k >> 47
		h = (h ^ k*m) * m
	}
	if len(b) > 0 {
		var k uint64
		for i, c := range b {
			k |= uint64(c) << (8 * i)
		}
		h = (h ^ k) * m
	}
	h = (h ^ h>>47) * m
	return h ^ h>>47
}

// nameSet is a set of strings that iterates in the order of a libstdc++
// unordered_set: all nodes form one list, and a bucket is a run in it.
type nameSet struct {
	index   map[string]bool
	hashes  []uint64       // of node i
	next    []int          // the node after node i, -1 at the end
	head    int            // the first node
	before  map[uint64]int // per bucket in use, the node before its first; headNode for the head
	buckets uint64
}

const headNode = -2

// bucketCounts are the sizes a table grows through when names are added one at a
// time: each is the first prime of the library's list above twice the one before.
var bucketCounts = []uint64{1, 13, 29, 59, 127, 257, 541, 1109, 2357, 5087, 10273, 20753, 42043,
	85229, 172933, 351061, 712697, 1447153, 2938679, 5967347, 12117689, 24607243}

func (s *nameSet) has(name string) bool { return s.index[name] }

// add inserts a name and reports whether it was new.
func (s *nameSet) add(name string) bool {
	if s.index[name] {
		return false
	}
	if s.index == nil {
		s.index, s.buckets, s.head = map[string]bool{}, 1, -1
		s.before = map[uint64]int{}
	}
	s.index[name] = true
	h := hashString(name)
	if n := uint64(len(s.hashes)); n+1 > s.buckets || s.buckets == 1 {
		for _, c := range bucketCounts {
			if c > s.buckets && c >= n+1 {
				s.rehash(c)
				break
			}
		}
	}
	s.hashes = append(s.hashes, h)
	s.next = append(s.next, -1)
	s.link(len(s.hashes)-1, h%s.buckets)
	return true
}

// link puts a node at the start of its bucket, or of the list if the bucket is empty.
func (s *nameSet) link(node int, bucket uint64) {
	if prev, ok := s.before[bucket]; ok {
		if prev == headNode {
			s.next[node], s.head = s.head, node
		} else {
			s.next[node], s.next[prev] = s.next[prev], node
		}
		return
	}
	s.next[node] = s.head
	if s.head >= 0 { // the bucket of the former first node now starts after this node
		s.before[s.hashes[s.head]%s.buckets] = node
	}
	s.head = node
	s.before[bucket] = headNode
}

// rehash moves all nodes, in list order, to a larger table.
func (s *nameSet) rehash(buckets uint64) {
	s.buckets = buckets
	s.before = map[uint64]int{}
	node := s.head
	s.head = -1
	for node >= 0 {
		next := s.next[node]
		b := s.hashes[node] % buckets
		if prev, ok := s.before[b]; ok && prev != headNode {
			s.next[node], s.next[prev] = s.next[prev], node
		} else if ok {
			// The first bucket's nodes follow the list's head pointer itself.
			s.next[node], s.head = s.head, node
		} else {
			s.link(node, b)
		}
		node = next
	}
}

// combinedHash mixes the hashes of the names in the order of the list.
func (s *nameSet) combinedHash() uint64 {
	var seed uint64
	for n := s.head; n >= 0; n = s.next[n] {
		seed = hashCombine(seed, s.hashes[n])
	}
	return seed
}
