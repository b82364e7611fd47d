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

export default function ({ parentElement }) {
  const button = parentElement.querySelector("button");
  const label = button.querySelector("span");
  button.onclick = async () => {
    label.textContent = (await copy(location.href)) ? "Link copied" : "Copy it from the address bar";
    setTimeout(() => { label.textContent = "Copy link"; }, SHOWN_FOR);
  };
}
