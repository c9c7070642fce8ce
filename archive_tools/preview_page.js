(coverage, sigma) => {
  // Decides again from the recorded scores, as ScoreScale.passes does; nothing is asked of the server.
  const preview = document.querySelector("#page-preview .page-preview");
  if (!preview) return;
  const facts = JSON.parse(preview.dataset.facts);
  const shown = { auto: coverage, sigma }[facts.filter];
  if (shown === undefined) return;
  const step = Math.round(shown / facts.step);
  const threshold = (step * facts.step) / facts.perScore;
  const isKept = (card) =>
    card.dataset.rejected === "0" &&
    (facts.reachingIsEnough
      ? Number(card.dataset.score) >= threshold
      : Number(card.dataset.score) > threshold);

  const kept = facts.keptAt[Math.min(Math.max(step, 0), facts.keptAt.length - 1)];
  const write = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, facts.groups);
  preview.querySelector(".kept-count").textContent = write(kept);
  preview.querySelector(".dropped-count").textContent = write(facts.total - kept);

  const bars = facts.edges.length - 1;
  let bar = 0;
  while (bar < bars - 1 && facts.edges[bar + 1] <= shown) bar += 1;
  const within = (shown - facts.edges[bar]) / (facts.edges[bar + 1] - facts.edges[bar]);
  const place = Math.min(Math.max((bar + within) / bars, 0), 1);
  preview
    .querySelector(".score-histogram")
    .style.setProperty("--threshold", `${(100 * place).toFixed(3)}%`);

  // The doubtful pages come first in both lists.
  const cards = [...preview.querySelectorAll(".page-card")];
  const byScore = (one, other) => one.dataset.score - other.dataset.score;
  const byDoubt = (one, other) =>
    one.dataset.rejected - other.dataset.rejected || byScore(other, one);
  preview.querySelector('[data-side="kept"]').replaceChildren(...cards.filter(isKept).sort(byScore));
  preview
    .querySelector('[data-side="dropped"]')
    .replaceChildren(...cards.filter((card) => !isKept(card)).sort(byDoubt));
}
