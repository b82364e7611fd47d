// Tell the server if the window is as narrow as a phone's.
export default function ({ data, setStateValue }) {
  const phone = matchMedia("(max-width: 640px)");
  const tell = () => phone.matches !== data.is_narrow && setStateValue("is_narrow", phone.matches);
  phone.addEventListener("change", tell);
  tell();
  return () => phone.removeEventListener("change", tell);
}
