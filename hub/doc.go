// Package hub loads published models and weights, what torch.hub does in Python.
// https://pytorch.org/docs/stable/hub.html
//
// [LoadStateDictFromURL] downloads weights into PyTorch's own cache folder, so that Python's downloads are found and
// Python finds ours, and reads them; [Download] downloads a file. Both check the hash, go on where a connection was
// cut, and leave no file behind where they fail.
//
// A repository is a folder or an address with a manifest, hubconf.json, that names models, the Go functions that make
// them, and their weights. [List] and [Help] read it, [Load] makes a model with its weights. The functions are those
// that programs have registered by [Register]: where torch.hub runs the code of a repository, nothing that comes from
// one is ever run here.
//
//	{
//	  "models": {
//	    "resnet18": {
//	      "entry": "resnet18",
//	      "doc": "Residual network of 18 layers.",
//	      "args": {"num_classes": 1000},
//	      "default": "v1",
//	      "weights": {
//	        "v1": {"file": "resnet18-f37072fd.pth", "sha256": "f37072fd"}
//	      }
//	    }
//	  }
//	}
//
// A file is a path below the repository or an address; sha256 is the hash or the first digits of it.
package hub
