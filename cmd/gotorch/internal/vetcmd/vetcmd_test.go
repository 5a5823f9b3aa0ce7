package vetcmd

import "testing"

// A package with a private layer must be reported, and one whose private layer has a tag must pass.
func TestVet(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	for dir, bad := range map[string]bool{"private": true, "tagged": false} {
		if err := run(t.Context(), []string{"./testdata/" + dir}); (err != nil) != bad {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
