// Package board serves a web page that shows TensorBoard log directories.
//
// [New] makes an [http.Handler]; everything the page needs is inside the binary
// and nothing is fetched from elsewhere.
//
//	s, err := board.New("runs", board.Options{})
//	…
//	http.ListenAndServe("127.0.0.1:6006", s)
//
// # Safety
//
// Log directories come from programs and people that are not always trusted, and
// any web page may send requests to a local port. So the handler
//
//   - answers only if the Host header is an IP address, "localhost" or a name of
//     [Options.Hosts], which stops DNS rebinding;
//   - refuses requests that another site's page sends (Origin, Sec-Fetch-Site);
//   - knows GET and HEAD only, and never writes to the log directory;
//   - sends a Content-Security-Policy that allows its own script and style files
//     and nothing inline;
//   - renders Markdown without raw HTML and cleans the result; everything else
//     reaches the page as text;
//   - serves a logged image or sound only as the type its bytes have, never as
//     something that a browser would run;
//   - tells no path of the file system, neither in answers nor in errors. Details
//     of errors go to [Options.ErrorLog].
//
// # API
//
// All answers are JSON unless noted, compressed when the client accepts gzip. An
// error is {"error": "text"} with a status of 400 or more. Runs are numbered: run
// is such a number, and numbers hold as long as "boot" stays the same. Numbers
// that JSON cannot hold are the strings "NaN", "Infinity" and "-Infinity". Times
// are seconds since 1970. Answers about tags carry an ETag that changes with the
// data, so that polling with If-None-Match costs next to nothing.
//
//	GET /api/state?boot=B&since=V
//	    {boot, version, loading, interval, title, runs: [{id, name, start, purged,
//	     damaged, tags: {plugin: [{tag, n, v, name?, desc?}]}}]}
//	    Only runs that changed after version V; all if B is not the present boot.
//	    interval is in milliseconds; n counts points and v changes with them.
//	GET /api/scalars?tag=T&runs=0,1&points=1000&axis=step&lo=0&hi=99&have=0:500:0
//	    {series: [{run, n, from, purged, i?, step, wall, value}]}
//	    At most so many points of each curve: ends, minima and maxima stay. i has
//	    the points' numbers in the whole curve if some were left out. lo and hi cut
//	    out a part along axis (step, wall, relative). have lists what the client
//	    holds, as run:points:purged; those runs are answered with the newer points
//	    only (from > 0), or not at all if there are none.
//	GET /api/scalars.csv?tag=T&run=R
//	    The whole curve as CSV: wall time, step, value.
//	GET /api/points?plugin=P&tag=T&run=R
//	    {n, v, points: [[step, wall], …]} of images, audio or mesh.
//	GET /api/image?tag=T&run=R&i=I&k=K
//	    File number K of the image at point I: PNG, JPEG, GIF, BMP or WebP.
//	GET /api/audio?tag=T&run=R&i=I&k=K
//	    Likewise for sounds; byte ranges are understood.
//	GET /api/histograms?tag=T&run=R&steps=50&bins=40
//	    {n, lo, hi, points: [{step, wall, counts: […]}]}: counts in equal bins.
//	GET /api/text?tag=T&run=R&limit=20
//	    {n, points: [{step, wall, html}]}, newest first; html is clean.
//	GET /api/pr?tag=T&run=R&steps=50
//	    {n, points: [{step, wall, precision, recall, tp, fp, tn, fn}]}
//	GET /api/mesh?tag=T&run=R&i=I&k=K
//	    {step, wall, batch, total, vertices: […], colors: […]?, faces: […]?}: mesh K
//	    of the batch at point I, flat lists of x, y, z; 0…255; and three vertices a
//	    face. Of a large cloud a part of its points: total is how many there are.
//	GET /api/graph?run=R
//	    {nodes: [{name, op, inputs, device, attrs, shapes}], total}
//	GET /api/hparams
//	    {params: [name], metrics: [tag], sessions: [{run, status, group, values,
//	     metrics}]}, both lists in the order of the names, null where missing.
//	GET /api/custom
//	    {categories: [{title, closed, charts: [{title, tags, margins}]}]}, the
//	    layouts of all runs, with regular expressions replaced by the tags they match.
//	GET /api/embeddings?run=R
//	    {embeddings: [{name, sprite: [width, height]?}]}
//	GET /api/embedding?run=R&i=I
//	    {rows, total, dims, variance: […], points: [[…]], header, labels: [[…]],
//	     index: […]}: principal components, at most ten; index has the rows' numbers
//	     in the file.
//	GET /api/sprite?run=R&i=I
//	    The embedding's picture of all points (PNG or JPEG).
package board
