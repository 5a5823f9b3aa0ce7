// Package safetensors reads and writes Hugging Face's format for weights: a JSON header and the bytes of the tensors.
// https://huggingface.co/docs/safetensors
//
// [Load] and [Save] read and write state dicts; [Open] gives a [File], whose tensors are read one by one. Weights in
// several files are described by an index ("model.safetensors.index.json"): [ReadIndex], [SaveSharded];
// serialize.LoadStateDict reads them as it reads single files.
//
// A file is refused for what the format's own reader refuses: a header of more than 100 MB, tensors that overlap or
// leave gaps, sizes that do not fit shapes, bytes behind the last tensor. So no file makes a program allocate more than
// the file has.
package safetensors
