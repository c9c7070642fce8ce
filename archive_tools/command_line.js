(coverage, sigma) => {
  // Writes the threshold as command_line.threshold does; a test compares both.
  const command = document.querySelector("#command-line .command-line[data-facts]");
  if (!command) return;
  const facts = JSON.parse(command.dataset.facts);
  const shown = { auto: coverage, sigma }[facts.filter];
  const threshold = (Math.round(shown / facts.step) * facts.step) / facts.perScore;
  command.querySelector(".threshold").textContent =
    threshold === facts.default ? "" : ` ${facts.option} ${threshold}`;
}
