// Remember the requested page in this tab, because sign-in ends at the start page.
export default function () {
  sessionStorage.setItem("tiescope-wanted", location.pathname + location.search);
}
