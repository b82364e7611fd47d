// What Streamlit 1.67 leaves to the app: a second format for charts, lists in the menu, one step of history a
// page, scrolling to the top, charts that follow theme and width, and the way back after a lost connection. Each
// was tried without this file.
const MARK = "data-tiescope-png";
// A curve between points, and a picture, in plotly's box of 1000 by 1000.
const ICONS = {
  svg: "M80 680h160v160H80zM760 680h160v160H760zM420 160h160v160H420z"
    + "M190 660C190 420 260 300 400 230v75C300 370 250 470 250 660zM810 660C810 420 740 300 600 230v75c100 65 150 165 150 355z",
  png: "M80 160h840v680H80zM160 240v440l220-240 150 160 110-110 200 200V240zM690 300a60 60 0 1 1 0 120 60 60 0 1 1 0-120z",
};

function draw(button, icon) {
  const path = button.querySelector("path");
  path.setAttribute("d", ICONS[icon]);
  path.setAttribute("fill-rule", "evenodd");
  path.removeAttribute("transform");
}

function addPng(camera) {
  const bar = camera.parentElement;
  if (bar.querySelector(`[${MARK}]`)) return;
  camera.setAttribute("data-title", "Save as SVG");
  const png = camera.cloneNode(true);
  draw(camera, "svg");
  draw(png, "png");
  png.setAttribute(MARK, "");
  png.setAttribute("data-title", "Save as PNG");
  png.addEventListener("click", (event) => {
    event.preventDefault();
    const context = camera.closest(".js-plotly-plot")._context;
    const usual = context.toImageButtonOptions;
    context.toImageButtonOptions = { ...usual, format: "png", scale: 3 };
    camera.click();
    context.toImageButtonOptions = usual;
  });
  bar.append(png);
}

// The menu is a ul with divs inside, which is not a valid list: make each group a list.
function mendMenu() {
  document.querySelectorAll("[data-testid=stSidebarNavItems], [data-testid=stSidebarNavItems] > li")
    .forEach((part) => part.setAttribute("role", "none"));
  document.querySelectorAll("[data-testid=stSidebarNavItems] > div").forEach((group) => {
    group.setAttribute("role", "list");
    group.setAttribute("aria-label", group.querySelector("p")?.textContent ?? "Pages");
  });
}
// Formulas and texts wider than the page scroll with the keyboard, too.
function reachWide() {
  document.querySelectorAll(".katex-display, [data-testid=stMain] pre").forEach((wide) => {
    if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
    else wide.removeAttribute("tabindex");
  });
}

function look() {
  mendMenu();
  reachWide();
  document
    .querySelectorAll(`.modebar-btn[data-title^="Download plot"]`)
    .forEach((camera) => camera.closest(".js-plotly-plot") && addPng(camera));
}

// Streamlit adds a history entry per click, and clears the query of the old page before a page switch. Here,
// steps within a page replace each other, and a clearing right before a page switch is dropped. Going back to
// another page loads it from its address, with the board of now if the address names none. While a new page is
// drawn, looks.css hides what is left of the page before.
function keepHistoryTrue() {
  if (window.tiescopeHistory) return;
  window.tiescopeHistory = true;
  const push = history.pushState.bind(history);
  const boardOf = (url) => url.searchParams.get("data");
  const app = document.querySelector("[data-testid=stApp]");
  const endSwitch = () => app.dataset.testScriptState === "notRunning" && document.body.classList.remove("new-page");
  let waiting, leaving = false, page = location.pathname, board = boardOf(new URL(location.href));
  history.pushState = (state, unused, url) => {
    clearTimeout(waiting);
    if (leaving) return;
    const address = new URL(url, location.href);
    if (address.pathname === location.pathname) {
      board = boardOf(address);
      waiting = setTimeout(() => history.replaceState(state, unused, url), address.search ? 0 : 200);
    } else {
      push(state, unused, url);
      page = location.pathname;
      document.body.classList.add("new-page");
      setTimeout(endSwitch, 200);  // a fast run has ended before
      document.querySelector("[data-testid=stMain]")?.scrollTo(0, 0);
    }
  };
  window.addEventListener("popstate", () => {
    clearTimeout(waiting);
    if (location.pathname !== page) {
      leaving = true;
      const address = new URL(location.href);
      if (board && !boardOf(address)) address.searchParams.set("data", board);
      history.replaceState(history.state, "", address);
      location.reload();
    }
    page = location.pathname;
  });
  new MutationObserver(endSwitch).observe(app, { attributeFilter: ["data-test-script-state"] });
}

