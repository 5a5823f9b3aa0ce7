// Package cli is what the commands of gotorch share: the root command, suggestions for mistyped words, the second name
// of --batch-size, the name that the program was started by, its version, and Ctrl-C.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gotorch-dev/torch"
)

// Interrupted is the exit status of a command that Ctrl-C ended: 128 and the number of SIGINT, as shells have it.
const Interrupted = 130

// ExitCode is an error that has been reported already and only sets the exit status.
type ExitCode int

// Error says what the status is.
func (e ExitCode) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// Root is the root command with the given commands below it.
func Root(commands ...*cobra.Command) *cobra.Command {
	root := &cobra.Command{
		Use:   "gotorch",
		Short: "PyTorch for Go: train, evaluate and inspect models from one binary",
		Long: "gotorch trains, evaluates and inspects neural networks, and carries the tools that stand beside " +
			"them.\n\n" +
			"Start with:\n  gotorch train            a convolutional network on embedded data\n  gotorch train " +
			"--help     everything that training takes",
		Version:                    Version(),
		Args:                       cobra.ArbitraryArgs, // words that are no command are refused with a suggestion
		RunE:                       list,
		SilenceUsage:               true,
		SilenceErrors:              true,
		SuggestionsMinimumDistance: 2,
	}
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(commands...)
	root.SetHelpCommand(&cobra.Command{
		Use: "help [COMMAND]", Short: "Explain a command", Example: "  gotorch help train",
		ValidArgsFunction: func(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, c := range root.Commands() {
				if c.IsAvailableCommand() && strings.HasPrefix(c.Name(), word) {
					names = append(names, c.Name())
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error { return help(root, args) },
	})
	each(root, func(c *cobra.Command) {
		if c.HasSubCommands() && !c.Runnable() {
			c.Args, c.RunE = cobra.ArbitraryArgs, list
		}
		aliases(c)
		explainArgs(c)
		if name := Invocation(); name != "gotorch" { // examples work as typed
			c.Example = strings.ReplaceAll(c.Example, "  gotorch ", "  "+name+" ")
			c.Long = strings.ReplaceAll(c.Long, "\n  gotorch ", "\n  "+name+" ")
		}
	})
	return root
}

// Run runs a command line and returns the status that the process ends with. Errors go to errOut.
func Run(ctx context.Context, root *cobra.Command, args []string, out, errOut io.Writer) int {
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errOut)
	var err error
	// A mistake inside a tensor expression, which no command foresaw, is an error like others.
	if e := torch.Try(func() { err = root.ExecuteContext(ctx) }); e != nil {
		err = e
	}
	var code ExitCode
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		fmt.Fprintln(errOut, "gotorch: interrupted")
		return Interrupted
	}
	fmt.Fprintln(errOut, "gotorch:", err)
	return 1
}

func each(c *cobra.Command, f func(*cobra.Command)) {
	f(c)
	for _, sub := range c.Commands() {
		each(sub, f)
	}
}

// list is what a command does that only has commands below it: it explains them, and refuses a word that is none.
func list(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknown(c, args[0])
	}
	return c.Help()
}

// help explains the command that the words lead to.
func help(c *cobra.Command, words []string) error {
next:
	for _, word := range words {
		for _, sub := range c.Commands() {
			if sub.Name() == word || sub.HasAlias(word) {
				c = sub
				continue next
			}
		}
		return unknown(c, word)
	}
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	return c.Help()
}

// unknown is the error for a word that names no command below c.
func unknown(c *cobra.Command, word string) error {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	if near := Nearest(word, names); near != "" {
		return fmt.Errorf("there is no command %q in %s; did you mean %s?", word, c.CommandPath(), near)
	}
	return fmt.Errorf("there is no command %q in %s: want one of %s", word, c.CommandPath(), strings.Join(names, ", "))
}

// flagError adds a suggestion to "unknown flag".
func flagError(cmd *cobra.Command, err error) error {
	name, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := Nearest(name, names); near != "" {
		return fmt.Errorf("%w; did you mean --%s?", err, near)
	}
	return fmt.Errorf("%w; %s --help lists the flags", err, strings.Replace(cmd.CommandPath(), "gotorch", Invocation(), 1))
}

// explainArgs has a command that was given too few or too many words say what it takes.
func explainArgs(c *cobra.Command) {
	check := c.Args
	if check == nil || c.HasSubCommands() {
		return
	}
	c.Args = func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		if err == nil || !ofCobra(err) {
			return err
		}
		line := strings.Replace(cmd.UseLine(), "gotorch", Invocation(), 1)
		words, _, _ := strings.Cut(strings.TrimPrefix(cmd.Use, cmd.Name()), "[flags]")
		if words = strings.TrimSpace(words); words == "" {
			return fmt.Errorf("%s takes flags only, got %q", cmd.Name(), args[0])
		}
		return fmt.Errorf("%s takes %s, got %s; usage: %s", cmd.Name(), words, counted(len(args)), line)
	}
}

// ofCobra tells cobra's texts about the number of words, which do not say what the words are, from others.
func ofCobra(err error) bool {
	for _, begin := range []string{"accepts ", "requires at least ", "unknown command "} {
		if strings.HasPrefix(err.Error(), begin) {
			return true
		}
	}
	return false
}

// counted says how many words a command was given.
func counted(n int) string {
	switch n {
	case 0:
		return "nothing"
	case 1:
		return "one word"
	}
	return fmt.Sprintf("%d words", n)
}

// aliases lets --batch stand for --batch-size wherever a command has that flag.
func aliases(c *cobra.Command) {
	if c.Flags().Lookup("batch-size") == nil {
		return
	}
	c.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "batch" {
			name = "batch-size"
		}
		return pflag.NormalizedName(name)
	})
}
