const SHOWN_FOR = 2000;

// Pages without HTTPS have no clipboard API: copy a selection.
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text).then(() => true, () => false);
  const field = Object.assign(document.createElement("textarea"), { value: text });
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  return isCopied;
}

// Copies a text with the address below it, or the address alone.
export default function ({ parentElement, data }) {
  const button = parentElement.querySelector("button");
  const label = button.querySelector("span");
  label.textContent = data.label;
  button.classList.toggle("plain", Boolean(data.text));
  button.onclick = async () => {
    const place = data.is_local ? " (on this computer only)" : "";
    const text = data.text ? `${data.text}\nTieScope${place}: ${location.href}` : location.href;
    label.textContent = (await copy(text)) ? "Copied" : "The browser does not allow it";
    setTimeout(() => { label.textContent = data.label; }, SHOWN_FOR);
  };
}
