// Package recordcmd holds the command lines that make and unpack RecordIO files, im2rec and rec2im, and what inspect
// says about such files.
package recordcmd

import (
	"github.com/spf13/cobra"

	// What cv2.imread opens beside JPEG and PNG, for im2rec without --pass-through.
	_ "image/gif"

	_ "golang.org/x/image/bmp"
	_ "golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"
)

// Commands returns the commands of this package, to be added to the root command.
func Commands() []*cobra.Command {
	return []*cobra.Command{im2recCommand(), rec2imCommand()}
}
