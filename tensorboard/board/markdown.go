package board

import (
	"bytes"
	"html"
	"regexp"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// maxMarkdown is how much of a text is rendered.
const maxMarkdown = 256 << 10

// markdown leaves raw HTML out (goldmark's default); the policy below would catch
// what slips through all the same.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
		extension.Strikethrough, extension.TaskList, extension.Linkify),
	goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(linkImages{}, 100))),
)

// linkImages turns images into links: a page that shows them would tell a
// stranger's server who reads the log, and when.
type linkImages struct{}

func (linkImages) Transform(doc *ast.Document, _ text.Reader, _ parser.Context) {
	var images []*ast.Image
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if i, ok := n.(*ast.Image); ok && entering {
			images = append(images, i)
		}
		return ast.WalkContinue, nil
	})
	for _, i := range images {
		l := ast.NewLink()
		l.Destination, l.Title = i.Destination, i.Title
		for c := i.FirstChild(); c != nil; c = i.FirstChild() {
			i.RemoveChild(i, c)
			l.AppendChild(l, c)
		}
		if l.FirstChild() == nil {
			l.AppendChild(l, ast.NewString([]byte("image")))
		}
		i.Parent().ReplaceChild(i.Parent(), i, l)
	}
}

var policy = func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code",
		"em", "strong", "del", "table", "thead", "tbody", "tr", "th", "td")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("align").Matching(regexp.MustCompile(`^(left|right|center)$`)).OnElements("th", "td")
	p.AllowAttrs("type").Matching(regexp.MustCompile(`^checkbox$`)).OnElements("input")
	p.AllowAttrs("checked", "disabled").OnElements("input")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.RequireParseableURLs(true)
	p.AllowRelativeURLs(false)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true)
	return p
}()

// renderMarkdown turns Markdown from anyone into HTML that is safe to show.
func renderMarkdown(src string) string {
	cut := ""
	if len(src) > maxMarkdown {
		src = strings.ToValidUTF8(src[:maxMarkdown], "")
		cut = "<p><em>The rest of this text is too long to show.</em></p>"
	}
	var b bytes.Buffer
	if err := markdown.Convert([]byte(src), &b); err != nil {
		return "<pre>" + html.EscapeString(src) + "</pre>" + cut
	}
	return policy.Sanitize(b.String()) + cut
}

// maxCells is how many cells of a table of texts are shown.
const maxCells = 2000

// renderTexts renders the texts of one point: one is shown as it is, a list as a
// column, two or more dimensions as a table (of the last two).
func renderTexts(shape []int64, texts []string) string {
	if len(texts) == 1 {
		return renderMarkdown(texts[0])
	}
	cols := 1
	if len(shape) >= 2 {
		if c := shape[len(shape)-1]; c > 0 && c <= int64(len(texts)) {
			cols = int(c)
		}
	}
	var b strings.Builder
	b.WriteString("<table><tbody>")
	for i, t := range texts {
		if i >= maxCells {
			break
		}
		if i%cols == 0 {
			b.WriteString("<tr>")
		}
		b.WriteString("<td>" + renderMarkdown(t) + "</td>")
		if i%cols == cols-1 || i == len(texts)-1 {
			b.WriteString("</tr>")
		}
	}
	b.WriteString("</tbody></table>")
	if len(texts) > maxCells {
		b.WriteString("<p><em>The rest of this table is too long to show.</em></p>")
	}
	return b.String()
}
