// What the report and the photos do in the browser. Clicks are caught on the whole page, since each
// answer replaces the last one and its buttons.
const A4 = { margin_mm: 12, height_px: (297 - 2 * 12) / 25.4 * 96 };

// Smaller by steps until one page holds it; lines grow longer by as much, so few steps are needed.
function fitOnOnePage(report) {
  for (let zoom = 1; zoom >= 0.5; zoom -= 0.025) {
    report.style.setProperty("--zoom", zoom);
    if (report.getBoundingClientRect().height < A4.height_px) return;
  }
}

function printReport(report) {
  const page = document.documentElement;
  const paper = document.createElement("style");
  paper.textContent = `@page { size: A4; margin: ${A4.margin_mm}mm; }`;
  const restore = () => {
    page.classList.remove("printing-report");
    paper.remove();
  };
  // Phones print later than print() returns, and some never say that they have done.
  for (const event of ["afterprint", "pointerdown", "keydown"]) {
    addEventListener(event, restore, { once: true });
  }
  report.querySelector(".report-date").textContent = new Date().toLocaleString(report.lang);
  document.head.append(paper);
  page.classList.add("printing-report");
  fitOnOnePage(report);
  window.print();
}

async function copyReport(report) {
  const text = report.querySelector("textarea");
  const told = report.querySelector(".report-actions [role=status]");
  const isCopied = await copyText(text);
  told.textContent = isCopied ? told.dataset.copied : told.dataset.refused;
  text.hidden = isCopied;
  if (!isCopied) text.select();
}

// The clipboard is closed to a page without TLS and, often, to a page in a frame of another site.
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text.value);
    return true;
  } catch {
    text.hidden = false;
    text.select();
    return document.execCommand("copy");
  }
}

// The photos as they lie on this device: the server's copies would cross a farmer's slow line again.
const chosenFiles = new Map();
const fileKey = (name, size) => `${size} ${name}`;
function rememberFiles(files) {
  for (const file of files || []) {
    const key = fileKey(file.name, file.size);
    if (!chosenFiles.has(key)) chosenFiles.set(key, URL.createObjectURL(file));
  }
}
document.addEventListener("change", (event) => rememberFiles(event.target.files), true);
document.addEventListener("drop", (event) => rememberFiles(event.dataTransfer?.files), true);

function showPhotos(photos) {
  const shown = document.createElement("div");
  shown.className = "chosen-photos";
  for (const photo of photos || []) {
    const image = document.createElement("img");
    image.src = chosenFiles.get(fileKey(photo.orig_name, photo.size)) || photo.url;
    image.alt = photo.orig_name || "";
    shown.append(image);
  }
  return shown.outerHTML;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-report-action]");
  if (!button) return;
  const report = button.closest(".triage-report");
  if (button.dataset.reportAction === "print") printReport(report);
  else copyReport(report);
});

// Phones then open the rear camera at once. Gradio has no setting for it.
document.addEventListener("click", (event) => {
  const button = event.target.closest?.("#camera-button");
  const input = button?.parentElement.querySelector(":scope > input[type=file]");
  if (input) input.setAttribute("capture", "environment");
}, true);

window.showPhotos = showPhotos;
