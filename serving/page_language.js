// Puts the page into a language. Part of an event's script: what it defines lives in that alone.
async function applyLanguage(language, words) {
  // Gradio's own settings change the language by the same function. Its file's name holds a hash,
  // so it is looked for among what the page has loaded.
  const loaded = [...document.querySelectorAll("link[href]")].map((link) => link.href)
    .concat(performance.getEntriesByType("resource").map((entry) => entry.name));
  const core = loaded.find((name) => /\/core-[^/]*\.js$/.test(name));
  if (core) (await import(core)).changeLocale(language);
  document.documentElement.lang = language;
  document.title = words.title;
  window.uploadWords = words;
  document.querySelectorAll("[data-testid=upload-text]").forEach((hint) => tellUpload(hint, words));
  watchUploads();
}

// Gradio writes its own words again wherever such a place appears: on a tab that is opened, and when
// the chosen files are taken out.
function watchUploads() {
  if (window.uploadWatch) return;
  window.uploadWatch = new MutationObserver((changes) => {
    if (!changes.some((change) => change.addedNodes.length)) return;
    document.querySelectorAll("[data-testid=upload-text]").forEach((hint) =>
      tellUpload(hint, window.uploadWords));
  });
  window.uploadWatch.observe(document.body, { childList: true, subtree: true });
}

// "Drop File Here - or - Click to Upload". What is told already is left alone: each change of it would
// be seen as one more.
function tellUpload(hint, words) {
  const texts = [];
  const walker = document.createTreeWalker(hint, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) if (walker.currentNode.data.trim()) texts.push(walker.currentNode);
  const or = hint.querySelector(".or");
  if (!or || texts.length < 3 || texts[0].data === words.drop_file) return;
  texts[0].data = words.drop_file;
  texts.at(-1).data = words.click_to_upload;
  or.textContent = `- ${words.or} -`;
  hint.closest("button")?.setAttribute("aria-label", words.upload);
}
