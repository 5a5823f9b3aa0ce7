package recordio

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/internal/shared"
)

func TestProtoKnown(t *testing.T) {
	cases := []struct {
		name, hex       string
		kind            ProtoKind
		features, label string
	}{
		{"dense int32", "0a130a0676616c75657312093a070a050001000000120f0a0676616c75657312053a030a0101", ProtoInt32,
			"[0 1 0 0 0]", "[1]"},
		{"sparse int32", "0a150a0676616c756573120b3a090a01011201011a0105120f0a0676616c75657312053a030a0101", ProtoInt32,
			"[0 1 0 0 0]", "[1]"},
		{"sparse zero row", "0a0f0a0676616c75657312053a031a010312160a0676616c756573120c1a0a0a08000000000000f03f",
			ProtoInt32, "[0 0 0]", "[1]"},
		{"float64 zero row", "0a0f0a0676616c75657312051a031a010112160a0676616c756573120c1a0a0a080000000000000000",
			ProtoFloat64, "[0]", "[0]"},
		{"last of three", "0a150a0676616c756573120b3a090a01011201021a010312160a0676616c756573120c1a0a0a08000000000000f03f", ProtoInt32, "[0 0 1]", "[1]"},
	}
	for _, c := range cases {
		raw, _ := hex.DecodeString(c.hex)
		rec, err := ParseProto(raw)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		f, ferr := rec.Features["values"].Dense(100)
		l, lerr := rec.Label["values"].Dense(100)
		if fmt.Sprint(f) != c.features || fmt.Sprint(l) != c.label || ferr != nil || lerr != nil ||
			rec.Features["values"].Kind != c.kind {
			t.Errorf("%s: features %v (%v), label %v (%v)", c.name, f, ferr, l, lerr)
		}
		if got := AppendProto(nil, rec); !bytes.Equal(got, raw) {
			t.Errorf("%s: encoded again\n got %x\nwant %x", c.name, got, raw)
		}
	}
}

func TestProtoRoundTrip(t *testing.T) {
	rec := &ProtoRecord{
		Features: map[string]ProtoValue{
			"a": {Kind: ProtoFloat32, Float32: []float32{1.5, -2}, Keys: []uint64{0, 199}, Shape: []uint64{10, 20}},
			"b": {Kind: ProtoBytes, Bytes: [][]byte{[]byte("x"), {}}, ContentType: "image/jpeg"},
			"c": {Kind: ProtoInt32, Int32: []int32{-1, 1 << 30}},
		},
		Label: map[string]ProtoValue{"values": {Kind: ProtoFloat64, Float64: []float64{3}}},
		UID:   "u", Metadata: "{}", Configuration: "c",
	}
	got, err := ParseProto(AppendProto(nil, rec))
	if err != nil || !reflect.DeepEqual(got, rec) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, rec)
	}
	d, err := got.Features["a"].Dense(200)
	if err != nil || len(d) != 200 || d[0] != 1.5 || d[199] != -2 {
		t.Errorf("Dense: %v, %v", d, err)
	}
	if _, err := got.Features["a"].Dense(199); err == nil {
		t.Error("Dense went over its limit")
	}
	if _, err := got.Features["b"].Dense(10); err == nil {
		t.Error("Dense of bytes succeeded")
	}
}

func TestProtoUnpackedAndMerged(t *testing.T) {
	// values 5 and 6 as single varints, an unknown field 15, then the same value
	// message again: protobuf merges the two.
	raw := "0a14" + "0a0161" + "120f" + "3a09" + "0805" + "0806" + "1801" + "7a0178" + "3a02" + "0807"
	b, _ := hex.DecodeString(raw)
	rec, err := ParseProto(b)
	if err == nil {
		t.Fatalf("3 values for shape [1] accepted: %+v", rec)
	}
	b, _ = hex.DecodeString(strings.Replace(raw, "1801", "1803", 1))
	rec, err = ParseProto(b)
	if err != nil || fmt.Sprint(rec.Features["a"].Int32) != "[5 6 7]" {
		t.Errorf("%+v, %v", rec, err)
	}
}

func TestProtoErrors(t *testing.T) {
	for name, raw := range map[string]string{
		"cut":                     "0a130a0676616c756573",
		"wrong wire type":         "0801",
		"key outside shape":       "0a0f0a01611" + "20a3a080a01011201051a0105",
		"more keys than values":   "0a0d0a0161" + "12083a060a0101120201" + "02",
		"values against shape":    "0a0d0a0161" + "12083a060a0101" + "1a0105",
		"odd float bytes":         "0a0a0a0161" + "120512030a0101",
		"endless varint":          "0a0e0a0161" + "12093a070a05ffffffffff",
		"field number zero":       "0000",
		"overflowing shape":       "0a1d0a0161" + "12183a161a14" + "ffffffffffffffffff01ffffffffffffffffff01",
		"group that never closes": "0b",
	} {
		b, err := hex.DecodeString(raw)
		if err != nil {
			t.Fatal(name, err)
		}
		if rec, err := ParseProto(b); err == nil {
			t.Errorf("%s: accepted as %+v", name, rec)
		}
	}
}

func TestSharedSageMaker(t *testing.T) {
	dir := shared.Path(t, "testdata/recordio/sagemaker")
	files := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		ds, err := OpenProto(path)
		if err != nil {
			return err
		}
		defer ds.Close()
		for i := range ds.Len() {
			rec, err := ds.Get(i)
			if err != nil {
				return err
			}
			raw, _ := ds.Reader().ReadIdx(i)
			if !bytes.Equal(AppendProto(nil, rec), raw) {
				t.Errorf("%s: record %d encoded again differs", path, i)
			}
			if _, err := rec.Features["values"].Dense(1000); err != nil {
				t.Errorf("%s: record %d: %v", path, i, err)
			}
		}
		return nil
	})
	if err != nil || files == 0 {
		t.Errorf("%d files, %v", files, err)
	}
}