// Sign-in ends at the start page: return to the requested page.
function comeBack() {
  const wanted = sessionStorage.getItem("tiescope-wanted");
  sessionStorage.removeItem("tiescope-wanted");
  if (wanted && !location.search && wanted !== location.pathname) location.replace(wanted);
}

// A new theme does not rerun the page, so charts would keep their colours: tell the server once.
let drawnIn;

function followTheme(scheme, ask) {
  const app = document.querySelector("[data-testid=stApp]");
  const compare = () => {
    const now = getComputedStyle(app).colorScheme;
    if (now === drawnIn) return;
    drawnIn = now;
    ask(now);
  };
  drawnIn ??= scheme;
  compare();
  const watch = new MutationObserver(compare);
  watch.observe(app, { attributeFilter: ["class"] });
  return watch;
}

function followWidth(isNarrow, tell) {
  const phone = matchMedia("(max-width: 640px)");
  const compare = () => phone.matches !== isNarrow && tell(phone.matches);
  phone.addEventListener("change", compare);
  compare();
  return () => phone.removeEventListener("change", compare);
}

// After a gap in the connection the server may have a new session, which knows nothing of the page. A rerun has
// it begin from the address. Until that is done, links load their page anew, because Streamlit's own switch of
// pages clears the query.
let isStale = false;

function followConnection(ask) {
  const app = document.querySelector("[data-testid=stApp]");
  const isConnected = () => app.dataset.testConnectionState === "CONNECTED";
  let wasConnected = isConnected(), wasRunning = false;
  const load = (event) => {
    const link = event.target.closest("a[href]");
    if (!isStale || link?.origin !== location.origin || link.pathname === location.pathname) return;
    event.preventDefault();
    event.stopPropagation();
    location.assign(link.pathname + (link.search || location.search));
  };
  const watch = new MutationObserver(() => {
    const isRunning = app.dataset.testScriptState === "running";
    if (!isConnected()) isStale = true;
    else if (!wasConnected) ask();
    else if (wasRunning && !isRunning) isStale = false;
    [wasConnected, wasRunning] = [isConnected(), isRunning];
  });
  watch.observe(app, { attributeFilter: ["data-test-connection-state", "data-test-script-state"] });
  document.addEventListener("click", load, true);
  return () => {
    watch.disconnect();
    document.removeEventListener("click", load, true);
  };
}

export default function ({ data, setStateValue, setTriggerValue }) {
  comeBack();
  keepHistoryTrue();
  const theme = followTheme(data.scheme, (scheme) => setTriggerValue("scheme", scheme));
  const leaveWidth = followWidth(data.is_narrow, (isNarrow) => setStateValue("is_narrow", isNarrow));
  const leaveConnection = followConnection(() => setTriggerValue("connection", true));
  let waiting = false;
  const watch = new MutationObserver(() => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; look(); });
  });
  watch.observe(document.body, { childList: true, subtree: true });
  window.addEventListener("resize", look);
  document.fonts.addEventListener("loadingdone", look);
  look();
  return () => {
    watch.disconnect();
    theme.disconnect();
    leaveWidth();
    leaveConnection();
    window.removeEventListener("resize", look);
    document.fonts.removeEventListener("loadingdone", look);
  };
}
