// Package mask works on run-length encoded binary masks, the way COCO stores
// the shape of an object.
//
// The type to know is [RLE]: the size of a mask and the lengths of its runs,
// walking down the columns from the left, background first. Everything that
// detection needs is computed on the runs, without ever building pixels:
// [RLE.Area], [RLE.ToBbox], [Merge] and [IoU]. [Encode] and [Decode] go to and
// from pixels ([Mask]); [FromPolygons], [FromBoxes], [FromCounts] and [Parse]
// make an RLE from the other forms found in COCO files.
//
// [RLE.CountsString] is the compressed text of COCO files, byte for byte what
// pycocotools writes, and [FromPolygons] fills exactly the pixels that it
// fills. What differs from pycocotools: runs that do not cover the mask
// exactly, unknown characters, sizes over [MaxPixels] and coordinates that are
// not finite are errors here instead of undefined results.
//
// All functions are safe for concurrent use as long as nobody changes their
// arguments meanwhile.
package mask
