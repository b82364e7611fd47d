// Draws the charts of a page, and draws them again where its scheme or its width changes.
const scheme = () => document.body.dataset.mdColorScheme || "default";

function draw(holder) {
  const drawn = holder.querySelector(`script[data-scheme="${scheme()}"]`);
  const figure = JSON.parse(drawn.textContent);
  Plotly.react(holder.querySelector(".ground"), figure.data, { ...figure.layout, autosize: true }, { responsive: true, displayModeBar: false });
}

const holders = document.querySelectorAll(".chart");
holders.forEach(draw);
new MutationObserver(() => holders.forEach(draw)).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
