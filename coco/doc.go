// Package coco is the COCO API: it reads annotation files, answers questions
// about them, draws annotations, and evaluates detections with the numbers of
// the COCO benchmark.
//
// The types to know:
//
//   - [COCO], from [Open]: an indexed annotation file. [COCO.AnnIDs],
//     [COCO.CatIDs] and [COCO.ImgIDs] select ids by a [Filter]; [COCO.LoadAnns],
//     [COCO.LoadCats] and [COCO.LoadImgs] return what the ids stand for;
//     [COCO.AnnToMask] and [COCO.AnnToRLE] give shapes; [COCO.LoadRes] reads a
//     results file; [COCO.ShowAnns] draws.
//   - [Eval], from [NewEval]: compares results with the truth.
//   - [CocoDetection] and [CocoCaptions]: datasets of images with their
//     annotations.
//   - package coco/mask: run-length encoded masks.
//
// # Names
//
// Python's pycocotools.coco.COCO and its methods, and what they are here:
//
//	COCO(path)        Open, Read, New
//	getAnnIds         AnnIDs     (one Filter for all of them)
//	getCatIds         CatIDs
//	getImgIds         ImgIDs
//	loadAnns          LoadAnns
//	loadCats          LoadCats
//	loadImgs          LoadImgs
//	loadRes           LoadRes, LoadResReader, LoadResAnns
//	loadNumpyAnnotations  AnnsFromRows
//	annToRLE          AnnToRLE
//	annToMask         AnnToMask
//	showAnns          ShowAnns, Draw
//	info              Info
//	mask.encode       EncodeMask (rows of pixels), mask.Encode
//	mask.decode       DecodeMask (rows of pixels), mask.Decode
//	COCOeval          Eval
//
// There is no GetAnnIDs: Go leaves the "get" out.
//
// # Bad input
//
// A file that is not as it should be gives a [FieldError] that names the
// place: "coco: annotations[12].bbox: want 4 numbers, got 3". Reading
// allocates in proportion to the file, whatever sizes it claims.
//
// # Differences from pycocotools
//
// Ids that belong to nothing are errors; ids given twice are errors; ImgIDs
// returns ascending ids instead of a set's order; a field that is null counts
// as missing. The numbers are the same.
package coco
