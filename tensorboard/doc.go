// Package tensorboard writes and reads TensorBoard log directories.
//
// [SummaryWriter] has the methods of torch.utils.tensorboard.SummaryWriter and
// writes the same events: same tags, steps, metadata and tensors for equal
// calls. Any TensorBoard shows its files.
//
//	w, err := tensorboard.NewSummaryWriter("runs/first")
//	…
//	w.AddScalar("loss/train", loss, step)
//	w.Close()
//
// [Open] reads the event files below a directory, whoever wrote them, and
// follows files that are still growing ([Log.Poll]). It keeps scalars in memory
// in a compressed columnar form and everything else on disk until it is asked
// for, so that a hundred runs of a hundred thousand points stay light.
//
// Tensors come in as the small interface [Array]: [FromTensor] makes one from a
// tensor, [Of] from a Go slice, [FromImage] from an image.
//
// # Layers
//
// A file is a sequence of records ([AppendRecord], [RecordReader]): a length and
// a payload, each with a masked CRC-32C. A payload is an [Event] in the protocol
// buffer wire format. Old events carry typed values (simple_value, histo, image,
// audio); new ones carry a tensor and metadata that names the plugin to show it.
// [Migrator] turns the former into the latter, as TensorBoard does when it reads.
package tensorboard
