// The page in the place of one that isn't kept: which lessons are here, a way back, and a button that keeps all.
import { keep, offerAll } from "./offline.js";

const wanted = new URLSearchParams(location.search).get("page");
const again = document.querySelector("#again");
again.hidden = !wanted?.startsWith(new URL("../", import.meta.url).href);
if (!again.hidden) again.querySelector("a").href = wanted;

const { parts, site } = await keep([]).catch(() => ({ parts: [], site: 0 })); // a browser that keeps nothing
for (const link of document.querySelectorAll("#lessons a")) {
  const lesson = link.pathname.split("/").pop().replace(".html", "");
  link.after(parts.includes(lesson) ? ": works offline" : ": needs the network");
}
if (site && !parts.includes("rest")) offerAll(document.querySelector("#offline"), site);
