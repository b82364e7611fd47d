(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const config = {
    displaylogo: false,
    responsive: true,
    modeBarButtons: [["toImage"]],
    toImageButtonOptions: { format: "svg", filename: "tiescope" },
  };
  const draw = () => {
    for (const element of document.querySelectorAll(".chart")) {
      const look = dark.matches ? "dark" : "light";
      const name = element.id.replace("chart-", "");
      const figure = JSON.parse(document.getElementById(`${look}-${name}`).textContent);
      Plotly.react(element, figure.data, figure.layout, config);
    }
  };
  dark.addEventListener("change", draw);
  draw();
})();
