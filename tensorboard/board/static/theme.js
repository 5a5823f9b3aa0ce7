// Runs before the first paint, so that a dark page does not flash white.
"use strict";
try {
  const t = JSON.parse(localStorage.getItem("board.theme"));
  if (t === "dark" || t === "light") document.documentElement.dataset.theme = t;
} catch { /* no storage: the system's colours */ }
