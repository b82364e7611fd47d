// Signing in leads to the start: what was asked for waits in this tab.
export default function () {
  sessionStorage.setItem("tiescope-wanted", location.pathname + location.search);
}
