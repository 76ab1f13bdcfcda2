// A page in a lesson's frame: only its editor is there, and the frame is as high as what is in it.

/** Tell the page around this one how high it is, if it was asked for as a part of one. */
export function fitFrame() {
  if (!new URLSearchParams(location.search).has("embed")) return;
  document.documentElement.classList.add("embed");
  const told = () => parent.postMessage({ height: Math.ceil(document.body.getBoundingClientRect().height) }, location.origin);
  new ResizeObserver(told).observe(document.body);
}
