// t-SNE (van der Maaten and Hinton, "Visualizing data using t-SNE", 2008), exact:
// every point pulls and pushes every other one. Equal points give equal pictures,
// since the start is made of the first coordinates and not of random numbers.
export const most = 1500; // points; the time of a step grows with their square

export class TSNE {
  constructor(points, dims, perplexity = 30) {
    const n = points.length;
    this.n = n;
    this.dims = dims;
    this.step = 0;
    this.perplexity = Math.max(1, Math.min(perplexity, (n - 1) / 3));
    this.p = affinities(points, this.perplexity);
    this.q = new Float32Array(n * n);
    this.y = new Float32Array(n * dims);
    this.speed = new Float32Array(n * dims);
    this.gain = new Float32Array(n * dims).fill(1);
    let wide = 0;
    for (const p of points) for (const v of p) wide = Math.max(wide, Math.abs(v));
    for (let i = 0; i < n; i++) {
      // A little apart even where points are equal: only then do they push each other.
      for (let k = 0; k < dims; k++) this.y[i * dims + k] = 1e-2 * ((points[i][k] ?? 0) / (wide || 1)) + 1e-4 * Math.sin(12.9898 * i + 78.233 * k);
    }
  }

  // next does one step of gradient descent.
  next() {
    const { n, dims, p, q, y, speed, gain } = this;
    let sum = 0;
    for (let i = 0; i < n; i++) {
      for (let j = i + 1; j < n; j++) {
        let s = 1;
        for (let k = 0; k < dims; k++) { const d = y[i * dims + k] - y[j * dims + k]; s += d * d; }
        sum += 2 * (q[i * n + j] = 1 / s);
      }
    }
    // At first all pull harder, which lets clusters form.
    const pull = this.step < 120 ? 6 : 1, keep = this.step < 120 ? 0.5 : 0.8, rate = Math.max(n / 6, 40);
    const force = new Float32Array(n * dims);
    for (let i = 0; i < n; i++) {
      for (let j = i + 1; j < n; j++) {
        const t = q[i * n + j], f = 4 * (pull * p[i * n + j] - t / sum) * t;
        for (let k = 0; k < dims; k++) {
          const d = f * (y[i * dims + k] - y[j * dims + k]);
          force[i * dims + k] += d;
          force[j * dims + k] -= d;
        }
      }
    }
    const mean = new Float64Array(dims);
    for (let i = 0; i < n * dims; i++) {
      gain[i] = Math.max(0.01, force[i] > 0 === speed[i] > 0 ? gain[i] * 0.8 : gain[i] + 0.2);
      speed[i] = keep * speed[i] - rate * gain[i] * force[i];
      y[i] += speed[i];
      mean[i % dims] += y[i] / n;
    }
    for (let i = 0; i < n * dims; i++) y[i] -= mean[i % dims];
    this.step++;
  }
}

// affinities are the joint probabilities that points are neighbours: each looks as
// far as it takes to have the wanted number of them.
function affinities(points, perplexity) {
  const n = points.length, p = new Float32Array(n * n), row = new Float64Array(n), want = Math.log(perplexity);
  for (let i = 0; i < n; i++) {
    let least = Infinity;
    for (let j = 0; j < n; j++) {
      let s = 0;
      for (let k = 0; k < points[i].length; k++) { const d = points[i][k] - points[j][k]; s += d * d; }
      row[j] = s;
      if (j !== i) least = Math.min(least, s);
    }
    let beta = 1, lo = 0, hi = Infinity, sum = 0;
    for (let tries = 0; tries < 60; tries++) {
      sum = 0;
      let moment = 0;
      for (let j = 0; j < n; j++) {
        if (j === i) continue;
        const e = Math.exp(-beta * (row[j] - least)); // the nearest at 1: no underflow of them all
        sum += e;
        moment += e * beta * (row[j] - least);
      }
      const gap = Math.log(sum) + moment / sum - want; // of the entropy
      if (Math.abs(gap) < 1e-4) break;
      if (gap > 0) { lo = beta; beta = hi === Infinity ? beta * 2 : (beta + hi) / 2; }
      else { hi = beta; beta = (beta + lo) / 2; }
    }
    for (let j = 0; j < n; j++) if (j !== i) p[i * n + j] = Math.exp(-beta * (row[j] - least)) / sum;
  }
  for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) p[i * n + j] = p[j * n + i] = Math.max((p[i * n + j] + p[j * n + i]) / (2 * n), 1e-12);
  return p;
}
